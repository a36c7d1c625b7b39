/* Reads variables and their types through libdw. */
#include "host/symbols/symbols_types.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/base/search.h"
#include "host/symbols/symbols_module.h"
#include "host/symbols/symbols_units.h"

#define VARIABLES_MAX (1u << 18)
#define STEPS_MAX (8u << 20) /* entries looked at in all units */
#define MEMBERS_MAX 4096u /* looked at in one type */
#define NESTING_MAX 32u /* of types within types */
#define DIMENSIONS_MAX 8u
#define POINTER_BYTES 8u
#define EXPRESSION_BYTES 11u /* an address, or its number */

struct variable {
    uint64_t start;
    Dwarf_Off die;
};

struct symbols_types {
    struct symbols_module module;
    Dwarf *dwarf;
    struct variable *variables; /* ascending; owned */
    size_t count;
    uint32_t steps;
};

/* The address of a variable that has one all the time; 0: it has none. */
static uint64_t address_of(Dwarf_Die *die)
{
    Dwarf_Attribute location, value;
    Dwarf_Block block;
    Dwarf_Addr address = 0;
    Dwarf_Op *operation;
    size_t count;

    if (dwarf_attr(die, DW_AT_location, &location) == NULL ||
        dwarf_formblock(&location, &block) != 0 || block.length > EXPRESSION_BYTES ||
        dwarf_getlocation(&location, &operation, &count) != 0 || count != 1)
        return 0;
    if (operation->atom == DW_OP_addr)
        return operation->number;
    if (operation->atom == DW_OP_addrx && dwarf_getlocation_attr(&location, operation, &value) == 0)
        (void)dwarf_formaddr(&value, &address);
    return address;
}

/* Fulfils symbols_units_visit for struct symbols_types. */
static int take_variable(void *context, Dwarf_Die *die)
{
    struct symbols_types *types = context;
    uint64_t address;

    if (types->steps++ >= STEPS_MAX)
        return -E2BIG;
    address = dwarf_tag(die) == DW_TAG_variable ? address_of(die) : 0;
    if (address == 0 || types->count == VARIABLES_MAX)
        return 0;
    if (array_grow(&types->variables, types->count, sizeof types->variables[0]) != 0)
        return -ENOMEM;
    types->variables[types->count++] = (struct variable){address, dwarf_dieoffset(die)};
    return 0;
}

static bool is_scope(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block;
}

static int by_start(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->die < y->die ? -1 : x->die > y->die;
}

static int read_all(struct symbols_types *types)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    int error = 0;

    while (error == 0 && types->steps < STEPS_MAX &&
           dwarf_get_units(types->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_compile)
            error = symbols_units_walk(&die, is_scope, take_variable, types);
    if (error == -E2BIG) /* the variables up to there will do */
        error = 0;
    if (types->count != 0)
        qsort(types->variables, types->count, sizeof types->variables[0], by_start);
    return error == 0 && types->count == 0 ? -ENODATA : error;
}

int symbols_types_open(struct symbols_types **types, const struct symbols_file *file,
                       const struct symbols_options *options)
{
    struct symbols_types *t = calloc(1, sizeof *t);
    Dwarf_Addr bias;
    int error;

    *types = NULL;
    if (t == NULL)
        return -ENOMEM;
    error = symbols_module_open(&t->module, file, true, options);
    if (error != 0) {
        free(t);
        return error;
    }
    t->dwarf = dwfl_module_getdwarf(t->module.module, &bias);
    error = t->dwarf != NULL ? read_all(t) : t->module.too_large ? -EFBIG : -ENODATA;
    if (error == 0)
        *types = t;
    else
        symbols_types_close(t);
    return error;
}

void symbols_types_close(struct symbols_types *types)
{
    if (types == NULL)
        return;
    symbols_module_close(&types->module);
    free(types->variables);
    free(types);
}

/* The type of a variable, member, array or name of a type; false: none. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, DW_AT_type, &attribute) != NULL &&
           dwarf_formref_die(&attribute, type) != NULL;
}

/* Looks through names and qualifiers of a type; false: there is no type in the end. */
static bool peel(Dwarf_Die *type)
{
    for (uint32_t i = 0; i < NESTING_MAX; i++) {
        Dwarf_Die behind;

        switch (dwarf_tag(type)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_atomic_type:
        case DW_TAG_restrict_type:
            if (!type_of(type, &behind))
                return false;
            *type = behind;
            break;
        default:
            return true;
        }
    }
    return false;
}

static bool number(Dwarf_Die *die, unsigned int name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &word) != 0)
        return false;
    *value = word;
    return true;
}

struct array {
    uint64_t counts[DIMENSIONS_MAX]; /* at least 1 */
    uint32_t dimensions;
};

static struct array array_of(const Dwarf_Die *type)
{
    struct array array = {0};
    Dwarf_Off last = 0;
    Dwarf_Die child;

