/* Finds the words for what was not found. */
#include "host/probe/probe_explain.h"

#include <inttypes.h>
#include <string.h>

#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/probe/probe_name.h"

#define LIST_BYTES (NEAREST_COUNT * (NEAREST_NAME_BYTES + 2))
#define LISTED_MAX 4u /* implementations */

static void offer(struct nearest *near, const struct probe_file *file)
{
    char name[NEAREST_NAME_BYTES];

    for (size_t i = 0; i < file->count; i++) {
        const struct probe_symbol *symbol = &file->symbols[i];

        if (symbol->kind != PROBE_SYMBOL_FUNCTION || probe_file_is_part(symbol))
            continue;
        snprintf(name, sizeof name, "%.*s", probe_name_bytes(symbol), symbol->name);
        if (symbol->plain != NULL)
            nearest_offer(near, symbol->plain);
        else
            nearest_offer(near, name);
    }
}

/* glibc calls the implementations of NAME __NAME_avx2 and the like. */
static void list_implementations(const struct probe_file *file, const char *name, char *out,
                                 size_t room)
{
    char prefix[NEAREST_NAME_BYTES];
    size_t used = 0, bytes;

    bytes = (size_t)snprintf(prefix, sizeof prefix, "__%.64s_", name);
    out[0] = 0;
    for (size_t i = 0, n = 0; i < file->count && n < LISTED_MAX && used < room; i++) {
        const struct probe_symbol *symbol = &file->symbols[i];

        if (symbol->kind != PROBE_SYMBOL_FUNCTION || strncmp(symbol->name, prefix, bytes) != 0 ||
            strncmp(symbol->name + bytes, "chk", 3) == 0 ||
            strcmp(symbol->name + bytes, "ifunc") == 0)
            continue;
        used += (size_t)snprintf(out + used, room - used, "%s%s", n++ != 0 ? ", " : ", such as ",
                                 symbol->name);
    }
}

int probe_explain_choice(struct probe *p, const struct probe_spec *spec,
                         const struct probe_file *file)
{
    char list[LIST_BYTES];

    list_implementations(file, spec->name, list, sizeof list);
    return run_fail(p->failure,
                    "--probe %s: %s chooses one of several implementations when the program "
                    "starts (IFUNC), and the name stands for the choice; name an implementation%s",
                    spec->text, text_base_name(file->path), list);
}

static bool has_functions(const struct probe_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->symbols[i].kind == PROBE_SYMBOL_FUNCTION)
            return true;
    return false;
}

static bool has_data(const struct probe_file *file, const struct probe_spec *spec)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->symbols[i].kind == PROBE_SYMBOL_DATA && spec->kind != PROBE_SPEC_GLOB &&
            probe_name_fits(&file->symbols[i], spec))
            return true;
    return false;
}

static int explain_line(struct probe *p, const struct probe_spec *spec,
                        const struct probe_lines *lines)
{
    char before[32] = "", after[32] = "";

    if (!lines->source_known)
        return run_fail(p->failure,
                        "--probe %s: no debug information knows a source file %s; compile with -g, "
                        "or name the object: OBJECT:%s",
                        spec->text, spec->name, spec->text);
    if (lines->before != 0)
        snprintf(before, sizeof before, "%" PRIu64, lines->before);
    if (lines->after != 0)
        snprintf(after, sizeof after, "%" PRIu64, lines->after);
    return run_fail(p->failure,
                    "--probe %s: no instruction begins this line; the nearest lines with code are "
                    "%s%s%s",
                    spec->text, before, before[0] != 0 && after[0] != 0 ? " and " : "", after);
}

/* Where it was looked for: one object, or the program and what it needs. */
static void say_where(const struct probe_spec *spec, struct probe_file *const *files, size_t count,
                      char *out, size_t room)
{
    snprintf(out, room, "%s%s", files[0]->path,
             spec->object != NULL || count == 1 ? "" : " and its libraries");
}

int probe_explain_missing(struct probe *p, const struct probe_spec *spec,
                          struct probe_file *const *files, size_t count,
                          const struct probe_lines *lines)
{
    char list[LIST_BYTES], where[PATH_MAX + 32];
    struct nearest near;

    if (spec->kind == PROBE_SPEC_LINE)
        return explain_line(p, spec, lines);
    say_where(spec, files, count, where, sizeof where);
    nearest_init(&near, spec->name);
    for (size_t i = 0; i < count; i++) {
        if (files[i]->status != 0 || !files[i]->opened)
            continue;
        if (has_data(files[i], spec))
            return run_fail(p->failure, "--probe %s: it is data of %s, not a function", spec->text,
                            files[i]->path);
        if (spec->kind != PROBE_SPEC_GLOB && spec->kind != PROBE_SPEC_ALL &&
            probe_lines_inlined(files[i], spec->name))
            return run_fail(p->failure,
                            "--probe %s: %s was inlined into all of its callers, so no instruction "
                            "begins it; probe a caller or a line, FILE:LINE",
                            spec->text, spec->name);
        offer(&near, files[i]);
    }
    if (!has_functions(files[0]))
        return run_fail(p->failure,
                        "--probe %s: not found, and %s has no symbols; build it with symbols, "
                        "install its debug file, or probe 0xADDRESS",
                        spec->text, files[0]->path);
    return run_fail(p->failure, "--probe %s: no such function in %s%s%s", spec->text, where,
                    near.count != 0 ? "; the nearest names are " : "",
                    nearest_list(&near, list, sizeof list));
}
