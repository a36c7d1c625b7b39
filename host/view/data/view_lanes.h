/* What happened when, in addition to samples: which thread ran on which CPU, gaps, losses, system
 * calls, marks.
 *
 * Spans are kept whole up to a bound of each kind; beyond it the shortest ones go, and cells say
 * how much of each piece of time a thread ran or how many calls began.  Memory is bounded whatever
 * the trace holds.  Times are ticks since the program's start.
 */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/view/data/view_blocks.h"
#include "host/view/data/view_cells.h"
#include "host/view/data/view_columns.h"

#define VIEW_SPANS_MAX 65536u
#define VIEW_MARKS_MAX 10000u /* further ones are counted only */
#define VIEW_LANES_CPUS_MAX 256u

enum view_lane { VIEW_RUNS, VIEW_GAPS, VIEW_LOST, VIEW_CALLS, VIEW_OUTPUTS, VIEW_LANES };

struct view_span {
    uint64_t first;
    uint64_t last;
    uint64_t
        value; /* run: why it ended; gap: why; lost: samples; call: its number; output: bytes */
    uint32_t group; /* CPU and thread, of view_blocks_group; output: CPU and stream */
};

struct view_spans {
    struct view_span *all; /* owned */
    uint32_t count;
    uint64_t seen; /* also those that are not kept */
    uint64_t least; /* shorter ones are not kept */
    uint64_t value_sum;
};

struct view_lanes_cpu { /* who runs now */
    uint64_t since;
    uint64_t last; /* of the latest change or sample */
    uint64_t end; /* of the latest chunk */
    uint16_t cpu;
    uint32_t tid; /* 0: none */
};

struct view_lanes {
    struct view_spans spans[VIEW_LANES];
    struct view_lanes_cpu cpus[VIEW_LANES_CPUS_MAX];
    uint32_t cpu_count;
    uint64_t *run_cells; /* ticks that each group ran in each cell; owned */
    struct view_cells calls; /* that began, by number */
    unsigned cell_shift;
    json_t *marks; /* [tick, cpu, tid, text]; owned */
    uint64_t mark_count;
    struct view_blocks *groups; /* of the caller */
    uint64_t start;
};

/* 0 or -ENOMEM. */
int view_lanes_init(struct view_lanes *lanes, struct view_blocks *groups);
void view_lanes_free(struct view_lanes *lanes);

/* Takes a run of samples, or a record of a DATA chunk.  0 or -ENOMEM. */
int view_lanes_samples(struct view_lanes *lanes, const struct trace_samples *samples);
int view_lanes_record(struct view_lanes *lanes, const struct hr_chunk_header *chunk,
                      const struct trace_record *record);

/* After the last record: ends what still runs, and puts all into a group of columns. */
void view_lanes_pack(struct view_lanes *lanes, const struct trace_info *info,
                     struct view_columns *columns);
