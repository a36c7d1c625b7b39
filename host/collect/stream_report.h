/* What the collector says on stderr: a line for what happens to a run, a progress line on a
 * terminal.
 *
 * Names of machines and runs were checked; strangers get at most a line a second.
 */
#ifndef HOST_COLLECT_STREAM_REPORT_H
#define HOST_COLLECT_STREAM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/base/progress.h"
#include "host/collect/stream_run.h"

struct report {
    struct progress progress;
    bool quiet; /* says only what is wrong */
    uint64_t refused; /* since the last line about a refusal */
    uint64_t refused_ns; /* when that was */
    uint64_t drawn_ns;
    uint64_t received_bytes; /* of all machines; the caller counts */
    uint64_t drawn_bytes;
    uint32_t complete; /* runs */
    uint32_t failed; /* that ended otherwise, or with a trace or files that are not whole */
};

void report_init(struct report *r, bool quiet, uint64_t now_ns);

void report_listening(struct report *r, const char *where, const char *root, bool any_port,
                      bool in_danger);
void report_opened(struct report *r, const struct stream_run *run, const char *peer);

/* The connection of a run is over, before it was complete; `why`: how people say it. */
void report_broken(struct report *r, const struct stream_run *run, const char *why);

/* Its files cannot be written, run->error says why. */
void report_disk(struct report *r, const struct stream_run *run);
void report_limit(struct report *r, const struct stream_run *run);

/* stream_run_finish succeeded. */
void report_complete(struct report *r, const struct stream_run *run);

void report_refused(struct report *r, const char *peer, const char *why, uint64_t now_ns);

/* The last refusals that no line spoke of; how many runs there were. */
void report_end(struct report *r);

/* Draws the progress line when it is time to; when it will be again, UINT64_MAX: never. */
uint64_t report_draw(struct report *r, uint32_t machines, uint64_t now_ns);

#endif
