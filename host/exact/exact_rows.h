/* What was executed at each address, put together from the plugin's blocks.  Never prints. */
#ifndef HOST_EXACT_EXACT_ROWS_H
#define HOST_EXACT_EXACT_ROWS_H

#include "host/exact/exact_called.h"

enum exact_event {
    EXACT_INSTRUCTIONS,
    EXACT_BRANCHES,
    EXACT_TAKEN,
    EXACT_READS, /* instructions that load; a repeated string instruction: each time */
    EXACT_WRITES,
    EXACT_CALLS, /* arrivals at an address by a call; where calls arrive, also by a jump */
    EXACT_EVENTS,
};

struct exact_row {
    uint64_t address;
    uint64_t counts[EXACT_EVENTS];
};

struct exact_rows { /* of one thread */
    struct exact_row *all; /* a hash table until exact_rows_read has sorted it; owned */
    uint32_t count;
    uint32_t bits;
};

/* The rows of the thread with that table, by ascending address.  0 or -ENOMEM. */
int exact_rows_read(struct exact_rows *rows, const struct exact_memory *memory,
                    const struct exact_code *code, const struct exact_called *called,
                    uint32_t thread);
void exact_rows_free(struct exact_rows *rows);

#endif
