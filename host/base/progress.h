/* The line on a terminal's stderr that says how a run is going; silent where there is no terminal.
 *
 * The program may write to the same terminal from other threads: they bracket their writes, and the
 * line is drawn only where the program's output left the cursor at the start of a line.
 */
#ifndef HOST_BASE_PROGRESS_H
#define HOST_BASE_PROGRESS_H

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

/* The same with a text of the caller's, which is one line and fits the terminal. */
void progress_show(struct progress *p, const char *text);

void progress_erase(struct progress *p);

/* Around a write of the program's output to a terminal. */
void progress_output_begin(struct progress *p);
void progress_output_end(struct progress *p, const void *bytes, size_t count);

#endif
