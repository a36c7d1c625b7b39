/* Everything that the page of a trace shows, gathered in one pass, and more for probes and
 * for memory.  Bounded memory.  Never prints.
 */
#pragma once

#include "host/scan/object_share.h"
#include "host/scan/reader.h"
#include "host/view/data/view_bins.h"
#include "host/view/data/view_blocks.h"
#include "host/view/data/view_calls.h"
#include "host/view/data/view_lanes.h"
#include "host/view/data/view_memory.h"
#include "host/view/data/view_samples.h"
#include "host/view/data/view_spread.h"
#include "host/view/data/view_tree.h"
#include "host/view/data/view_waits.h"

struct view_model {
    struct trace_scan scan;
    struct symbols *symbols;
    struct object_share share;
    struct view_tree tree;
    struct view_blocks blocks;
    struct view_bins bins;
    struct view_lanes lanes;
    struct view_samples samples;
    struct view_waits waits;
    struct view_spread spread;
    struct view_calls calls;
    struct view_memory memory;
    struct view_counts *counts; /* of the walk; owned */
    bool requests; /* there are some */
    uint64_t sample_count; /* that were handed in */
    uint64_t last; /* latest time, ticks since the start */
    int base; /* the event that counts instructions, -1: none */
    uint32_t event_count; /* of what is counted; exact counts come after other records */
    bool exact; /* the emulator counted: there are no samples, and nothing of it has a time */
    bool ready;
    bool scanned; /* the scan is open */
};

/* The parts of the page's data; each is one group of columns. */
enum view_part {
    VIEW_FACTS,
    VIEW_BINS,
    VIEW_PROFILE,
    VIEW_LANE_SPANS,
    VIEW_CALL_LIST,
    VIEW_MEMORY_MAPS,
    VIEW_SAMPLE_LIST,
    VIEW_PARTS
};

extern const char *const view_part_names[VIEW_PARTS];

/* Reads the trace, or what is selected of it; the reader outlives the model.  0 or -errno as
 * reader_open; view_model_free in any case. */
int view_model_read(struct view_model *model, struct reader *reader);
void view_model_free(struct view_model *model);

/* One part as bytes of the caller's.  0 or -ENOMEM.  The facts take `facts`, an object to add to,
 * over. */
int view_model_pack(struct view_model *model, enum view_part part, json_t *facts, uint8_t **bytes,
                    size_t *count);

/* The least width of a bin that makes sense, in ticks. */
uint64_t view_model_finest(const struct view_model *model);
