/* A progress line on a terminal's stderr during a run; silent if stderr is not a terminal.
 *
 * The program may write to that terminal from other threads.  They bracket their writes, and the
 * line is drawn only if the program's output left the cursor at the start of a line.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    pthread_mutex_t lock;
    bool enabled;
    bool drawn;
    bool mid_line; /* the program's last output did not end a line */
    uint64_t start_ns;
};

void progress_init(struct progress *p, bool wanted, uint64_t now_ns);

/* Draws the line; skips it while an output thread holds the terminal. */
void progress_draw(struct progress *p, uint64_t now_ns, uint64_t samples, uint64_t lost,
                   uint64_t bytes);

/* As progress_draw, with the caller's text, which must be one line that fits the terminal. */
void progress_show(struct progress *p, const char *text);

void progress_erase(struct progress *p);

/* Bracket a write of the program's output to a terminal. */
void progress_output_begin(struct progress *p);
void progress_output_end(struct progress *p, const void *bytes, size_t count);
