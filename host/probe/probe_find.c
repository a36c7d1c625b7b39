/* Finds the functions and places that specifications name. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/probe/probe.h"
#include "host/probe/probe_explain.h"
#include "host/probe/probe_heap.h"
#include "host/probe/probe_lines.h"
#include "host/probe/probe_name.h"
#include "host/probe/probe_object.h"
#include "host/probe/probe_spec.h"

/* Functions that find return how many they found, or -1 with the failure filled. */

static int out_of_memory(struct probe *p)
{
    return run_fail(p->failure, "out of memory; end other programs");
}

static void leave_out(struct probe *p, const struct probe_symbol *symbol)
{
    char name[96];

    if (p->left_out++ == 0)
        snprintf(p->left_out_first, sizeof p->left_out_first, "%s: %s",
                 text_escape(name, sizeof name, symbol->name), p->code.reason);
}

/* Adds a function with its entry and returns.  One of a glob may be left out. */
static int add_function(struct probe *p, const struct probe_spec *spec, struct probe_file *file,
                        const struct probe_symbol *symbol)
{
    bool named = spec->kind == PROBE_SPEC_FUNCTION;
    struct probe_range range;
    bool sized = probe_file_range(file, symbol, &range);
    int error;

    p->source.context = file;
    error = probe_code_function(&p->code, range, !sized);
    if (error == -ENOMEM)
        return out_of_memory(p);
    if (error != 0 && named)
        return run_fail(p->failure, "--probe %s: %s", spec->text, p->code.reason);
    if (error != 0) {
        leave_out(p, symbol);
        return 0;
    }
    if (probe_table_add(&p->table,
                        &(struct probe_function){.address = range.start,
                                                 .bytes = p->code.parts[0].end - range.start,
                                                 .file = file,
                                                 .spec = spec->text,
                                                 .kind = HR_PROBE_FUNCTION,
                                                 .loops = p->code.loops,
                                                 .named = named},
                        symbol->name, probe_name_bytes(symbol), p->failure) != 0)
        return -1;
    for (size_t i = 0; i < p->code.count; i++)
        if (probe_table_add_point(&p->table, &p->code.points[i], p->failure) != 0)
            return -1;
    return 1;
}

/* Adds an instruction.  All that one specification names belong to one place of the report. */
static int add_place(struct probe *p, const struct probe_spec *spec, struct probe_file *file,
                     struct probe_range range, const struct probe_symbol *symbol, uint64_t address,
                     bool first)
{
    const struct probe_function place = {.address = address,
                                         .file = file,
                                         .spec = spec->text,
                                         .kind = HR_PROBE_PLACE,
                                         .named = true};
    struct probe_code_point point;
    char start[32];
    int error;

    p->source.context = file;
    error = probe_code_place(&p->code, range, address, &point);
    snprintf(start, sizeof start, "the code at 0x%" PRIx64, range.start);
    if (error != 0)
        return run_fail(p->failure, "--probe %s: in %s, %s", spec->text,
                        symbol != NULL ? symbol->name : start, p->code.reason);
    if (first &&
        probe_table_add(&p->table, &place, spec->text, (int)strlen(spec->text), p->failure) != 0)
        return -1;
    return probe_table_add_point(&p->table, &point, p->failure) == 0 ? 1 : -1;
}

static int add_offset(struct probe *p, const struct probe_spec *spec, struct probe_file *file,
                      const struct probe_symbol *symbol, bool first)
{
    struct probe_range range;

    (void)probe_file_range(file, symbol, &range);
    if (spec->number >= range.end - range.start)
        return run_fail(p->failure, "--probe %s: %s has 0x%" PRIx64 " bytes of code", spec->text,
                        spec->name, range.end - range.start);
    return add_place(p, spec, file, range, symbol, range.start + spec->number, first);
}

/* A label within a function is no function. */
static bool is_function(struct probe_file *file, const struct probe_symbol *symbol)
{
    const struct probe_symbol *around;
    struct probe_range range;

    if (symbol->kind != PROBE_SYMBOL_LABEL)
        return symbol->kind == PROBE_SYMBOL_FUNCTION;
    return !probe_file_around(file, symbol->start, &range, &around) || around == NULL;
}

/* Finds a name among the current versions of symbols, or among the old ones. */
static int find_versions(struct probe *p, const struct probe_spec *spec, struct probe_file *file,
                         bool old)
{
    int found = 0;

    for (size_t i = 0; i < file->count; i++) {
        struct probe_symbol *symbol = &file->symbols[i];
        int result;

        if (probe_name_is_old(symbol) != old || !probe_name_fits(symbol, spec))
            continue;
        if (symbol->kind == PROBE_SYMBOL_CHOICE)
            return probe_explain_choice(p, spec, file);
        if (!is_function(file, symbol))
            continue;
        if (probe_file_is_part(symbol) && spec->kind == PROBE_SPEC_FUNCTION)
            return run_fail(p->failure,
                            "--probe %s: it is a part of another function, which jumps there; "
                            "name that one, or %s+0x0",
                            spec->text, spec->text);
        result = spec->kind == PROBE_SPEC_OFFSET ? add_offset(p, spec, file, symbol, found == 0)
                                                 : add_function(p, spec, file, symbol);
        if (result < 0)
            return -1;
        found += result;
        while (i + 1 < file->count && file->symbols[i + 1].start == symbol->start)
            i++;
    }
    return found;
}

static int find_named(struct probe *p, const struct probe_spec *spec, struct probe_file *file)
{
    int found = find_versions(p, spec, file, false);

    return found != 0 ? found : find_versions(p, spec, file, true);
}

