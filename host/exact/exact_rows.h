/* Counts by address, computed from the plugin's blocks.  Never prints. */
#pragma once

#include "host/exact/exact_called.h"

enum exact_event {
    EXACT_INSTRUCTIONS,
    EXACT_BRANCHES,
    EXACT_TAKEN,
    EXACT_READS, /* instructions that load; a repeated string instruction counts each time */
    EXACT_WRITES,
    EXACT_CALLS, /* arrivals by a call, or by a jump if calls arrive at the address, too */
    EXACT_EVENTS,
};

struct exact_row {
    uint64_t address;
    uint64_t counts[EXACT_EVENTS];
};

struct exact_rows { /* of one thread */
    struct exact_row *all; /* a hash table until exact_rows_read sorts it; owned */
    uint32_t count;
    uint32_t bits;
};

/* Computes the rows of the thread with that table, by ascending address.  Returns 0 or -ENOMEM. */
int exact_rows_read(struct exact_rows *rows, const struct exact_memory *memory,
                    const struct exact_code *code, const struct exact_called *called,
                    uint32_t thread);
void exact_rows_free(struct exact_rows *rows);
