/* The collector's output on stderr: a line per change of a run, and a progress line on a terminal.
 *
 * Names of machines and runs were checked; refused connections cause at most one line a second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/progress.h"
#include "host/collect/stream_run.h"

struct report {
    struct progress progress;
    bool quiet; /* report only errors */
    uint64_t refused; /* count since the last line about a refusal */
    uint64_t refused_ns; /* time of that line */
    uint64_t drawn_ns;
    uint64_t received_bytes; /* of all machines; set by the caller */
    uint64_t drawn_bytes;
    uint32_t complete; /* complete runs */
    uint32_t failed; /* runs that ended otherwise, or with an incomplete trace or files */
};

void stream_report_init(struct report *r, bool quiet, uint64_t now_ns);

void stream_report_listening(struct report *r, const char *where, const char *root, bool any_port,
                             bool in_danger);
void stream_report_opened(struct report *r, const struct stream_run *run, const char *peer);

/* The connection of an incomplete run has ended; `why` is a text for people. */
void stream_report_broken(struct report *r, const struct stream_run *run, const char *why);

/* The run's files cannot be written; run->error says why. */
void stream_report_disk(struct report *r, const struct stream_run *run);
void stream_report_limit(struct report *r, const struct stream_run *run);

/* stream_run_finish has succeeded. */
void stream_report_complete(struct report *r, const struct stream_run *run);

void stream_report_refused(struct report *r, const char *peer, const char *why, uint64_t now_ns);

/* Reports the refusals since the last line about them, and the number of runs. */
void stream_report_end(struct report *r);

/* Draws the progress line if it is time to.  Returns when to draw again; UINT64_MAX: never. */
uint64_t stream_report_draw(struct report *r, uint32_t machines, uint64_t now_ns);
