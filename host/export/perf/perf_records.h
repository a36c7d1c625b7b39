/* The records of a perf.data file: what happened, in the form of linux/perf_event.h.
 *
 * Written to an output one after the other; the bytes are counted.  Times are nanoseconds since the
 * program's start.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/scan/row_team.h"
#include "host/trace/trace_info.h"
#include "host/unwind/stacks.h"

#define PERF_RECORDS_FRAMES_MAX 1024u /* of one call chain */

struct perf_records {
    struct row_team *team; /* that they are given to; not owned */
    uint64_t bytes; /* so far */
    uint64_t latest_ns; /* of all records */
};

struct perf_place { /* which thread and CPU a record is about, and when */
    uint32_t pid;
    uint32_t tid;
    uint32_t cpu;
    uint64_t ns;
    uint64_t id; /* of the group's first member on that CPU */
};

struct perf_sample {
    struct perf_place place;
    uint64_t ip;
    bool kernel;
    uint32_t members;
    const uint64_t *values; /* of the group's members, since the beginning */
    const struct stacks *stacks; /* NULL: samples have no call chain */
    uint32_t stack;
};

void perf_records_sample(struct perf_records *records, const struct perf_sample *sample);
/* A map of the place's process. */
void perf_records_map(struct perf_records *records, const struct perf_place *place,
                      const struct trace_map *map, const char *path);

/* `exec`: because it runs another program. */
void perf_records_name(struct perf_records *records, const struct perf_place *place,
                       const char *name, bool exec);

/* The place's thread was made by another one, maybe of another process. */
void perf_records_begin(struct perf_records *records, const struct perf_place *place,
                        uint32_t parent_pid, uint32_t parent_tid);
void perf_records_exit(struct perf_records *records, const struct perf_place *place);
void perf_records_lost(struct perf_records *records, const struct perf_place *place,
                       uint64_t count);

/* The place's thread left its CPU to `other` of a process, or came after it. */
void perf_records_switch(struct perf_records *records, const struct perf_place *place,
                         uint32_t other_pid, uint32_t other, bool left, bool preempted);

/* What follows is not earlier than the latest record before the previous call. */
void perf_records_round(struct perf_records *records);
