/* Calls that the program made and that Microtome does not do: counted, and named when it ends.
 * By the kernel lock's holder.
 */
#ifndef GUEST_BASE_REFUSED_H
#define GUEST_BASE_REFUSED_H

#include <stdint.h>

enum refused_why {
    REFUSED_CALL, /* the system call itself: ENOSYS */
    REFUSED_PROCESS, /* fork and the like */
    REFUSED_PROGRAM, /* execve */
    REFUSED_NETWORK, /* sockets */
};

void refused_count(uint64_t number, enum refused_why why);

/* A notice for each, with its count: at the end of the run, before the last of the log goes out. */
void refused_report(void);

#endif
