/* Names the places of allocations. */
#include "host/memory/allocations/memory_where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/draw/function_name.h"
#include "host/trace/trace_spaces.h"
#include "lib/array.h"

#define FRAMES_MAX 64u /* that are looked at */
#define NAME_COLUMNS 60 /* longer names are shown without parameters, then without templates */

static bool begins(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && text != NULL; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

bool memory_where_in_library(const struct memory_where *where)
{
    static const char *const objects[] = {"libc.so", "libc-", "ld-linux", "ld-musl"};
    static const char *const names[] = {"tcache_thread_shutdown", "__malloc_arena_thread_freeres"};

    return begins(where->object, objects, ARRAY_COUNT(objects)) ||
           begins(where->function, names, ARRAY_COUNT(names));
}

/* What passes allocations on, and is never the reason for one. */
static bool is_passed_over(const struct memory_where *where, const char *file)
{
    static const char *const names[] = {"std::", "__gnu_cxx::", "void std::", "void* std::"};
    static const char *const objects[] = {"libstdc++.so"};

    return begins(where->function, names, ARRAY_COUNT(names)) ||
           begins(where->object, objects, ARRAY_COUNT(objects)) ||
           (file != NULL && strstr(file, "/include/c++/") != NULL) ||
           memory_where_in_library(where);
}

/* Fills the functions at an address, the innermost inlined one first.  Returns how many. */
static uint32_t look(struct symbols *symbols, uint64_t address, struct symbols_frame *frames,
                     struct memory_where *all)
{
    struct symbols_place place;
    uint32_t count = symbols_frames(symbols, address, frames);

    symbols_find(symbols, address, &place);
    for (uint32_t i = 0; i < count; i++)
        all[i] = (struct memory_where){
            .function = frames[i].function,
            .file = frames[i].file != NULL ? text_base_name(frames[i].file) : NULL,
            .line = frames[i].line,
            .object = place.object,
            .address = address};
    return count;
}

/* Addresses of calls, the caller first.  Returns how many. */
static uint32_t calls_of(const struct stacks *stacks, const struct memory_site *site,
                         uint64_t calls[FRAMES_MAX])
{
    uint32_t count = 0;

    if (site->caller != 0)
        calls[count++] = site->caller;
    if (stacks != NULL && site->stack >= HR_STACK_ROOTS)
        count += stacks_addresses(stacks, site->stack, calls + count, FRAMES_MAX - count);
    for (uint32_t i = 0; i < count; i++)
        calls[i]--;
    return count;
}

void memory_where_find(struct memory_where *where, struct symbols *symbols,
                       const struct stacks *stacks, const struct memory_site *site)
{
    struct symbols_frame named[SYMBOLS_FRAMES_MAX];
    struct memory_where all[SYMBOLS_FRAMES_MAX];
    uint64_t calls[FRAMES_MAX];
    uint32_t count = calls_of(stacks, site, calls);
    bool first = true;

    *where = (struct memory_where){0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t frames = look(symbols, calls[i], named, all);

        if (first && frames != 0)
            *where = all[0];
        first = false;
        for (uint32_t n = 0; n < frames; n++)
            if (all[n].function != NULL && !is_passed_over(&all[n], named[n].file)) {
                *where = all[n];
                return;
            }
    }
}

void memory_where_function(const struct memory_where *where, char text[MEMORY_WHERE_BYTES])
{
    if (where->function == NULL && where->address == 0)
        snprintf(text, MEMORY_WHERE_BYTES, "unknown");
    else if (where->function == NULL)
        snprintf(text, MEMORY_WHERE_BYTES, "0x%" PRIx64, trace_spaces_shown(where->address));
    else
        snprintf(text, MEMORY_WHERE_BYTES, "%.*s", (int)MEMORY_WHERE_BYTES - 1, where->function);
    if (strlen(text) > NAME_COLUMNS)
        function_hide_parameters(text);
    if (strlen(text) > NAME_COLUMNS)
        function_hide_templates(text);
}

void memory_where_text(const struct memory_where *where, char text[MEMORY_WHERE_BYTES])
{
    char name[MEMORY_WHERE_BYTES];

    memory_where_function(where, name);
    if (where->file != NULL && where->line != 0)
        snprintf(text, MEMORY_WHERE_BYTES, "%.300s (%.150s:%u)", name, where->file, where->line);
    else if (where->object != NULL)
        snprintf(text, MEMORY_WHERE_BYTES, "%.300s (%.150s)", name, where->object);
    else
        memcpy(text, name, sizeof name);
}

bool memory_where_frame(struct symbols *symbols, const struct stacks *stacks,
                        const struct memory_site *site, uint32_t number,
                        char text[MEMORY_WHERE_BYTES])
{
    struct symbols_frame named[SYMBOLS_FRAMES_MAX];
    struct memory_where all[SYMBOLS_FRAMES_MAX];
    uint64_t calls[FRAMES_MAX];
    uint32_t count = calls_of(stacks, site, calls);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t frames = look(symbols, calls[i], named, all);

        if (number < frames) {
            memory_where_text(&all[number], text);
            return true;
        }
        number -= frames;
    }
    return false;
}
