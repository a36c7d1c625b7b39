/* Names the places of allocations. */
#include "host/memory/memory_where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/trace/trace_spaces.h"
#include "lib/array.h"

#define FRAMES_MAX 64u /* that are looked at */

/* What passes allocations on, and is never the reason for one. */
static bool is_passed_over(const struct memory_where *where)
{
    static const char *const names[] = {"std::", "__gnu_cxx::", "void std::", "void* std::",
                                        "__gnu_cxx"};
    static const char *const objects[] = {"libc.so", "libstdc++.so", "ld-linux", "libc-",
                                          "ld-musl"};

    for (size_t i = 0; i < ARRAY_COUNT(names) && where->function != NULL; i++)
        if (strncmp(where->function, names[i], strlen(names[i])) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_COUNT(objects) && where->object != NULL; i++)
        if (strncmp(where->object, objects[i], strlen(objects[i])) == 0)
            return true;
    return false;
}

/* Fills the functions at an address, the innermost inlined one first.  Returns how many. */
static uint32_t look(struct symbols *symbols, uint64_t address, struct memory_where *all)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
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
    struct memory_where all[SYMBOLS_FRAMES_MAX];
    uint64_t calls[FRAMES_MAX];
    uint32_t count = calls_of(stacks, site, calls);
    bool first = true;

    *where = (struct memory_where){0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t frames = look(symbols, calls[i], all);

        if (first && frames != 0)
            *where = all[0];
        first = false;
        for (uint32_t n = 0; n < frames; n++)
            if (all[n].function != NULL && !is_passed_over(&all[n])) {
                *where = all[n];
                return;
            }
    }
}

void memory_where_text(const struct memory_where *where, char text[MEMORY_WHERE_BYTES])
{
    char address[32];

    snprintf(address, sizeof address, "0x%" PRIx64, trace_spaces_shown(where->address));
    if (where->file != NULL && where->line != 0)
        snprintf(text, MEMORY_WHERE_BYTES, "%.300s (%.150s:%u)",
                 where->function != NULL ? where->function : address, where->file, where->line);
    else if (where->object != NULL)
        snprintf(text, MEMORY_WHERE_BYTES, "%.300s (%.150s)",
                 where->function != NULL ? where->function : address, where->object);
    else
        snprintf(text, MEMORY_WHERE_BYTES, "%.400s",
                 where->function != NULL  ? where->function
                 : where->address != 0 ? address
                                          : "unknown");
}

bool memory_where_frame(struct symbols *symbols, const struct stacks *stacks,
                        const struct memory_site *site, uint32_t number,
                        char text[MEMORY_WHERE_BYTES])
{
    struct memory_where all[SYMBOLS_FRAMES_MAX];
    uint64_t calls[FRAMES_MAX];
    uint32_t count = calls_of(stacks, site, calls);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t frames = look(symbols, calls[i], all);

        if (number < frames) {
            memory_where_text(&all[number], text);
            return true;
        }
        number -= frames;
    }
    return false;
}
