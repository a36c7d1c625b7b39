/* Reads line tables and functions through libdw. */
#include "host/probe/probe_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/symbols/symbols_units.h"

#define NESTING_MAX 8u /* of namespaces and classes */

static Dwarf *open_dwarf(struct symbols_module *module, const struct probe_file *file,
                         Dwarf_Addr *bias)
{
    const struct symbols_options options = {.no_debuginfod = true};

    if (symbols_module_open(module, &file->file, true, &options) != 0)
        return NULL;
    return dwfl_module_getdwarf(module->module, bias);
}

static bool is_source(const char *path, const char *source)
{
    size_t bytes, wanted = strlen(source);

    if (path == NULL)
        return false;
    bytes = strlen(path);
    return bytes >= wanted && strcmp(path + bytes - wanted, source) == 0 &&
           (bytes == wanted || path[bytes - wanted - 1] == '/');
}

/* The function that an address is in: the innermost one, inlined or not. */
static uint64_t scope_of(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &scopes);
    uint64_t scope = address;

    for (int i = 0; i < count; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine ||
            dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
            scope = dwarf_dieoffset(&scopes[i]);
            break;
        }
    free(scopes);
    return scope;
}

static int add(struct probe_lines *lines, uint64_t scope, uint64_t address)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->all[i].scope == scope) {
            if (address < lines->all[i].address)
                lines->all[i].address = address;
            return 0;
        }
    if (array_grow(&lines->all, lines->count, sizeof *lines->all) != 0)
        return -ENOMEM;
    lines->all[lines->count++] = (struct probe_line){scope, address};
    return 0;
}

static void note_near(struct probe_lines *lines, uint64_t wanted, uint64_t number)
{
    lines->source_known = true;
    if (number < wanted && number > lines->before)
        lines->before = number;
    if (number > wanted && (lines->after == 0 || number < lines->after))
        lines->after = number;
}

static int read_unit(struct probe_lines *lines, Dwarf_Die *unit, const char *source,
                     uint64_t wanted, Dwarf_Addr bias)
{
    Dwarf_Lines *table;
    size_t count;
    int error = 0;

    if (dwarf_getsrclines(unit, &table, &count) != 0)
        return 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        Dwarf_Line *line = dwarf_onesrcline(table, i);
        bool statement = false, end = true;
        Dwarf_Addr address;
        int number = 0;

        if (dwarf_lineno(line, &number) != 0 || number <= 0 ||
            dwarf_lineaddr(line, &address) != 0 ||
            dwarf_linebeginstatement(line, &statement) != 0 ||
            dwarf_lineendsequence(line, &end) != 0 || end || !statement || address == 0 ||
            !is_source(dwarf_linesrc(line, NULL, NULL), source))
            continue;
        note_near(lines, wanted, (uint64_t)number);
        if ((uint64_t)number == wanted)
            error = add(lines, scope_of(unit, address), address + bias);
    }
    return error;
}

int probe_lines_find(struct probe_lines *lines, const struct probe_file *file, const char *source,
                     uint64_t line)
{
    struct symbols_module module = {0};
    Dwarf_Addr bias;
    Dwarf *dwarf = open_dwarf(&module, file, &bias);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    int error = dwarf != NULL ? 0 : -ENODATA;

    *lines = (struct probe_lines){0};
    while (error == 0 && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        error = read_unit(lines, &die, source, line, bias);
    if (module.dwfl != NULL)
        symbols_module_close(&module);
    return error;
}

void probe_lines_free(struct probe_lines *lines)
{
    free(lines->all);
    *lines = (struct probe_lines){0};
}

static bool is_inlined(Dwarf_Die *function, const char *name)
{
    const char *own = dwarf_diename(function);
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;

    return own != NULL && strcmp(own, name) == 0 &&
           dwarf_attr(function, DW_AT_inline, &attribute) != NULL &&
           dwarf_formudata(&attribute, &value) == 0 &&
           (value == DW_INL_inlined || value == DW_INL_declared_inlined);
}

static bool holds_inlined(const Dwarf_Die *parent, const char *name, uint32_t depth)
{
    Dwarf_Off last = 0;
    Dwarf_Die child;

    if (!symbols_units_child(parent, &child, &last))
        return false;
    do {
        int tag = dwarf_tag(&child);

        if (tag == DW_TAG_subprogram && is_inlined(&child, name))
            return true;
        if ((tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type) &&
            depth < NESTING_MAX && holds_inlined(&child, name, depth + 1))
            return true;
    } while (symbols_units_next(&child, &last));
    return false;
}

bool probe_lines_inlined(const struct probe_file *file, const char *name)
{
    struct symbols_module module = {0};
    Dwarf_Addr bias;
    Dwarf *dwarf = open_dwarf(&module, file, &bias);
    Dwarf_CU *unit = NULL;
    bool found = false;
    Dwarf_Die die;

    while (dwarf != NULL && !found &&
           dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        found = holds_inlined(&die, name, 0);
    if (module.dwfl != NULL)
        symbols_module_close(&module);
    return found;
}
