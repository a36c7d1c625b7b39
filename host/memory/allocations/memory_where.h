/* Where in the program's own code an allocation was made: frames of the C++ and C libraries are
 * passed over where the stack says who called them. */
#pragma once

#include "host/heap/memory_sites.h"
#include "host/scan/trace_scan.h"
#include "host/symbols/symbols.h"

#define MEMORY_WHERE_BYTES 512u

struct memory_where {
    const char *function; /* NULL: unknown; raw, as the next two */
    const char *file; /* of the source, without folders; NULL: unknown */
    const char *object;
    uint32_t line;
    uint64_t address; /* of the call, as to look up */
};

/* Finds the place of a site. */
void memory_where_find(struct memory_where *where, struct symbols *symbols,
                       const struct stacks *stacks, const struct memory_site *site);

/* Whether it is in the C library, or in the part of it that ends threads where it is static. */
bool memory_where_in_library(const struct memory_where *where);

/* Writes the function's name, without parameters and templates if it is long; raw. */
void memory_where_function(const struct memory_where *where, char text[MEMORY_WHERE_BYTES]);

/* Writes it as "function (file:line)", or "function (object)"; raw. */
void memory_where_text(const struct memory_where *where, char text[MEMORY_WHERE_BYTES]);

/* Writes one frame of a site's stack, likewise: number 0 is the caller.  Returns false past the
 * last one. */
bool memory_where_frame(struct symbols *symbols, const struct stacks *stacks,
                        const struct memory_site *site, uint32_t number,
                        char text[MEMORY_WHERE_BYTES]);
