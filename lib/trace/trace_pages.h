/* The runs of HR_REC_PAGES: how pages that were touched are written and read.
 *
 * A run is a number of neighbouring pages.  Each is coded as the varint of the pages between it and
 * the run before it, which the first one has not, and the varint of 4 * its pages + its flags.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRACE_PAGE_BYTES 4096u
#define TRACE_PAGES_RUN_MAX 20u /* bytes of a coded run */

enum { TRACE_PAGES_WRITTEN = 1, TRACE_PAGES_LARGE = 2 };

struct trace_pages_run {
    uint64_t address; /* of the first page */
    uint64_t pages; /* of 4 KiB */
    uint32_t flags; /* TRACE_PAGES_* */
};

/* Codes a run at `to`, which has room for TRACE_PAGES_RUN_MAX bytes.  `end`: the address after the
 * run before it, or its own for the first of a record.  Returns the bytes. */
uint32_t trace_pages_put(uint8_t *to, uint64_t end, const struct trace_pages_run *run, bool first);

/* Reads the runs of one record.  Nothing of it is trusted. */
struct trace_pages_reader {
    const uint8_t *at;
    const uint8_t *stop;
    uint64_t end; /* address after the last run */
    bool first;
};

void trace_pages_open(struct trace_pages_reader *r, uint64_t address, const void *runs,
                      uint32_t bytes);

/* Returns 1 with the next run, 0 at the end, or -1 if the record is damaged: cut, an empty run,
 * pages beyond 2^52, or an address within a page. */
int trace_pages_next(struct trace_pages_reader *r, struct trace_pages_run *run);
