/* Microtome's version, that of the command and of the kernel. */
#ifndef INCLUDE_VERSION_H
#define INCLUDE_VERSION_H

#define VERSION_TEXT "0.1.0"

#endif
