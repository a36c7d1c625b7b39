/* Counts and shows what each process took. */
#include "host/summary/summary_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/json.h"
#include "host/base/text.h"

#define SHOWN_MAX 20u

void summary_processes_free(struct summary_processes *processes)
{
    free(processes->all);
    *processes = (struct summary_processes){0};
}

static int make_room(struct summary_processes *p, uint32_t count)
{
    struct summary_process *all;

    if (count <= p->count)
        return 0;
    count += count / 2 + 16;
    all = reallocarray(p->all, count, sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    memset(all + p->count, 0, (count - p->count) * sizeof *all);
    p->all = all;
    p->count = count;
    return 0;
}

int summary_processes_samples(struct summary_processes *p, const struct trace_info *info,
                              const struct trace_samples *samples)
{
    const struct trace_slot *slots = samples->slots, *last = &slots[samples->count - 1];
    uint32_t number;

    if (!trace_processes_any(&info->processes))
        return 0;
    number = trace_processes_of(&info->processes, slots[0].tid, slots[0].time);
    if (make_room(p, number + 1) != 0)
        return -ENOMEM;
    p->all[number].samples += samples->count;
    if ((last->flags & HR_SAMPLE_RESUMED) != 0)
        return 0;
    for (uint32_t i = 0; i < samples->event_count; i++)
        p->all[number].sums[i] += last->counters[i] - samples->previous->counters[i];
    return 0;
}

int summary_processes_merge(struct summary_processes *p, const struct summary_processes *next)
{
    if (make_room(p, next->count) != 0)
        return -ENOMEM;
    for (uint32_t n = 0; n < next->count; n++) {
        p->all[n].samples += next->all[n].samples;
        for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
            p->all[n].sums[i] += next->all[n].sums[i];
    }
    return 0;
}

static struct summary_process figures_of(const struct summary_processes *p, uint32_t number)
{
    return number < p->count ? p->all[number] : (struct summary_process){0};
}

/* The event that the table shows: instructions, else the first; -1: there is none. */
static int shown_event(const struct trace_info *info)
{
    int event = trace_info_find_event(info, "instructions");

    return event < 0 && info->event_count != 0 ? 0 : event;
}

/* The least number of samples that a process needs to be shown. */
static uint64_t least_shown(const struct summary_processes *p, uint32_t count)
{
    uint64_t low = 0, high = UINT64_MAX;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint32_t above = 0;

        for (uint32_t i = 0; i < count; i++)
            above += figures_of(p, i).samples > middle;
        if (above < SHOWN_MAX)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void print_row(FILE *out, const struct summary_processes *p, const struct trace_info *info,
                      uint32_t number, int event)
{
    const struct trace_process *process = &info->processes.all[number];
    struct summary_process figures = figures_of(p, number);
    char parent[16] = "", samples[TEXT_QUANTITY_BYTES], start[TEXT_QUANTITY_BYTES];
    char sum[TEXT_QUANTITY_BYTES] = "", duration[TEXT_QUANTITY_BYTES] = "";
    char ending[TRACE_INFO_STATUS_BYTES] = "", name[128];
    uint64_t from = trace_info_time_ns(info, process->start);

    if (process->parent != TRACE_PROCESS_NONE)
        snprintf(parent, sizeof parent, "%u", info->processes.all[process->parent].pid);
    if (event >= 0)
        text_count(sum, figures.sums[event]);
    if (process->ended) {
        text_time(duration, (double)(trace_info_time_ns(info, process->end) - from));
        trace_info_status(process->status, ending);
    } else if (info->has_exit) {
        text_time(duration, (double)(trace_info_time_ns(info, info->exit.time) - from));
    }
    fprintf(out, " %7u %7s %12s %16s %10s %10s  %-16s %s\n", process->pid, parent,
            text_count(samples, figures.samples), sum, text_time(start, (double)from), duration,
            ending,
            text_escape(name, sizeof name, trace_info_process_name(info, number, UINT64_MAX)));
}

void summary_processes_print(FILE *out, const struct summary_processes *p,
                             const struct trace_info *info, const char *path)
{
    uint32_t count = info->processes.count, shown = 0;
    uint64_t least = least_shown(p, count);
    int event = shown_event(info);
    char room[16], name[72] = "", number[TEXT_QUANTITY_BYTES];

    if (count == 0)
        return;
    if (event >= 0)
        text_escape(name, sizeof name, trace_info_event_name(info, (uint32_t)event, room));
    fprintf(out, " %7s %7s %12s %16s %10s %10s  %-16s %s\n", "pid", "parent", "samples", name,
            "start", "duration", "end", "process");
    for (uint32_t i = 0; i < count && shown < SHOWN_MAX; i++) {
        if (figures_of(p, i).samples < least)
            continue;
        print_row(out, p, info, i, event);
        shown++;
    }
    if (shown < count)
        fprintf(out,
                " Processes: %s, of which these have the most samples; all: hr stat --json %s\n",
                text_count(number, count), path);
    fputc('\n', out);
}

static json_t *process_json(const struct summary_processes *p, const struct trace_info *info,
                            uint32_t number)
{
    const struct trace_process *process = &info->processes.all[number];
    struct summary_process figures = figures_of(p, number);
    const char *path = trace_processes_path(&info->processes, number, UINT64_MAX);
    json_t *object = json_object(), *events = json_object();
    char ending[TRACE_INFO_STATUS_BYTES], room[16];
    bool ended = process->ended, known = process->parent != TRACE_PROCESS_NONE;

    for (uint32_t i = 0; i < info->event_count; i++)
        json_object_set_new(events, trace_info_event_name(info, i, room),
                            json_number(figures.sums[i]));
    json_object_set_new(object, "pid", json_integer(process->pid));
    json_object_set_new(object, "parent",
                        known ? json_integer(info->processes.all[process->parent].pid)
                              : json_null());
    json_object_set_new(object, "name",
                        json_text(trace_info_process_name(info, number, UINT64_MAX)));
    json_object_set_new(object, "path", path != NULL ? json_text(path) : json_null());
    json_object_set_new(object, "samples", json_number(figures.samples));
    json_object_set_new(object, "events", events);
    json_object_set_new(object, "start_ns", json_number(trace_info_time_ns(info, process->start)));
    json_object_set_new(object, "end_ns",
                        ended ? json_number(trace_info_time_ns(info, process->end)) : json_null());
    json_object_set_new(object, "status", ended ? json_integer(process->status) : json_null());
    json_object_set_new(object, "ending",
                        ended ? json_string(trace_info_status(process->status, ending))
                              : json_null());
    return object;
}

json_t *summary_processes_json(const struct summary_processes *p, const struct trace_info *info)
{
    json_t *array = json_array();

    if (!trace_processes_any(&info->processes)) {
        json_decref(array);
        return NULL;
    }
    for (uint32_t i = 0; i < info->processes.count; i++)
        json_array_append_new(array, process_json(p, info, i));
    return array;
}
