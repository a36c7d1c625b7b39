/* signalfd.  By the kernel lock's holder. */
#ifndef GUEST_FILE_SIGNALFD_H
#define GUEST_FILE_SIGNALFD_H

#include <stdint.h>

/* A signal was sent, to whomever: files of it may be ready. */
void signalfd_sent(uint32_t signal);

#endif
