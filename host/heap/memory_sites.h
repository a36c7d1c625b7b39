/* Places in a program that allocate memory, by number: an allocator's function called from an
 * address, with the call stack where the trace has it.  Bounded: what does not fit is site 0, which
 * is of no place.  Never prints. */
#pragma once

#include <stdint.h>

#define MEMORY_SITES_MAX (1u << 20)
#define MEMORY_SITES_NONE 0u

struct memory_site {
    uint64_t caller; /* common address (host/trace/trace_spaces.h) to which the allocator returned:
                        the call is just before it */
    uint32_t function; /* of the allocator, as in trace_info.points */
    uint32_t stack; /* node of the scan's stacks: the caller's callers; HR_STACK_NONE */
};

struct memory_sites { /* all zero at first */
    struct memory_site *all; /* owned */
    uint32_t count; /* the first is MEMORY_SITES_NONE */
    uint32_t *index; /* hash table of numbers, 0: free; owned */
    uint32_t bits;
};

void memory_sites_free(struct memory_sites *sites);

/* Returns the number of a site, or MEMORY_SITES_NONE if there is no room. */
uint32_t memory_sites_number(struct memory_sites *sites, const struct memory_site *site);

/* The site of a number; of one that is not known, that of no place. */
static inline const struct memory_site *memory_sites_at(const struct memory_sites *sites,
                                                        uint32_t number)
{
    static const struct memory_site none = {.function = UINT32_MAX};

    return number < sites->count ? &sites->all[number] : &none;
}
