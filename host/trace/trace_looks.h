/* The looks at page tables (HR_REC_PAGES) as intervals of --pages, numbered from 0. */
#pragma once

#include <stdint.h>

#define TRACE_LOOKS_MAX (1u << 24) /* later ones are left out */

/* A look may come late, by a system call: it counts for the nearest time at which one was due. */
static inline uint64_t trace_look(uint64_t ns, uint64_t interval_ns)
{
    uint64_t look = ns / interval_ns + (ns % interval_ns > interval_ns / 2);

    return look - (look != 0);
}
