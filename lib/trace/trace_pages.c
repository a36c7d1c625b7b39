/* Codes runs of touched pages: see lib/trace/trace_pages.h. */
#include "lib/trace/trace_pages.h"

#include "lib/trace/varint.h"

#define FLAG_BITS 2u
#define PAGES_MAX (1ull << 52) /* in an address space */

uint32_t trace_pages_put(uint8_t *to, uint64_t end, const struct trace_pages_run *run, bool first)
{
    uint8_t *at = to;

    if (!first)
        at = varint_put(at, (run->address - end) / TRACE_PAGE_BYTES);
    at = varint_put(at, run->pages << FLAG_BITS | run->flags);
    return (uint32_t)(at - to);
}

void trace_pages_open(struct trace_pages_reader *r, uint64_t address, const void *runs,
                      uint32_t bytes)
{
    *r = (struct trace_pages_reader){
        .at = runs, .stop = (const uint8_t *)runs + bytes, .end = address, .first = true};
}

int trace_pages_next(struct trace_pages_reader *r, struct trace_pages_run *run)
{
    uint64_t gap = 0, coded;

    if (r->at == r->stop)
        return 0;
    if (!r->first)
        r->at = varint_get(r->at, r->stop, &gap);
    if (r->end % TRACE_PAGE_BYTES) /* so says the record */
        r->at = NULL;
    if (r->at != NULL)
        r->at = varint_get(r->at, r->stop, &coded);
    if (r->at == NULL || gap >= PAGES_MAX || coded >> FLAG_BITS == 0 ||
        r->end / TRACE_PAGE_BYTES + gap + (coded >> FLAG_BITS) > PAGES_MAX) {
        r->at = r->stop;
        return -1;
    }
    run->address = r->end + gap * TRACE_PAGE_BYTES;
    run->pages = coded >> FLAG_BITS;
    run->flags = coded & (TRACE_PAGES_WRITTEN | TRACE_PAGES_LARGE);
    r->end = run->address + run->pages * TRACE_PAGE_BYTES;
    r->first = false;
    return 1;
}
