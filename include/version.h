/* Microtome's version, shared by the command and the kernel. */
#ifndef INCLUDE_VERSION_H
#define INCLUDE_VERSION_H

#define VERSION_TEXT "0.1.0"

#endif
