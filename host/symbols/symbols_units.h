/* Which compile unit of a debug file, and which function in it, holds an address.  For
 * host/symbols/symbols_lines.c; link-time addresses; hostile input; never prints.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_UNITS_H
#define HOST_SYMBOLS_SYMBOLS_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_span { /* start .. end - 1 belongs to number `index` */
    uint64_t start;
    uint64_t end;
    uint64_t index;
};

struct symbols_spans { /* all zero: empty */
    struct symbols_span *all; /* owned */
    size_t count;
};

/* The span that holds an address, of several the one that starts last; NULL: none.  Sorted spans.
 */
const struct symbols_span *symbols_spans_find(const struct symbols_spans *spans, uint64_t address);

struct symbols_unit {
    Dwarf_Die die; /* of the compile unit; its line table is here */
    Dwarf_Die code; /* the same, or that of a split unit's .dwo file */
    struct symbols_spans functions; /* index: offset of the DIE */
    bool read; /* functions is filled */
    bool lines_read; /* for the caller: its line table was read */
};

struct symbols_units { /* all zero: empty */
    struct symbols_unit *all; /* owned */
    size_t count;
    struct symbols_spans spans; /* index: of the unit */
    size_t functions; /* spans of functions in all units */
};

/* 0, -ENODATA or -ENOMEM. */
int symbols_units_open(struct symbols_units *units, Dwarf *dwarf);
void symbols_units_close(struct symbols_units *units);

/* The unit that holds an address, or NULL; with its functions. */
struct symbols_unit *symbols_units_find(struct symbols_units *units, uint64_t address);

/* The first DIE inside one, and the next one beside it.  *last is where a walk has got to, 0 at
 * first: libdw goes wherever a damaged file leads, a walk only forward.  False at the end.
 */
bool symbols_units_child(const Dwarf_Die *parent, Dwarf_Die *child, Dwarf_Off *last);
bool symbols_units_next(Dwarf_Die *die, Dwarf_Off *last);

#endif
