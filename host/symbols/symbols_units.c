/* Reads the address ranges of compile units and functions through libdw. */
#include "host/symbols/symbols_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/search.h"

#define SPANS_MAX (1u << 20) /* of units, and of the functions of one; 24 MB */
#define UNITS_MAX (1u << 17)
#define NESTING_MAX 32u /* of namespaces, classes and scopes */
#define OVERLAPS_MAX 8u /* number of checked spans that start and end before an address */

static int add_span(struct symbols_spans *spans, uint64_t start, uint64_t end, uint64_t index)
{
    if (start >= end || spans->count == SPANS_MAX)
        return 0;
    if (array_grow(&spans->all, spans->count, sizeof *spans->all) != 0)
        return -ENOMEM;
    spans->all[spans->count++] = (struct symbols_span){start, end, index};
    return 0;
}

/* Adds all ranges of a DIE.  The linker leaves ranges of dropped code at 0. */
static int add_ranges(struct symbols_spans *spans, Dwarf_Die *die, uint64_t index)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    int error = 0;

    while (error == 0 && spans->count < SPANS_MAX &&
           (next = dwarf_ranges(die, next, &base, &start, &end)) > 0)
        if (start != 0)
            error = add_span(spans, start, end, index);
    return error;
}

static int by_start(const void *a, const void *b)
{
    const struct symbols_span *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end; /* the shorter one last */
}

static void sort(struct symbols_spans *spans)
{
    if (spans->count != 0)
        qsort(spans->all, spans->count, sizeof spans->all[0], by_start);
}

const struct symbols_span *symbols_spans_find(const struct symbols_spans *spans, uint64_t address)
{
    size_t low = search_address(spans->all, sizeof spans->all[0], spans->count, address);

    for (size_t n = 0; n < low && n < OVERLAPS_MAX; n++)
        if (address < spans->all[low - 1 - n].end)
            return &spans->all[low - 1 - n];
    return NULL;
}

static int add_unit(struct symbols_units *units, Dwarf_Die *die)
{
    if (array_grow(&units->all, units->count, sizeof *units->all) != 0)
        return -ENOMEM;
    units->all[units->count] = (struct symbols_unit){.die = *die, .code = *die};
    return add_ranges(&units->spans, die, units->count++);
}

int symbols_units_open(struct symbols_units *units, Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    int error = 0;

    memset(units, 0, sizeof *units);
    while (error == 0 && units->count < UNITS_MAX &&
           dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            error = add_unit(units, &die);
    sort(&units->spans);
    if (error == 0 && units->spans.count == 0)
        error = -ENODATA;
    if (error != 0)
        symbols_units_close(units);
    return error;
}

void symbols_units_close(struct symbols_units *units)
{
    for (size_t i = 0; i < units->count; i++)
        free(units->all[i].functions.all);
    free(units->all);
    free(units->spans.all);
    memset(units, 0, sizeof *units);
}

bool symbols_units_next(Dwarf_Die *die, Dwarf_Off *last)
{
    if (dwarf_siblingof(die, die) != 0 || dwarf_dieoffset(die) <= *last)
        return false;
    *last = dwarf_dieoffset(die);
    return true;
}

bool symbols_units_child(const Dwarf_Die *parent, Dwarf_Die *child, Dwarf_Off *last)
{
    Dwarf_Die copy = *parent;

    if (dwarf_child(&copy, child) != 0 || dwarf_dieoffset(child) <= *last)
        return false;
    *last = dwarf_dieoffset(child);
    return true;
}

int symbols_units_walk(const Dwarf_Die *parent, bool (*enters)(int tag), symbols_units_visit *visit,
                       void *context)
{
    Dwarf_Die path[NESTING_MAX]; /* position of the walk on each level */
    Dwarf_Off last = 0;
    uint32_t depth = 0;

    if (!symbols_units_child(parent, &path[0], &last))
        return 0;
    for (;;) {
        int error = visit(context, &path[depth]);

        if (error != 0)
            return error;
        if (enters(dwarf_tag(&path[depth])) && depth + 1 < NESTING_MAX &&
            symbols_units_child(&path[depth], &path[depth + 1], &last)) {
            depth++;
            continue;
        }
        while (!symbols_units_next(&path[depth], &last))
            if (depth-- == 0)
                return 0;
    }
}

static bool holds_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* Fulfils symbols_units_visit for struct symbols_spans. */
static int add_function(void *functions, Dwarf_Die *die)
{
    return dwarf_tag(die) == DW_TAG_subprogram ? add_ranges(functions, die, dwarf_dieoffset(die))
                                               : 0;
}

static void read_unit(struct symbols_unit *unit)
{
    Dwarf_Die split;
    uint8_t type;

    unit->read = true;
    if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.addr != NULL)
        unit->code = split;
    /* if memory runs out, some are missing */
    (void)symbols_units_walk(&unit->code, holds_functions, add_function, &unit->functions);
    sort(&unit->functions);
}

struct symbols_unit *symbols_units_find(struct symbols_units *units, uint64_t address)
{
    const struct symbols_span *span = symbols_spans_find(&units->spans, address);
    struct symbols_unit *unit = span != NULL ? &units->all[span->index] : NULL;

    if (unit != NULL && !unit->read) {
        read_unit(unit);
        units->functions += unit->functions.count;
    }
    return unit;
}
