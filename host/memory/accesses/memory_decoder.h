/* What a record of an access means: a read or a write, where its data was, for how many accesses it
 * stands.  Never prints. */
#pragma once

#include "host/memory/accesses/memory_table.h"
#include "host/scan/access_source.h"

#define MEMORY_SOURCES 64u /* of Intel's: by the bits that tell where data was */
#define MEMORY_EVENTS_KEPT 16u

struct memory_decoder { /* of accesses; remembers what the last ones meant */
    const struct trace_info *info;
    struct memory_meaning {
        uint32_t events; /* of which this is known; 0: none */
        uint64_t period;
        struct access_source sources[MEMORY_SOURCES];
    } meanings[MEMORY_EVENTS_KEPT];
};

void memory_decoder_init(struct memory_decoder *decoder, const struct trace_info *info);

/* Adds a record to sums, and returns what its source says. */
struct access_source memory_decoder_add(struct memory_decoder *decoder, struct memory_sums *sums,
                                        const struct hr_access *access);
