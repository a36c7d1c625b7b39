/* Gathers the figures of a run in one pass over its trace. */
#include "host/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/histogram.h"
#include "host/skew.h"
#include "host/summary_overflow.h"
#include "host/symbols.h"
#include "host/trace_scan.h"

struct cpu_state {
    uint64_t time; /* of the last sample */
    bool running; /* it and the next sample make an interval */
    uint64_t counters[HR_EVENTS_MAX];
};

struct gather {
    const struct trace_info *info;
    struct cpu_state *cpus; /* 65536, untouched pages cost nothing */
    struct histogram intervals;
    struct histogram costs;
    struct overflow overflow;
    uint64_t polled;
    struct skew skew; /* --mode ipi */
    uint64_t time_last;
    uint16_t cpu_limit; /* one more than the largest CPU number seen, saturating */
};

static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct gather *g = context;

    if (!continues)
        g->cpus[chunk->header.cpu].running = false;
    overflow_chunk(&g->overflow, chunk, continues);
    if (chunk->header.cpu >= g->cpu_limit)
        g->cpu_limit =
            chunk->header.cpu == UINT16_MAX ? UINT16_MAX : (uint16_t)(chunk->header.cpu + 1);
    if (chunk->header.time_last > g->time_last)
        g->time_last = chunk->header.time_last;
    return 0;
}

/* Samples that make no interval: the program asked for them, or they come after a pause. */
static bool take_untimed(struct gather *g, struct cpu_state *cpu,
                         const struct trace_samples *samples)
{
    const struct trace_slot *last = &samples->slots[samples->count - 1];
    bool polled =
        (last->flags & HR_SAMPLE_POLLED) != 0 && g->info->sampling.mode != HR_MODE_INSTRUCTED;

    if (!polled && (last->flags & HR_SAMPLE_RESUMED) == 0)
        return false;
    for (uint32_t i = 0; i < samples->count; i++)
        histogram_add(&g->costs, samples->slots[i].cost_ticks);
    if (!polled) {
        cpu->time = last->time;
        cpu->running = true;
    }
    return true;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct gather *g = context;
    struct cpu_state *cpu = &g->cpus[samples->chunk->cpu];
    const struct trace_slot *slot = samples->slots;
    const struct trace_slot *end = slot + samples->count;
    uint64_t time = cpu->time;

    skew_add(&g->skew, samples);
    overflow_samples(&g->overflow, samples);
    g->polled += (slot->flags & HR_SAMPLE_POLLED) != 0 ? samples->count : 0;
    memcpy(cpu->counters, end[-1].counters, samples->event_count * sizeof cpu->counters[0]);
    if (take_untimed(g, cpu, samples))
        return 0;
    if (!cpu->running) {
        time = slot->time;
        histogram_add(&g->costs, slot->cost_ticks);
        slot++;
    }
    for (; slot < end; slot++) {
        if (slot->time >= time) /* else the clock went back: hr check says so */
            histogram_add(&g->intervals, slot->time - time);
        histogram_add(&g->costs, slot->cost_ticks);
        time = slot->time;
    }
    cpu->time = time;
    cpu->running = true;
    return 0;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct gather *g = context;

    if (record->type == HR_META_SAMPLING || record->type == HR_META_CLOCK)
        skew_set_grid(&g->skew, g->info);
    if (record->type == HR_REC_LOST || record->type == HR_REC_GAP || record->type == HR_REC_SWITCH)
        g->cpus[chunk->header.cpu].running = false;
    overflow_record(&g->overflow, chunk, record);
    return 0;
}

static int gather_init(struct gather *g, const struct trace_info *info)
{
    int error;

    memset(g, 0, sizeof *g);
    g->info = info;
    g->cpus = calloc(65536, sizeof g->cpus[0]);
    error = g->cpus != NULL ? 0 : -ENOMEM;
    if (error == 0)
        error = histogram_init(&g->intervals);
    if (error == 0)
        error = histogram_init(&g->costs);
    if (error == 0)
        error = overflow_init(&g->overflow, info);
    if (error == 0)
        error = skew_init(&g->skew);
    return error;
}

static void gather_free(struct gather *g)
{
    histogram_free(&g->intervals);
    histogram_free(&g->costs);
    overflow_free(&g->overflow);
    skew_free(&g->skew);
    free(g->cpus);
}

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

    if (!s->info.has_fault || symbols_open(&symbols, &s->info, NULL) != 0)
        return;
    if (symbols_find(symbols, s->info.fault.ip, &place) && place.name != NULL)
        snprintf(s->fault_place, sizeof s->fault_place, "%.200s+0x%llx", place.name,
                 (unsigned long long)place.offset);
    symbols_close(symbols);
}

/* Moves what the scan knows into the summary. */
static void conclude(struct summary *s, struct trace_scan *scan, struct gather *g)
{
    uint64_t end;

    s->info = scan->info;
    trace_info_init(&scan->info);
    s->bytes = scan->file.file_bytes;
    s->samples = g->costs.count;
    s->lost = scan->audit.lost;
    s->gone = trace_audit_samples_gone(&scan->audit, &s->info);
    s->complete = trace_audit_complete(&scan->audit);
    s->damaged_chunks = scan->audit.damage_count;
    s->missing_chunks = scan->audit.missing_chunks;
    end = s->info.has_exit ? s->info.exit.time : g->time_last;
    s->duration_ns = trace_info_time_ns(&s->info, end);
    s->interval = spread(&s->info, &g->intervals);
    s->polled = g->polled;
    overflow_conclude(&g->overflow, s);
    s->cost = spread(&s->info, &g->costs);
    skew_finish(&g->skew);
    s->skew = spread(&s->info, &g->skew.spreads);
    for (uint32_t cpu = 0; cpu < g->cpu_limit; cpu++)
        for (uint32_t i = 0; i < s->info.event_count; i++)
            s->last[i] += g->cpus[cpu].counters[i];
    place_fault(s);
}

int summary_from_file(const char *path, struct summary *summary)
{
    struct gather g;
    struct trace_visitor visitor = {
        .context = &g,
        .chunk = take_chunk,
        .samples = take_samples,
        .record = take_record,
    };
    struct trace_scan scan;
    int error = trace_scan_open(&scan, path);

    memset(summary, 0, sizeof *summary);
    trace_info_init(&summary->info);
    snprintf(summary->path, sizeof summary->path, "%s", path);
    if (error != 0)
        return error;
    error = gather_init(&g, &scan.info);
    if (error == 0)
        error = trace_scan_run(&scan, &visitor);
    if (error == 0)
        conclude(summary, &scan, &g);
    gather_free(&g);
    trace_scan_close(&scan);
    return error;
}

void summary_free(struct summary *summary)
{
    trace_info_free(&summary->info);
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
    *whole = summary->info.events[event].has_total;
    return *whole ? summary->info.events[event].total : summary->last[event];
}
