/* Counts the program's calls that Microtome does not support, and reports them when it ends.
 * Context: the kernel lock's holder. */
#pragma once

#include <stdint.h>

enum refused_why {
    REFUSED_CALL, /* the system call itself: ENOSYS */
    REFUSED_NETWORK, /* sockets */
};

void refused_count(uint64_t number, enum refused_why why);

/* Logs a notice for each, with its count.  Called at the end of the run, before the last of the log
 * is sent. */
void refused_report(void);
