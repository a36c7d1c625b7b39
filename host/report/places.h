/* The places in a program that a report distinguishes, and the names of addresses in them.
 *
 * A place is a function, a source line, a library or an address.  Names belong to the symbols.
 * Memory is bounded: places that do not fit are PLACES_OTHERS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/symbols/symbols.h"

#define PLACES_MAX (1u << 17)

enum place_kind {
    PLACE_NONE, /* places do not matter: there is only one */
    PLACE_FUNCTION, /* a function, or 4 KiB where its bounds are unknown */
    PLACE_LINE,
    PLACE_LIBRARY,
    PLACE_ADDRESS,
    PLACE_FRAME, /* a function as a frame of a call stack; inlined ones are separate */
    PLACE_WORD, /* a text instead of a place */
};

enum { /* numbers of places that are not addresses */
       PLACES_OTHERS,
       PLACES_TRUNCATED,
       PLACES_BROKEN,
       PLACES_NO_STACK,
       PLACES_NO_PYTHON,
       PLACES_RESERVED,
};

struct place {
    const char *name; /* of the function; NULL if unknown; raw */
    const char *object; /* name of the file that holds it; NULL if unknown; raw */
    const char *file; /* of the source; NULL if unknown; raw */
    uint32_t line;
    uint8_t kind; /* enum place_kind */
    bool kernel; /* part of Microtome's kernel */
    bool inlined;
    uint64_t start; /* of the function or range; PLACE_ADDRESS: the address */
    uint64_t end;
    uint64_t offset; /* PLACE_ADDRESS: offset from the function's start */
};

struct places {
    struct symbols *symbols; /* not owned */
    struct place *all; /* owned */
    uint32_t *index; /* hash table of numbers, 0: free; owned */
    struct places_known *known; /* cache of addresses that were looked up; owned */
    struct places_known *known_frames; /* likewise of places_frames, which are single */
    uint32_t count;
    bool full; /* a place did not fit */
};

/* `frames`: places_frames will be called.  Returns 0 or -ENOMEM. */
int places_init(struct places *places, struct symbols *symbols, bool frames);
void places_free(struct places *places);

/* Returns the place of a kind (not PLACE_FRAME) that contains an address. */
uint32_t places_find(struct places *places, enum place_kind kind, uint64_t address);

/* Finds the frames at an address, the innermost first.  Returns how many. */
uint32_t places_frames(struct places *places, uint64_t address,
                       uint32_t frames[SYMBOLS_FRAMES_MAX]);

/* For a table in memory far away: where a frame is known, its place is soon wanted; and that place
 * as far as it is known, else PLACES_OTHERS. */
void places_prefetch(const struct places *places, uint64_t address);
uint32_t places_known(const struct places *places, uint64_t address);

/* Orders places that are equal otherwise: by address, then by name. */
int places_compare(const struct places *places, uint32_t a, uint32_t b);
