/* Writes the trace's processes as JSON. */
#include "host/view/data/view_processes.h"

#include "host/base/json.h"

#define NAMES_MAX 100u /* of one process */

static json_t *ticks(const struct trace_info *info, uint64_t time)
{
    uint64_t start = info->clock.start_ticks;

    return json_number(time > start ? time - start : 0);
}

/* When it began to run what. */
static json_t *names_of(const struct trace_info *info, const struct trace_process *process)
{
    const struct trace_processes *p = &info->processes;
    json_t *names = json_array();
    uint32_t count = 0;

    for (uint32_t i = process->first_path; i != TRACE_PROCESS_NONE && count < NAMES_MAX;
         i = p->paths[i].next) {
        uint32_t number = (uint32_t)(process - p->all);

        if (!p->paths[i].exec)
            continue;
        json_array_append_new(
            names, json_pack("[o, o]", ticks(info, p->paths[i].time),
                             json_text(trace_info_process_name(info, number, p->paths[i].time))));
        count++;
    }
    return names;
}

json_t *view_processes(const struct trace_info *info)
{
    const struct trace_processes *p = &info->processes;
    json_t *array = json_array();
    char ending[TRACE_INFO_STATUS_BYTES];

    for (uint32_t i = 0; i < p->count && i < VIEW_PROCESSES_MAX; i++) {
        const struct trace_process *process = &p->all[i];
        bool parent = process->parent != TRACE_PROCESS_NONE;

        json_array_append_new(
            array,
            json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "pid", (json_int_t)process->pid,
                      "parent", parent ? json_integer(p->all[process->parent].pid) : json_null(),
                      "name", json_text(trace_info_process_name(info, i, UINT64_MAX)), "names",
                      names_of(info, process), "start", ticks(info, process->start), "end",
                      process->ended ? ticks(info, process->end) : json_null(), "ending",
                      process->ended ? json_string(trace_info_status(process->status, ending))
                                     : json_null()));
    }
    return array;
}
