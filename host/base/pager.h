/* Long output on a terminal goes through a pager, as git's does: $PAGER, or less where it is found.
 */
#ifndef HOST_BASE_PAGER_H
#define HOST_BASE_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

#define PAGER_NO_TERMINAL 0u

struct pager { /* what is known of where standard output goes */
    pid_t pid; /* 0: none */
    bool colours;
    unsigned int columns; /* PAGER_NO_TERMINAL: as many as it takes */
};

/* Looks at standard output, and lets it go through a pager if that is a terminal and one is wanted.
 * Nothing may have been written before.
 */
void pager_begin(struct pager *pager, bool wanted);

/* Sends off what was written and waits until the pager has ended. */
void pager_end(struct pager *pager);

#endif
