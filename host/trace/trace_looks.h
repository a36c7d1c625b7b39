/* The looks at page tables (HR_REC_PAGES) as intervals of --pages, numbered from 0. */
#pragma once

#include <stdlib.h>

#include "host/trace/trace_info.h"

#define TRACE_LOOKS_MAX (1u << 24) /* later ones are left out */
#define TRACE_LOOKS_PAGES_MAX (1ull << 32) /* of a run: 16 TiB; longer ones are left out */

/* Of --pages; 0: there are no looks.  It is known before all data. */
static inline uint64_t trace_looks_interval(const struct trace_info *info)
{
    return strtoull(trace_info_text(info, "pages.interval_ns", "0"), NULL, 10);
}

/* A look may come late, by a system call: it counts for the nearest time at which one was due. */
static inline uint64_t trace_look(uint64_t ns, uint64_t interval_ns)
{
    uint64_t look = ns / interval_ns + (ns % interval_ns > interval_ns / 2);

    return look - (look != 0);
}
