/* Names what a thread waits for. */
#include "host/symbols/wait_name.h"

#include <asm/unistd_64.h>
#include <stdio.h>

#include "lib/program/syscall_names.h"

#define HEAP_BYTES_MAX (1ull << 40) /* after a program; shared libraries are further away */

struct search { /* of the file in which an address is */
    struct symbols *symbols;
    uint64_t address;
    bool found;
    bool heap;
    struct symbols_place place;
};

/* Looks into the file of which some code is at `start`; `common` is its address for symbols. */
static void look_near(struct search *s, uint64_t start, uint64_t common)
{
    struct symbols_place place;

    if (s->found)
        return;
    switch (symbols_data(s->symbols, common, s->address - start, &place)) {
    case SYMBOLS_DATA_HERE:
        s->found = true;
        s->place = place;
        break;
    case SYMBOLS_DATA_BEHIND:
        s->heap |= place.offset < HEAP_BYTES_MAX;
        break;
    default:
        break;
    }
}

static void look_in_space(struct search *s, const struct trace_info *info,
                          const struct hr_rec_wait *wait)
{
    const struct trace_processes *processes = &info->processes;
    uint64_t until;
    uint32_t process = trace_processes_of(processes, wait->tid, wait->time);
    uint32_t number = trace_processes_space(processes, process, wait->time, &until);
    const struct trace_space_ranges *shown = processes->spaces.all[number].ranges;

    for (size_t i = 0; shown != NULL && i < shown->map.count; i++)
        look_near(s, shown->map.ranges[i].start, shown->map.ranges[i].file_offset);
}

static void look_everywhere(struct search *s, const struct trace_info *info,
                            const struct hr_rec_wait *wait)
{
    if (trace_processes_any(&info->processes))
        look_in_space(s, info, wait);
    else
        for (size_t i = 0; i < info->map_count; i++)
            look_near(s, info->maps[i].meta.start, info->maps[i].meta.start);
}

bool wait_name_find(struct symbols *symbols, const struct trace_info *info,
                    const struct hr_rec_wait *wait, struct symbols_place *place, bool *heap)
{
    struct search s = {.symbols = symbols, .address = wait->address};

    look_everywhere(&s, info, wait);
    *place = s.place;
    *heap = s.heap;
    return s.found;
}

static void name_futex(struct search *s, const struct trace_info *info,
                       const struct hr_rec_wait *wait, char text[WAIT_NAME_BYTES])
{
    look_everywhere(s, info, wait);
    if (s->found && s->place.name != NULL && s->place.offset == 0)
        snprintf(text, WAIT_NAME_BYTES, "%s", s->place.name);
    else if (s->found)
        snprintf(text, WAIT_NAME_BYTES, "%.*s+0x%lx", (int)WAIT_NAME_BYTES - 20,
                 s->place.name != NULL ? s->place.name : s->place.object, s->place.offset);
    else
        snprintf(text, WAIT_NAME_BYTES, "%s0x%lx", s->heap ? "heap " : "", wait->address);
}

char *wait_name(struct symbols *symbols, const struct trace_info *info,
                const struct hr_rec_wait *wait, char text[WAIT_NAME_BYTES])
{
    struct search s = {.symbols = symbols, .address = wait->address};
    const char *call = syscall_name(wait->number);

    if (wait->number == __NR_futex && wait->joins != 0)
        snprintf(text, WAIT_NAME_BYTES, "the end of thread %u", wait->joins);
    else if (wait->number == __NR_futex)
        name_futex(&s, info, wait, text);
    else if (wait->number == HR_WAIT_NO_CALL)
        snprintf(text, WAIT_NAME_BYTES, "[stopped]");
    else if (call != NULL)
        snprintf(text, WAIT_NAME_BYTES, "%s", call);
    else
        snprintf(text, WAIT_NAME_BYTES, "system call %u", wait->number);
    return text;
}