    if (!symbols_units_child(type, &child, &last))
        return array;
    do {
        uint64_t count = 0;

        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (!number(&child, DW_AT_count, &count) && number(&child, DW_AT_upper_bound, &count))
            count++;
        array.counts[array.dimensions++] = count != 0 ? count : 1;
    } while (array.dimensions < DIMENSIONS_MAX && symbols_units_next(&child, &last));
    return array;
}

/* Bytes of a type; 0: unknown, or more than there are addresses. */
static uint64_t size_of(Dwarf_Die type, uint32_t depth)
{
    uint64_t bytes = 0;
    struct array array;
    Dwarf_Die item;

    if (depth == NESTING_MAX || !peel(&type) || number(&type, DW_AT_byte_size, &bytes))
        return bytes;
    switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return POINTER_BYTES;
    case DW_TAG_array_type:
        array = array_of(&type);
        bytes = type_of(&type, &item) ? size_of(item, depth + 1) : 0;
        for (uint32_t i = 0; i < array.dimensions; i++)
            if (__builtin_mul_overflow(bytes, array.counts[i], &bytes))
                return 0;
        return bytes;
    default:
        return 0;
    }
}

/* Finds the member or base class that holds an offset, which becomes that within it. */
static bool member_at(const Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member)
{
    Dwarf_Off last = 0;
    Dwarf_Die child, of;
    bool found = false;
    uint32_t looked = 0;

    if (!symbols_units_child(type, &child, &last))
        return false;
    do {
        int tag = dwarf_tag(&child);
        uint64_t start = 0, bits = 0;

        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&child, DW_AT_external) || !type_of(&child, &of))
            continue;
        if (!number(&child, DW_AT_data_member_location, &start) &&
            number(&child, DW_AT_data_bit_offset, &bits))
            start = bits / 8;
        if (start > *offset || *offset - start >= size_of(of, 0))
            continue;
        *offset -= start;
        *member = child;
        found = true;
    } while (!found && looked++ < MEMBERS_MAX && symbols_units_next(&child, &last));
    return found;
}

struct text {
    char *text;
    size_t bytes, used;
};

static void append(struct text *t, const char *before, const char *name)
{
    int written = snprintf(t->text + t->used, t->bytes - t->used, "%s%s", before, name);

    if (written > 0)
        t->used += (size_t)written < t->bytes - t->used ? (size_t)written : t->bytes - t->used - 1;
}

static void append_number(struct text *t, const char *format, uint64_t value)
{
    char number_text[32];

    snprintf(number_text, sizeof number_text, format, value);
    append(t, number_text, "");
}

/* Goes from an array to the item that holds an offset; false: none does. */
static bool enter_array(struct text *t, Dwarf_Die *type, uint64_t *offset)
{
    struct array array = array_of(type);
    uint64_t bytes = size_of(*type, 0), indices[DIMENSIONS_MAX];
    Dwarf_Die item;

    if (array.dimensions == 0 || bytes <= *offset || !type_of(type, &item))
        return false;
    for (uint32_t i = 0; i < array.dimensions; i++) {
        bytes /= array.counts[i];
        if (bytes == 0)
            return false;
        indices[i] = *offset / bytes;
        *offset %= bytes;
    }
    for (uint32_t i = 0; i < array.dimensions; i++)
        append_number(t, "[%" PRIu64 "]", indices[i]);
    *type = item;
    return true;
}

/* Likewise from a struct, class or union to its member. */
static bool enter_struct(struct text *t, Dwarf_Die *type, uint64_t *offset)
{
    Dwarf_Die member, of;

    if (!member_at(type, offset, &member) || !type_of(&member, &of))
        return false;
    if (dwarf_tag(&member) == DW_TAG_member && dwarf_diename(&member) != NULL)
        append(t, ".", dwarf_diename(&member));
    *type = of;
    return true;
}

/* Writes the rest of an offset unless it is within a number or a pointer, which has no parts. */
static void describe(struct text *t, Dwarf_Die type, uint64_t offset)
{
    for (uint32_t depth = 0; depth < NESTING_MAX && peel(&type); depth++) {
        bool entered;

        switch (dwarf_tag(&type)) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            entered = enter_struct(t, &type, &offset);
            break;
        case DW_TAG_array_type:
            entered = enter_array(t, &type, &offset);
            break;
        default:
            if (offset < size_of(type, 0))
                return;
            entered = false;
        }
        if (!entered)
            break;
    }
    if (offset != 0)
        append_number(t, "+0x%" PRIx64, offset);
}

bool symbols_types_part(const struct symbols_types *types, uint64_t variable, uint64_t offset,
                        char *text, size_t bytes)
{
    size_t low =
        search_address(types->variables, sizeof types->variables[0], types->count, variable);
    struct text t = {text, bytes, 0};
    Dwarf_Die die, type;

    if (low == 0 || types->variables[low - 1].start != variable ||
        dwarf_offdie(types->dwarf, types->variables[low - 1].die, &die) == NULL ||
        !type_of(&die, &type))
        return false;
    text[0] = 0;
    describe(&t, type, offset);
    return true;
}
