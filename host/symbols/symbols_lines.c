/* Looks up inlined functions and source lines, and caches them. */
#include "host/symbols/symbols_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols/symbols_module.h"
#include "host/symbols/symbols_units.h"

#define INLINES_MAX (SYMBOLS_FRAMES_MAX - 1)
#define PROGRAM_BYTES_MAX (4u << 20) /* of a unit's line program; a row may take one byte */
#define MEMORY_PER_BYTE 16u /* of a line program, approximately */

struct symbols_lines {
    const struct symbols_file *file;
    const struct symbols_options *options;
    struct symbols_names *names;
    struct symbols_module module;
    Dwarf *dwarf;
    Dwarf_Addr bias; /* of the debug file's addresses */
    struct symbols_units units;
    Elf_Data *line_programs; /* of all units */
    uint64_t read_bytes; /* of line programs */
};

static int open_dwarf(struct symbols_lines *lines)
{
    int error = symbols_module_open(&lines->module, lines->file, true, lines->options);

    if (error != 0)
        return error;
    lines->dwarf = dwfl_module_getdwarf(lines->module.module, &lines->bias);
    error = lines->dwarf != NULL ? symbols_units_open(&lines->units, lines->dwarf) : -ENODATA;
    if (error == -ENODATA && lines->module.too_large)
        error = -EFBIG;
    if (error != 0) {
        symbols_module_close(&lines->module);
        return error;
    }
    lines->line_programs = symbols_module_section(&lines->module, ".debug_line");
    return 0;
}

int symbols_lines_open(struct symbols_lines **result, const struct symbols_file *file,
                       const struct symbols_options *options, struct symbols_names *names)
{
    struct symbols_lines *lines = calloc(1, sizeof *lines);
    int error;

    *result = NULL;
    if (lines == NULL)
        return -ENOMEM;
    *lines = (struct symbols_lines){.file = file, .options = options, .names = names};
    error = open_dwarf(lines);
    if (error == 0)
        *result = lines;
    else
        symbols_lines_close(lines);
    return error;
}

void symbols_lines_close(struct symbols_lines *lines)
{
    if (lines == NULL)
        return;
    symbols_lines_forget(lines);
    free(lines);
}

void symbols_lines_forget(struct symbols_lines *lines)
{
    symbols_units_close(&lines->units);
    symbols_module_close(&lines->module);
    lines->read_bytes = 0;
}

uint64_t symbols_lines_held(const struct symbols_lines *lines)
{
    return lines->read_bytes * MEMORY_PER_BYTE +
           (lines->units.functions + lines->units.spans.count) * sizeof(struct symbols_span) +
           lines->units.count * sizeof(struct symbols_unit);
}

static const char *function_name(struct symbols_lines *lines, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != NULL)
        name = dwarf_formstring(&attribute);
    if (name == NULL)
        name = dwarf_diename(die);
    return name != NULL && name[0] != 0
               ? symbols_names_function(lines->names, name, lines->options->raw_names)
               : NULL;
}

static const char *keep_file(struct symbols_lines *lines, const char *path)
{
    return path != NULL ? symbols_names_keep(lines->names, path, strlen(path)) : NULL;
}

/* Stores the place of an inlined function's call. */
static void place_call(struct symbols_lines *lines, struct symbols_unit *unit, Dwarf_Die *die,
                       struct symbols_frame *caller)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word value;
    size_t count;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &value) == 0)
        caller->line = value <= UINT32_MAX ? (uint32_t)value : 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &value) == 0 &&
        dwarf_getsrcfiles(&unit->code, &files, &count) == 0 && value < count)
        caller->file = keep_file(lines, dwarf_filesrc(files, value, NULL, NULL));
}

/* Finds the DIE inside `parent` that holds an address: an inlined function, or a block. */
static bool step_inside(const Dwarf_Die *parent, Dwarf_Die *inside, Dwarf_Addr address,
                        Dwarf_Off *last)
{
    bool more = symbols_units_child(parent, inside, last);

    for (; more; more = symbols_units_next(inside, last)) {
        int tag = dwarf_tag(inside);

        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
             tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
            dwarf_haspc(inside, address) > 0)
            return true;
    }
    return false;
}

/* Fills the frames' functions and calls, the innermost last.  Returns the number of inlined ones.
 */
static uint32_t inline_chain(struct symbols_lines *lines, struct symbols_unit *unit,
                             Dwarf_Addr address, struct symbols_frame chain[SYMBOLS_FRAMES_MAX])
{
    const struct symbols_span *span = symbols_spans_find(&unit->functions, address);
    Dwarf_Off last = 0;
    uint32_t depth = 0;
    Dwarf_Die die;

    chain[0] = (struct symbols_frame){0};
    if (span == NULL || dwarf_offdie(dwarf_cu_getdwarf(unit->code.cu), span->index, &die) == NULL)
        return 0;
    chain[0].function = function_name(lines, &die);
    while (depth < INLINES_MAX && step_inside(&die, &die, address, &last)) {
        if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
            continue;
        place_call(lines, unit, &die, &chain[depth]);
        chain[++depth] =
            (struct symbols_frame){.function = function_name(lines, &die), .inlined = true};
    }
    return depth;
}

/* Returns whether libdw may read a unit's line program at once, by its size; counts what it reads.
 */
static bool may_read_lines(struct symbols_lines *lines, struct symbols_unit *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    const Elf_Data *data = lines->line_programs;
    uint32_t bytes;

    if (data == NULL || data->d_buf == NULL ||
        dwarf_formudata(dwarf_attr(&unit->die, DW_AT_stmt_list, &attribute), &offset) != 0 ||
        data->d_size < sizeof bytes || offset > data->d_size - sizeof bytes)
        return false;
    memcpy(&bytes, (const char *)data->d_buf + offset, sizeof bytes);
    if (bytes > PROGRAM_BYTES_MAX) /* also for the 64-bit format, which compilers do not write */
        return false;
    if (!unit->lines_read)
        lines->read_bytes += bytes;
    unit->lines_read = true;
    return true;
}

static void place_address(struct symbols_lines *lines, struct symbols_unit *unit,
                          Dwarf_Addr address, struct symbols_frame *frame)
{
    Dwarf_Line *line;
    int number;

    if (!may_read_lines(lines, unit))
        return;
    line = dwarf_getsrc_die(&unit->die, address);
    if (line == NULL)
        return;
    frame->file = keep_file(lines, dwarf_linesrc(line, NULL, NULL));
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        frame->line = (uint32_t)number;
}

uint32_t symbols_lines_frames(struct symbols_lines *lines, uint64_t address,
                              struct symbols_frame frames[SYMBOLS_FRAMES_MAX])
{
    struct symbols_frame chain[SYMBOLS_FRAMES_MAX];
    struct symbols_unit *unit;
    uint32_t depth;

    if (lines->module.module == NULL && open_dwarf(lines) != 0)
        return 0;
    address -= lines->bias;
    unit = symbols_units_find(&lines->units, address);
    if (unit == NULL)
        return 0;
    depth = inline_chain(lines, unit, address, chain);
    place_address(lines, unit, address, &chain[depth]);
    if (lines->options->no_inlines)
        depth = 0;
    for (uint32_t i = 0; i <= depth; i++)
        frames[i] = chain[depth - i];
    return depth + 1;
}
