/* Counts a trace's accesses by what they accessed and from where.  The trace is hostile; tables are
 * bounded.  Never prints. */
#pragma once

#include "host/memory/accesses/memory_accesses.h"
#include "host/memory/accesses/memory_table.h"

/* What an access to a thing from an instruction counts for: `first` is the key, `second` the ip. */
struct memory_counts {
    struct memory_accesses *accesses;
    struct memory_table table;
    uint64_t records;
    uint64_t without; /* records of instructions that accessed nothing */
    bool alone; /* one worker sees all of the trace */
};

/* Counts all accesses.  0 or -errno; memory_counts_free in any case. */
int memory_counts_make(struct memory_counts *counts, struct memory_accesses *accesses);
void memory_counts_free(struct memory_counts *counts);