/* Globs and @all take one name of each address, the best that fits. */
static int find_many(struct probe *p, const struct probe_spec *spec, struct probe_file *file)
{
    int found = 0;

    for (size_t i = 0; i < file->count; i++) {
        struct probe_symbol *symbol = &file->symbols[i];
        int result;

        if (symbol->kind != PROBE_SYMBOL_FUNCTION || probe_file_is_part(symbol) ||
            (spec->kind == PROBE_SPEC_GLOB && !probe_name_fits(symbol, spec)))
            continue;
        result = add_function(p, spec, file, symbol);
        if (result < 0)
            return -1;
        found += result;
        while (i + 1 < file->count && file->symbols[i + 1].start == symbol->start)
            i++;
    }
    return found;
}

static int find_address(struct probe *p, const struct probe_spec *spec, struct probe_file *file)
{
    const struct probe_symbol *symbol;
    struct probe_range range;

    if (!probe_file_around(file, spec->number, &range, &symbol))
        return run_fail(p->failure, "--probe %s: there is no code at this address of %s",
                        spec->text, file->path);
    return add_place(p, spec, file, range, symbol, spec->number, true);
}

static int find_line(struct probe *p, const struct probe_spec *spec, struct probe_file *file,
                     struct probe_lines *lines)
{
    const struct probe_symbol *symbol;
    struct probe_range range;
    int result =
        probe_lines_find(lines, file, spec->name, spec->number) == -ENOMEM ? out_of_memory(p) : 0;

    for (size_t i = 0; i < lines->count && result >= 0; i++) {
        if (!probe_file_around(file, lines->all[i].address, &range, &symbol))
            continue;
        result = add_place(p, spec, file, range, symbol, lines->all[i].address, result == 0);
    }
    return result;
}

static int find_in(struct probe *p, const struct probe_spec *spec, struct probe_file *file,
                   struct probe_lines *lines)
{
    int error = probe_file_open(file);

    if (error != 0 && (spec->object != NULL || file == p->files[0]))
        return run_fail(p->failure, "--probe %s: cannot read %s: %s", spec->text, file->path,
                        error == -ENOEXEC ? "not an ELF file for x86-64" : strerror(-error));
    if (error != 0)
        return 0;
    switch (spec->kind) {
    case PROBE_SPEC_FUNCTION:
    case PROBE_SPEC_OFFSET:
        return find_named(p, spec, file);
    case PROBE_SPEC_LINE:
        return find_line(p, spec, file, lines);
    case PROBE_SPEC_ADDRESS:
        return find_address(p, spec, file);
    default:
        return find_many(p, spec, file);
    }
}

/* Whether the next object is searched, too, after one was found in `last`: with a glob all
 * libraries are; of other names only the variants of one library for several CPUs. */
static bool goes_on(const struct probe *p, const struct probe_spec *spec,
                    const struct probe_file *last, const struct probe_file *next)
{
    if (spec->object != NULL)
        return true;
    if (last == p->files[0] || spec->kind == PROBE_SPEC_ALL || spec->kind == PROBE_SPEC_ADDRESS)
        return false;
    return spec->kind == PROBE_SPEC_GLOB ||
           strcmp(text_base_name(last->path), text_base_name(next->path)) == 0;
}

static int find_spec(struct probe *p, const struct probe_spec *spec)
{
    struct probe_file **files = NULL;
    struct probe_file *last = NULL;
    struct probe_lines lines = {0};
    size_t count = 0, left_out = p->left_out;
    int result = probe_object_select(p, spec, &files, &count);

    for (size_t i = 0; i < count && result >= 0; i++) {
        if (lines.source_known)
            break;
        if (last != NULL && !goes_on(p, spec, last, files[i]))
            continue;
        if (i != 0 && spec->object == NULL &&
            (spec->kind == PROBE_SPEC_ALL || spec->kind == PROBE_SPEC_ADDRESS))
            break;
        result = find_in(p, spec, files[i], &lines);
        if (result > 0 && last == NULL)
            last = files[i];
    }
    if (result >= 0 && last == NULL && p->left_out != left_out)
        result = run_fail(p->failure, "--probe %s: no function of it can have a probe; %s",
                          spec->text, p->left_out_first);
    if (result >= 0 && last == NULL)
        result = probe_explain_missing(p, spec, files, count, &lines);
    probe_lines_free(&lines);
    free(files);
    return result;
}

int probe_find(struct probe *p, const struct probe_wish *wish, struct run_failure *failure)
{
    int result = 0;

    *p = (struct probe){
        .wish = wish,
        .failure = failure,
        .source = {.code = probe_file_code, .part = probe_file_part},
    };
    if (probe_code_open(&p->code, &p->source) != 0 || probe_object_open_all(p) != 0)
        return out_of_memory(p);
    for (size_t i = 0; i < wish->spec_count && result >= 0; i++) {
        struct probe_spec spec;

        result = probe_spec_parse(&spec, wish->specs[i], failure);
        if (result == 0)
            result = find_spec(p, &spec);
        probe_spec_free(&spec);
    }
    if (result >= 0 && wish->alloc)
        result = probe_heap_find(p);
    return result >= 0 ? probe_table_settle(&p->table, &p->overlapping, failure) : -1;
}

void probe_free(struct probe *p)
{
    probe_table_free(&p->table);
    probe_code_close(&p->code);
    for (size_t i = 0; i < p->file_count; i++)
        probe_file_free(p->files[i]);
    free(p->files);
    *p = (struct probe){0};
}
