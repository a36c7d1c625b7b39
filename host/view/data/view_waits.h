/* Where threads waited, and how long, with a place in the call tree: for the flame graph of the
 * time off the CPU.  A trace has them where stacks were taken at waits (hr run --waits -g).
 *
 * Memory is bounded: waits beyond the bound are counted, and their time. */
#pragma once

#include "host/scan/off_cpu.h"
#include "host/view/data/view_blocks.h"
#include "host/view/data/view_tree.h"

#define VIEW_WAITS_MAX (1u << 18)

struct view_waits { /* all zero at first, but tree and blocks */
    struct view_tree *tree;
    struct view_blocks *blocks; /* whose groups they are in */
    struct off_cpu off;
    struct view_wait {
        uint64_t time, ticks; /* the time since the program's start */
        uint32_t group, node;
    } * all; /* owned */
    uint32_t count;
    uint64_t refused, refused_ticks;
};

void view_waits_free(struct view_waits *waits);

/* For a visitor's waits and record.  0 or -ENOMEM. */
int view_waits_take(struct view_waits *waits, const struct trace_scan *scan,
                    const struct trace_samples *samples);
int view_waits_record(struct view_waits *waits, const struct trace_scan *scan,
                      const struct trace_record *record);

/* After the last one, while the scan's stacks are there.  0 or -ENOMEM. */
int view_waits_finish(struct view_waits *waits, const struct trace_scan *scan);

/* Puts the waits into a group of columns. */
void view_waits_pack(const struct view_waits *waits, struct view_columns *columns);
