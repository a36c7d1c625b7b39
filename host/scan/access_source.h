/* Where the data of an access was: what a processor's code for it means.
 *
 * Intel SDM volume 3B, "Load Latency Performance Monitoring Facility" (table "Data Source Encoding
 * for Load Latency Record") and "Precise Store Facility"; from Nehalem on.  AMD:
 * lib/pmu/ibs_sources.h.
 */
#pragma once

#include <stdbool.h>

#include "host/trace/trace_info.h"
#include "lib/trace/trace_accesses.h"

enum access_level { /* the nearest place that had the data */
                    ACCESS_LEVEL_UNKNOWN,
                    ACCESS_LEVEL_L1,
                    ACCESS_LEVEL_BUFFER, /* a line that is on its way to L1 already */
                    ACCESS_LEVEL_L2,
                    ACCESS_LEVEL_LLC,
                    ACCESS_LEVEL_BEYOND_L1, /* a store or fetch that missed L1: no more is said */
                    ACCESS_LEVEL_REMOTE_CACHE,
                    ACCESS_LEVEL_MEMORY,
                    ACCESS_LEVEL_REMOTE_MEMORY,
                    ACCESS_LEVEL_DEVICE, /* input and output, memory that is not cached */
};

struct access_source {
    enum access_level level;
    bool known; /* the trace's sources mean something, and there was an access */
    bool store;
    bool modified; /* another core's cache had it modified */
    bool tlb_miss; /* the second level of the TLB missed */
    bool locked;
};

struct access_source access_source(const struct trace_info *info, const struct hr_access *access);

/* Returns it as text: "L1", "LLC modified", "memory TLB-miss locked", "store beyond-L1"; "" if
 * nothing is known.  No commas. */
#define ACCESS_SOURCE_BYTES 64
const char *access_source_text(const struct trace_info *info, const struct hr_access *access,
                               char text[ACCESS_SOURCE_BYTES]);
