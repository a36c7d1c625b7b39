/* Summarises a run in one pass over its trace. */
#include "host/summary/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/units.h"
#include "host/scan/trace_parallel.h"
#include "host/summary/gather.h"
#include "host/symbols/symbols.h"

static struct summary_spread spread(const struct trace_info *info, const struct histogram *h)
{
    return (struct summary_spread){
        .count = h->count,
        .p50_ns = trace_info_ns(info, histogram_percentile(h, 0.50)),
        .p99_ns = trace_info_ns(info, histogram_percentile(h, 0.99)),
        .max_ns = trace_info_ns(info, h->largest),
    };
}

static void place_fault(struct summary *s)
{
    struct symbols *symbols;
    struct symbols_place place;
    const struct hr_rec_fault *fault = &s->info.fault;
    uint64_t address =
        trace_processes_address(&s->info.processes, fault->tid, fault->time, fault->ip);

    if (!s->info.has_fault || symbols_open(&symbols, &s->info, NULL) != 0)
        return;
    if (symbols_find(symbols, address, &place) && place.name != NULL)
        snprintf(s->fault_place, sizeof s->fault_place, "%.200s+0x%lx", place.name, place.offset);
    symbols_close(symbols);
}

static void set_span(struct summary *s, const struct trace_scan *scan, const struct gather *g)
{
    uint64_t end =
        trace_info_time_ns(&s->info, s->info.has_exit ? s->info.exit.time : g->time_last);

    s->run_ns = end;
    s->from_ns = scan->selection.from_ns;
    s->to_ns = scan->selection.to_ns < end ? scan->selection.to_ns : end;
    s->duration_ns = s->to_ns > s->from_ns ? s->to_ns - s->from_ns : 0;
}

/* Moves data into the summary; the info remains the scan's own. */
static void conclude(struct summary *s, const struct trace_scan *scan, struct gather *g)
{
    s->selected = !selection_is_all(&scan->selection);
    s->info = scan->info;
    s->growing = scan->file.growing;
    s->bytes = scan->file.file_bytes;
    s->samples = g->costs.count;
    s->lost = s->selected ? g->lost : scan->audit.lost;
    s->gone = scan->audit.gone;
    s->complete = scan->partial || trace_audit_complete(&scan->audit);
    s->damaged_chunks = scan->audit.damage_count;
    s->missing_chunks = scan->audit.missing_chunks;
    set_span(s, scan, g);
    s->interval = spread(&s->info, &g->intervals);
    s->polled = g->polled;
    summary_overflow_conclude(&g->overflow, s);
    s->cost = spread(&s->info, &g->costs);
    s->stacks = g->stacks;
    s->processes = g->processes;
    s->memory = g->memory;
    s->probes = g->probes;
    s->precise = g->precise;
    g->probes = (struct summary_probes){0};
    g->processes = (struct summary_processes){0};
    g->memory = (struct summary_memory){0};
    skew_finish(&g->skew);
    s->skew = spread(&s->info, &g->skew.spreads);
    for (uint32_t cpu = 0; cpu < g->cpu_limit; cpu++)
        for (uint32_t i = 0; i < s->info.event_count; i++)
            s->last[i] += g->cpus[cpu].counters[i];
    memcpy(s->sums, g->sums, sizeof s->sums);
    place_fault(s);
}

static void take_all(struct summary *s, struct trace_scan *scan, struct gather *g)
{
    conclude(s, scan, g);
    trace_info_init(&scan->info);
}

struct gathering {
    struct trace_scan *scan;
    struct gather sum;
};

static void *join(void *owner, struct trace_scan *scan)
{
    struct gathering *all = owner;
    struct gather *g = malloc(sizeof *g);

    (void)scan; /* may have a temporary copy of the info */
    if (g == NULL || gather_init(g, &all->scan->info, &all->scan->selection) == 0)
        return g;
    gather_free(g);
    free(g);
    return NULL;
}

static void leave(void *, void *context)
{
    gather_free(context);
    free(context);
}

/* The first part becomes the sum, because some figures cannot be added to an empty one. */
static int take(void *owner, void *context)
{
    struct gathering *all = owner;
    struct gather first = all->sum;

    if (all->sum.info != NULL)
        return gather_merge(&all->sum, context);
    all->sum = *(struct gather *)context;
    *(struct gather *)context = first; /* all zero: nothing to free */
    return 0;
}

static bool divides(void *, const struct trace_info *info)
{
    return gather_divides(info);
}

static int summarise(struct trace_scan *scan, unsigned int jobs, struct summary *summary)
{
    struct gathering all = {.scan = scan};
    const struct trace_team team = {
        .owner = &all,
        .visitor = gather_visitor,
        .join = join,
        .take = take,
        .leave = leave,
        .divides = divides,
    };
    int error = trace_parallel_run(scan, &team, jobs);

    if (error == 0)
        take_all(summary, scan, &all.sum);
    gather_free(&all.sum);
    return error;
}

