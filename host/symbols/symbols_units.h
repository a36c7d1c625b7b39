/* Finds the compile unit of a debug file, and the function in it, that hold an address.  For
 * host/symbols/symbols_lines.c; link-time addresses; hostile input; never prints. */
#pragma once

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

/* Returns the span that holds an address, or NULL; of several spans, the one that starts last.
 * Spans must be sorted. */
const struct symbols_span *symbols_spans_find(const struct symbols_spans *spans, uint64_t address);

struct symbols_unit {
    Dwarf_Die die; /* of the compile unit, with its line table */
    Dwarf_Die code; /* equal to die, or that of a split unit's .dwo file */
    struct symbols_spans functions; /* index: offset of the DIE */
    bool read; /* functions is filled */
    bool lines_read; /* set by the caller: its line table was read */
};

struct symbols_units { /* all zero: empty */
    struct symbols_unit *all; /* owned */
    size_t count;
    struct symbols_spans spans; /* index: number of the unit */
    size_t functions; /* number of spans of functions in all units */
};

/* Returns 0, -ENODATA or -ENOMEM. */
int symbols_units_open(struct symbols_units *units, Dwarf *dwarf);
void symbols_units_close(struct symbols_units *units);

/* Returns the unit that holds an address, with its functions; or NULL. */
struct symbols_unit *symbols_units_find(struct symbols_units *units, uint64_t address);

/* Find the first child of a DIE, and its next sibling.  *last is the position of the walk, 0 at
 * first: libdw follows any reference of a damaged file, but a walk must move forward.  Return false
 * at the end. */
bool symbols_units_child(const Dwarf_Die *parent, Dwarf_Die *child, Dwarf_Off *last);
bool symbols_units_next(Dwarf_Die *die, Dwarf_Off *last);

/* Looks at an entry of debug information.  Returns 0, or what the walk returns then. */
typedef int symbols_units_visit(void *context, Dwarf_Die *die);

/* Visits what is below a DIE, each before what is in it; that only of tags that `enters` holds for.
 * Returns 0 or what ended the walk. */
int symbols_units_walk(const Dwarf_Die *parent, bool (*enters)(int tag), symbols_units_visit *visit,
                       void *context);
