/* The global objects of the file in which some code is: what lies at an address of data.
 *
 * Load maps show code alone.  Where a file's code is, its data is at a known distance.  Any number
 * of threads may call these, as those of host/symbols/symbols.h. */
#pragma once

#include "host/symbols/symbols.h"
#include "host/symbols/symbols_data.h"

#define SYMBOLS_GLOBAL_BYTES 512

struct symbols_globals { /* of a file; link-time addresses */
    const struct symbols_data *data; /* loaded; lives as long as the symbols */
    uint64_t code; /* where the code is at link time */
    uint64_t start, end; /* of the file's segments */
    uint32_t file; /* a number for the file */
    bool program;
};

/* Finds the file of an address of code, a common one (host/trace/trace_spaces.h).  Returns false
 * if there is none, or if it cannot be used. */
bool symbols_globals_find(struct symbols *symbols, uint64_t code, struct symbols_globals *globals);

/* Writes the name of a link-time address of a file, and returns `text`: the global object and what
 * the debug information says of its part ("stats.hits", "table[12].next", "buffer+0x40"); only the
 * object with `whole`; the file's name where it has no object there.  Raw. */
char *symbols_globals_name(struct symbols *symbols, uint32_t file, uint64_t address, bool whole,
                           char text[SYMBOLS_GLOBAL_BYTES]);
