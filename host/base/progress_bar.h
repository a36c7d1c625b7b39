/* A bar on a terminal's stderr for longer work on a known number of bytes.
 *
 * Several threads may add to one bar.  Where stderr is not a terminal, adding only reads the clock.
 */
#pragma once

#include "host/base/progress.h"

#define PROGRESS_BAR_AFTER_NS 500000000ull
#define PROGRESS_BAR_EVERY_NS 100000000ull
#define PROGRESS_BAR_TEXT_BYTES 256

struct progress_bar {
    struct progress line;
    uint64_t total;
    uint64_t done; /* atomic, as is next_ns */
    uint64_t next_ns; /* time of the next drawing */
};

void progress_bar_init(struct progress_bar *bar, bool wanted);

/* Restarts the bar for `total` bytes of work. */
void progress_bar_begin(struct progress_bar *bar, uint64_t total);
void progress_bar_add(struct progress_bar *bar, uint64_t bytes);

/* Erases it from the screen. */
void progress_bar_end(struct progress_bar *bar);

/* Returns the bar's text for a terminal of `columns` columns, of which it leaves the last one free.
 */
char *progress_bar_text(char text[PROGRESS_BAR_TEXT_BYTES], uint64_t done, uint64_t total,
                        uint64_t elapsed_ns, unsigned int columns);
