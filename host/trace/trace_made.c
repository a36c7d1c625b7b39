/* Finds the process whose names an address has. */
#include "host/trace/trace_made.h"

_Static_assert(TRACE_SPACES_VIEWS_MAX < TRACE_JIT_PLACES >> TRACE_SPACES_TAG_SHIFT &&
                   TRACE_JIT_PLACES_END >> TRACE_SPACES_TAG_SHIFT <= TRACE_NAMES_TAGS &&
                   TRACE_NAMES_TAGS + TRACE_NAMES_FILES_MAX <= HR_PYTHON_BASE >>
                       TRACE_SPACES_TAG_SHIFT &&
                   HR_PYTHON_END >> TRACE_SPACES_TAG_SHIFT <= TRACE_SPACES_NOWHERE,
               "tags of views, places, names and Python's code differ");

#define FORKS_MAX 64u

/* Until it executes a program, a process has its parent's code. */
static uint64_t of_process(const struct trace_info *info, uint32_t process, uint64_t address,
                           uint64_t time_ns)
{
    const struct trace_processes *p = &info->processes;
    uint64_t found = 0;

    for (uint32_t i = 0; i < FORKS_MAX && found == 0 && process != TRACE_PROCESS_NONE; i++) {
        found = trace_names_of_pid(info->names, p->all[process].pid, address, time_ns);
        process = p->all[process].execs == 0 ? p->all[process].parent : TRACE_PROCESS_NONE;
    }
    return found;
}

uint64_t trace_made_address(const struct trace_info *info, uint32_t space, uint64_t common,
                            uint64_t time_ns)
{
    const struct trace_spaces *spaces = &info->processes.spaces;
    uint64_t tag = common >> TRACE_SPACES_TAG_SHIFT, address = common & ~TRACE_SPACES_TAGS, found;

    if (info->names == NULL || info->names->made_count == 0 ||
        (tag != 0 && tag != TRACE_SPACES_NOWHERE) || trace_spaces_shows(spaces, space, address))
        return common;
    found = of_process(info, spaces->all[space].process, address, time_ns);
    return found != 0 ? found : common;
}

void trace_made_samples(const struct trace_info *info, struct trace_slot *slots, uint32_t count)
{
    const struct trace_processes *p = &info->processes;
    bool processes = trace_processes_any(p);
    uint32_t process, space = 0;
    uint64_t until = 0;

    if (info->names == NULL || info->names->made_count == 0 || count == 0)
        return;
    process = processes ? trace_processes_of(p, slots[0].tid, slots[0].time) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time_ns = trace_info_time_ns(info, slots[i].time);

        if (processes && (i == 0 || slots[i].time >= until))
            space = trace_processes_space(p, process, slots[i].time, &until);
        slots[i].ip = processes ? trace_made_address(info, space, slots[i].ip, time_ns)
                                : trace_names_place(info->names, slots[i].ip, time_ns);
    }
}
