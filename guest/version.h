/* The kernel's version, as written to traces and shown by uname. */
#ifndef GUEST_VERSION_H
#define GUEST_VERSION_H

#define VERSION_TEXT "0.1.0"

#endif
