/* Microtome's version, shared by the command and the kernel. */
#pragma once

#define VERSION_TEXT "0.1.0"
