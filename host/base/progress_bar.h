/* A bar on a terminal's stderr for work on a known number of bytes that takes more than a moment.
 *
 * Threads may add to the same bar.  Where stderr is no terminal it costs a look at the clock.
 */
#ifndef HOST_BASE_PROGRESS_BAR_H
#define HOST_BASE_PROGRESS_BAR_H

#include "host/base/progress.h"

#define PROGRESS_BAR_AFTER_NS 500000000ull
#define PROGRESS_BAR_EVERY_NS 100000000ull
#define PROGRESS_BAR_TEXT_BYTES 256

struct progress_bar {
    struct progress line;
    uint64_t total;
    uint64_t done; /* atomic, as the next one */
    uint64_t next_ns; /* when it is drawn again */
};

void progress_bar_init(struct progress_bar *bar, bool wanted);

/* Begins anew: `total` bytes are to be worked on. */
void progress_bar_begin(struct progress_bar *bar, uint64_t total);
void progress_bar_add(struct progress_bar *bar, uint64_t bytes);

/* Takes it from the screen. */
void progress_bar_end(struct progress_bar *bar);

/* What is drawn on a terminal of `columns`, which it leaves the last of. */
char *progress_bar_text(char text[PROGRESS_BAR_TEXT_BYTES], uint64_t done, uint64_t total,
                        uint64_t elapsed_ns, unsigned int columns);

#endif
