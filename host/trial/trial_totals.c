/* Takes the totals of a run from its trace. */
#include "host/trial/trial_totals.h"

#include <stdio.h>
#include <string.h>

#include "host/scan/trace_scan.h"

void trial_totals_take(struct trial_totals *totals, const struct trace_info *info)
{
    char room[64];

    *totals = (struct trial_totals){.event_count = info->event_count};
    for (uint32_t i = 0; i < info->event_count; i++) {
        snprintf(totals->names[i], sizeof totals->names[i], "%s",
                 trace_info_event_word(info, i, room));
        totals->sources[i] = info->events[i].meta.source;
        totals->totals[i] = info->events[i].total;
    }
    totals->duration_ns = info->has_exit ? trace_info_time_ns(info, info->exit.time) : 0;
    totals->exact = info->clock.method == HR_CLOCK_VIRTUAL;
    totals->complete = info->has_exit;
}

int trial_totals_read(struct trial_totals *totals, const char *path)
{
    static struct trace_scan scan;
    const struct trace_visitor visitor = {0};
    int error = trace_scan_open(&scan, path);

    if (error != 0)
        return error;
    scan.progress.line.enabled = false;
    error = trace_scan_run(&scan, &visitor);
    if (error == 0)
        trial_totals_take(totals, &scan.info);
    trace_scan_close(&scan);
    return error;
}

int trial_totals_find(const struct trial_totals *totals, const char *name)
{
    size_t bytes = strlen(name);

    if (bytes > 2 && strcmp(name + bytes - 2, ":u") == 0)
        bytes -= 2;
    for (uint32_t i = 0; i < totals->event_count; i++)
        if (strncmp(totals->names[i], name, bytes) == 0 &&
            (totals->names[i][bytes] == 0 || totals->names[i][bytes] == ':'))
            return (int)i;
    return -1;
}
