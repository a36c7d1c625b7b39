/* Divides what a trace counted into parts of equal numbers of instructions.
 *
 * The timeline divides it into slices of time first, which adds up the CPUs and keeps the totals;
 * then each slice is spread over the parts in which its instructions lie.
 */
#include "host/sweep/database/sweep_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/timeline/timeline_bins.h"

#define SLICES 8000u

void sweep_trace_machine(const struct trace_info *info, char text[SWEEP_MACHINE_BYTES])
{
    snprintf(text, SWEEP_MACHINE_BYTES, "%.120s, %.40s %.60s",
             trace_info_text(info, "machine.model", "of no name"),
             trace_info_text(info, "machine.vendor", ""),
             trace_info_text(info, "machine.family", ""));
}

struct reading {
    struct trace_scan scan;
    struct timeline timeline;
};

static int take_mark(void *context, const struct trace_chunk *chunk,
                     const struct trace_record *record)
{
    return record->type == HR_REC_MARK ? report_marks_take(context, chunk->header.cpu, record) : 0;
}

/* What all CPUs counted in a slice, and how long it was. */
static void add_up(const struct timeline *t, uint64_t slice, uint32_t events, double *sums)
{
    for (uint32_t e = 0; e < events; e++)
        sums[e] = 0;
    for (uint32_t g = 0; g < t->group_count; g++)
        for (uint32_t e = 0; e < events; e++)
            sums[e] += (double)timeline_bin(t, &t->groups[g], slice)[TIMELINE_EVENTS + e];
    sums[events] = (double)(timeline_bin_start_ns(t, slice + 1) - timeline_bin_start_ns(t, slice));
}

struct axis {
    double at; /* instructions so far */
    double width;
    size_t bins;
};

/* The part that holds an instruction. */
static size_t part_of(const struct axis *axis, double at)
{
    double part = at / axis->width;

    return part < (double)axis->bins ? (size_t)part : axis->bins - 1;
}

static void spread(struct sweep_trace *trace, struct axis *axis, const double *sums)
{
    double end = axis->at + sums[0];
    size_t first = part_of(axis, axis->at), last = part_of(axis, end);

    for (size_t bin = first; bin <= last; bin++) {
        double from = bin == first ? axis->at : (double)bin * axis->width;
        double to = bin == last ? end : (double)(bin + 1) * axis->width;
        double share = sums[0] > 0 ? (to - from) / sums[0] : 1;

        for (uint32_t e = 0; e <= trace->event_count; e++)
            sweep_trace_bin(trace, bin)[e] += share * sums[e];
    }
    axis->at = end;
}

static void name_cpu(struct sweep_trace *trace, const struct trace_info *info)
{
    uint32_t family, model;

    if (sscanf(trace_info_text(info, "machine.family", ""), "family %" SCNu32 " model %" SCNu32,
               &family, &model) == 2)
        snprintf(trace->cpu, sizeof trace->cpu, "%.40s-%" PRIu32 "-%" PRIu32,
                 trace_info_text(info, "machine.vendor", ""), family, model);
}

static int conclude(struct sweep_trace *trace, struct reading *r, double width, size_t bins)
{
    struct trace_info *info = &r->scan.info;
    struct axis axis = {.width = width > 0 ? width : 1, .bins = bins};
    double sums[HR_EVENTS_MAX + 1];

    trace->regions = info->regions;
    info->regions = (struct trace_regions){0};
    if (info->has_exact)
        report_marks_free(&trace->marks);
    trace->event_count = info->event_count;
    sweep_trace_machine(info, trace->machine);
    trace->exact = info->clock.method == HR_CLOCK_VIRTUAL;
    name_cpu(trace, info);
    trace->duration_ns = info->has_exit ? trace_info_time_ns(info, info->exit.time) : 0;
    for (uint32_t e = 0; e < info->event_count; e++) {
        trace->totals[e] = info->events[e].total;
        trace->sources[e] = info->events[e].meta.source;
    }
    trace->bins = calloc(bins * (info->event_count + 1), sizeof trace->bins[0]);
    if (trace->bins == NULL)
        return -ENOMEM;
    for (uint64_t slice = 0; r->timeline.info != NULL && slice < r->timeline.bins; slice++) {
        add_up(&r->timeline, slice, trace->event_count, sums);
        spread(trace, &axis, sums);
    }
    return 0;
}

int sweep_trace_read(struct sweep_trace *trace, const char *path, double width, size_t bins)
{
    const struct timeline_wish wish = {
        .bins = SLICES, .record = take_mark, .context = &trace->marks};
    struct reading *r = calloc(1, sizeof *r);
    int error = r != NULL ? trace_scan_open(&r->scan, path) : -ENOMEM;

    *trace = (struct sweep_trace){0};
    if (error != 0) {
        free(r);
        return error;
    }
    r->scan.progress.line.enabled = false;
    r->scan.jobs = 1; /* traces are read side by side */
    error = timeline_read(&r->timeline, &r->scan, &wish);
    if (error == 0)
        error = conclude(trace, r, width, bins);
    timeline_free(&r->timeline);
    trace_scan_close(&r->scan);
    free(r);
    return error;
}

void sweep_trace_free(struct sweep_trace *trace)
{
    trace_regions_free(&trace->regions);
    report_marks_free(&trace->marks);
    free(trace->bins);
    trace->bins = NULL;
}