/* Allocations have to be read in the order of time. */
static int read_allocations(const struct trace_scan *scan, struct summary *summary)
{
    struct trace_scan again;
    int error;

    if (!memory_heap_any(&summary->info))
        return 0;
    error = trace_scan_again(&again, scan);
    if (error != 0)
        return error;
    error = memory_totals_read(&summary->allocations, &again);
    trace_scan_close(&again);
    return error;
}

static void begin(struct summary *summary, const char *path)
{
    memset(summary, 0, sizeof *summary);
    trace_info_init(&summary->info);
    snprintf(summary->path, sizeof summary->path, "%s", path);
}

int summary_of_part(const char *path, struct selection *selection, unsigned int jobs,
                    struct summary *summary)
{
    struct trace_scan scan;
    int error = trace_scan_open(&scan, path);

    begin(summary, path);
    if (error != 0)
        return error;
    scan.selection = *selection; /* the scan frees it */
    selection_init(selection);
    scan.jobs = jobs;
    error = summarise(&scan, jobs, summary);
    if (error == 0)
        error = read_allocations(&scan, summary);
    trace_scan_close(&scan);
    return error;
}

int summary_from_file(const char *path, struct summary *summary)
{
    struct selection everything;

    selection_init(&everything);
    return summary_of_part(path, &everything, 0, summary);
}

struct summary_growing {
    struct trace_scan *scan;
    const char *path;
    struct gather sum;
};

struct summary_growing *summary_growing_new(struct trace_scan *scan, const char *path)
{
    struct summary_growing *g = calloc(1, sizeof *g);

    if (g == NULL)
        return NULL;
    g->scan = scan;
    g->path = path;
    if (gather_init(&g->sum, &scan->info, &scan->selection) == 0)
        return g;
    summary_growing_free(g);
    return NULL;
}

void summary_growing_free(struct summary_growing *g)
{
    gather_free(&g->sum);
    free(g);
}

int summary_growing_read(struct summary_growing *g)
{
    struct trace_visitor visitor = gather_visitor;

    visitor.context = &g->sum;
    return trace_scan_run(g->scan, &visitor);
}

int summary_growing_now(struct summary_growing *g, struct summary *summary)
{
    struct summary_probes probes = g->sum.probes;
    struct gather copy;
    int error = gather_init(&copy, &g->scan->info, &g->scan->selection);

    begin(summary, g->path);
    if (error == 0)
        error = gather_merge(&copy, &g->sum);
    if (error == 0)
        conclude(summary, g->scan, &copy);
    copy.probes = (struct summary_probes){0}; /* what merging moved is still the sum's */
    g->sum.probes = probes;
    gather_free(&copy);
    return error;
}

void summary_growing_forget(struct summary *summary)
{
    summary->probes = (struct summary_probes){0};
    trace_info_init(&summary->info);
    summary_free(summary);
}

int summary_growing_finish(struct summary_growing *g, struct summary *summary)
{
    begin(summary, g->path);
    take_all(summary, g->scan, &g->sum);
    return read_allocations(g->scan, summary);
}

void summary_free(struct summary *summary)
{
    trace_info_free(&summary->info);
    summary_processes_free(&summary->processes);
    summary_memory_free(&summary->memory);
    summary_probes_free(&summary->probes);
}

int summary_exit_status(const struct summary *summary)
{
    const struct trace_info *info = &summary->info;

    if (!info->has_exit)
        return info->has_host_end && info->host_end.reason == HR_HOST_TIMEOUT ? 124 : -1;
    switch (info->exit.kind) {
    case HR_EXIT_STATUS:
        return (int)(info->exit.code & 255);
    case HR_EXIT_SIGNAL:
        return 128 + (int)(info->exit.code & 127);
    case HR_EXIT_TIMEOUT:
        return 124;
    case HR_EXIT_REFUSED:
        return info->exit.code == ENOENT ? 127 : 126;
    default:
        return -1;
    }
}

uint64_t summary_event_total(const struct summary *summary, uint32_t event, bool *whole)
{
    *whole = summary->info.events[event].has_total || summary->selected;
    if (summary->selected)
        return summary->sums[event];
    return *whole ? summary->info.events[event].total : summary->last[event];
}

double summary_instructions_per_second(const struct summary *summary)
{
    const struct trace_info *info = &summary->info;
    char room[16];
    bool whole;

    for (uint32_t i = 0; i < info->event_count && info->host_end.wall_ns != 0; i++) {
        const char *name = trace_info_event_name(info, i, room);

        if (strncmp(name, "instructions", strlen("instructions")) == 0)
            return (double)summary_event_total(summary, i, &whole) * UNITS_SECOND /
                   (double)info->host_end.wall_ns;
    }
    return 0;
}
