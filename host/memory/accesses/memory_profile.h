/* Counts of accesses as rows for people: by object, function or source line.  Never prints. */
#pragma once

#include "host/memory/accesses/memory_counts.h"
#include "host/symbols/symbols_names.h"

enum memory_profile_by { MEMORY_PROFILE_OBJECTS, MEMORY_PROFILE_FUNCTIONS, MEMORY_PROFILE_LINES };

struct memory_profile_row {
    const char *name; /* what the row is about; raw */
    const char *other; /* the function that accessed the object most, or the object that the
                          function accessed most; raw */
    uint64_t other_share; /* of the row's cost, in 1/1000 */
    struct memory_sums sums;
};

struct memory_profile {
    struct memory_profile_row *all; /* those that cost most first; owned */
    size_t count;
    struct memory_sums total;
    struct symbols_names names; /* the texts of rows */
};

/* 0 or -ENOMEM; memory_profile_free in any case. */
int memory_profile_make(struct memory_profile *rows, const struct memory_counts *counts,
                        enum memory_profile_by by);
void memory_profile_free(struct memory_profile *rows);

/* The name of the code at a sample's ip, as the rows have it. */
const char *memory_profile_code(struct symbols_names *names, struct symbols *symbols, uint64_t ip,
                                bool line);
