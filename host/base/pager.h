/* Sends long output on a terminal through a pager, as git does: $PAGER, or less if it is installed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define PAGER_NO_TERMINAL 0u

struct pager { /* describes where standard output goes */
    pid_t pid; /* 0: none */
    bool colours;
    unsigned int columns; /* of the terminal, or PAGER_NO_TERMINAL: no limit */
};

/* Inspects standard output.  If it is a terminal and a pager is wanted, starts the pager.  Call it
 * before any output. */
void pager_begin(struct pager *pager, bool wanted);

/* Flushes the output and waits until the pager has ended. */
void pager_end(struct pager *pager);
