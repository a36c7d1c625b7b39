/* Prints the figures of a run as one JSON object; the keys are a stable interface. */
#include <jansson.h>
#include <stdlib.h>

#include "host/base/json.h"
#include "host/machine/machine_print.h"
#include "host/summary/summary.h"
#include "host/trace/trace_info.h"

static json_t *figures(const struct trace_region_figures *f)
{
    json_t *object = json_object();
    double mean = f->passes != 0 ? (double)f->sum / (double)f->passes : 0.0;

    json_object_set_new(object, "sum", json_number(f->sum));
    json_object_set_new(object, "min", json_number(f->min));
    json_object_set_new(object, "max", json_number(f->max));
    json_object_set_new(object, "mean", json_real(mean));
    json_object_set_new(object, "p50", json_number(trace_region_percentile(f, 0.50)));
    json_object_set_new(object, "p99", json_number(trace_region_percentile(f, 0.99)));
    return object;
}

static json_t *region_events(const struct trace_info *info, const struct trace_region *region)
{
    json_t *array = json_array();
    char room[16];

    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++) {
        json_t *object;

        if (region->figures[i].records == 0)
            continue;
        object = figures(&region->figures[i]);
        json_object_set_new(object, "name", json_text(trace_info_event_name(info, i, room)));
        json_array_append_new(array, object);
    }
    return array;
}

/* Returns an array, empty if the program named no region; NULL if out of memory. */
static json_t *regions_json(const struct trace_info *info)
{
    json_t *array = json_array();

    for (size_t i = 0; i < info->regions.count; i++) {
        const struct trace_region *region = &info->regions.all[i];

        json_array_append_new(array, json_pack("{s:o, s:o, s:i, s:o, s:o}", "name",
                                               json_text(region->name), "passes",
                                               json_number(trace_region_passes(region)), "threads",
                                               (int)region->threads, "ticks",
                                               figures(&region->figures[TRACE_REGION_TIME]),
                                               "events", region_events(info, region)));
    }
    return array;
}

static json_t *spread(const struct summary_spread *s)
{
    return json_pack("{s:o, s:o, s:o}", "p50", json_number(s->p50_ns), "p99",
                     json_number(s->p99_ns), "max", json_number(s->max_ns));
}

static json_t *interval(const struct summary *s)
{
    json_t *object = spread(&s->interval);
    uint64_t requested = trace_info_interval_ns(&s->info);

    if (object != NULL)
        json_object_set_new(object, "requested", json_number(requested));
    return object;
}

/* The part of the run that the figures describe; null: all of it. */
static json_t *selection(const struct summary *s)
{
    if (!s->selected)
        return json_null();
    return json_pack("{s:o, s:o}", "from_ns", json_number(s->from_ns), "to_ns",
                     json_number(s->to_ns));
}

static json_t *events(const struct summary *s)
{
    json_t *array = json_array();
    char room[16];
    bool whole;

    for (uint32_t i = 0; i < s->info.event_count; i++) {
        uint64_t total = summary_event_total(s, i, &whole);

        json_array_append_new(array, json_pack("{s:o, s:o, s:s, s:b}", "name",
                                               json_text(trace_info_event_name(&s->info, i, room)),
                                               "total", json_number(total), "source",
                                               trace_info_source(s->info.events[i].meta.source),
                                               "complete", whole));
    }
    return array;
}

static json_t *cost(const struct summary *s)
{
    const struct hr_meta_calibration *c = &s->info.calibration;

    if (!s->info.has_calibration)
        return json_pack("{s:n, s:n, s:n, s:o}", "sample_ns", "rdpmc_ns", "late_ns", "read_ns",
                         spread(&s->cost));
    return json_pack(
        "{s:o, s:o, s:o, s:o}", "sample_ns", json_number(trace_info_ns(&s->info, c->sample_ticks)),
        "rdpmc_ns", json_number(trace_info_ns(&s->info, c->rdpmc_ticks)), "late_ns",
        json_number(trace_info_ns(&s->info, c->late_ticks)), "read_ns", spread(&s->cost));
}

/* For overflow sampling; null in other modes. */
static json_t *period(const struct summary_period *p)
{
    if (p->first == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "first", json_number(p->first), "last",
                     json_number(p->last), "median", json_number(p->median), "changes",
                     json_number(p->changes));
}

static json_t *rate(const struct summary *s)
{
    if (s->rate_hz <= 0)
        return json_null();
    return json_pack("{s:f, s:f}", "mean", s->rate_hz, "last_half", s->rate_last_half_hz);
}

static json_t *activity(const struct trace_info *info)
{
    const struct hr_rec_activity *sum = &info->activity.sum;

    if (!info->has_activity)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "interruptions", json_number(sum->interruptions),
                     "switches", json_number(sum->switches), "slices", json_number(sum->slices),
                     "blocks", json_number(sum->blocks), "wakeups", json_number(sum->wakeups));
}

/* How sampling was limited for the program's share. */
static json_t *share(const struct trace_info *info)
{
    const struct trace_share *sum = &info->share;
    const char *percent = trace_info_text(info, "sampling.max_overhead", NULL);
    const char *every = trace_info_text(info, "sampling.counters_every", "1");

    if (!info->has_share)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "skipped", json_number(sum->skipped),
                     "spacing_ns", json_number(trace_info_ns(info, sum->spacing_ticks)),
                     "stolen_ns", sum->steal_known ? json_number(sum->stolen_ns) : json_null(),
                     "max_overhead_percent",
                     percent != NULL ? json_number(strtoull(percent, NULL, 10)) : json_null(),
                     "counters_every", json_number(strtoull(every, NULL, 10)));
}

static json_t *nmi(const struct trace_info *info)
{
    if (!info->has_nmis)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "samples", json_number(info->nmis.samples), "spurious",
                     json_number(info->nmis.spurious), "unknown", json_number(info->nmis.unknown));
}

static json_t *clock_object(const struct trace_info *info)
{
    return json_pack("{s:o, s:s, s:b}", "ticks_per_second",
                     json_number(info->clock.ticks_per_second), "method",
                     trace_info_clock_method(info->clock.method), "known", info->has_clock);
}

/* instructions:u is exact if virtual time counts it and one CPU runs everything. */
static bool instructions_exact(const struct trace_info *info)
{
    bool any = false;

    for (uint32_t i = 0; i < info->event_count; i++)
        any |= info->events[i].meta.source == HR_SOURCE_ICOUNT;
    return any && (info->sampling.flags & HR_SAMPLING_INEXACT) == 0;
}

static json_t *fault(const struct summary *s)
{
    const struct hr_rec_fault *f = &s->info.fault;
    char ip[24], address[24];

    if (!s->info.has_fault)
        return json_null();
    snprintf(ip, sizeof ip, "0x%lx", f->ip);
    snprintf(address, sizeof address, "0x%lx", f->address);
    return json_pack("{s:i, s:s, s:s, s:o, s:i, s:i}", "signal", (int)(f->signal & 0xff), "ip", ip,
                     "address", address, "symbol", json_text(s->fault_place), "vector",
                     (int)(f->vector & 0xff), "tid", (int)f->tid);
}

static json_t *info_number(const struct trace_info *info, const char *key)
{
    const char *text = trace_info_text(info, key, NULL);

    return text != NULL ? json_number(strtoull(text, NULL, 10)) : NULL;
}

static json_t *wall_time(const struct trace_info *info)
{
    return info->host_end.wall_ns != 0 ? json_number(info->host_end.wall_ns) : NULL;
}

static json_t *instruction_rate(const struct summary *s)
{
    double rate = s->selected ? 0 : summary_instructions_per_second(s);

    return rate > 0 ? json_real(rate) : NULL;
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value != NULL ? value : json_null());
}

json_t *summary_json(const struct summary *s)
{
    const struct trace_info *info = &s->info;
    json_t *object = json_object();
    int status = summary_exit_status(s);

    set(object, "samples", json_number(s->samples));
    set(object, "lost", json_number(s->lost));
    set(object, "page_faults", info_number(info, "run.page_faults"));
    set(object, "peak_memory_bytes", info_number(info, "run.memory_peak"));
    set(object, "working_set", summary_memory_json(&s->memory, info));
    set(object, "duration_ns", json_number(s->duration_ns));
    set(object, "wall_ns", wall_time(info));
    set(object, "instructions_per_second", instruction_rate(s));
    set(object, "selection", selection(s));
    set(object, "interval_ns", interval(s));
    if (s->info.sampling.mode == HR_MODE_IPI)
        set(object, "skew_ns", spread(&s->skew));
    set(object, "bytes", json_number(s->bytes));
    set(object, "emulated", json_boolean(info->sampling.flags & HR_SAMPLING_EMULATED));
    set(object, "exit_status", status >= 0 ? json_integer(status) : json_null());
    set(object, "events", events(s));
    set(object, "cost", cost(s));
    set(object, "stacks", summary_stacks_json(&s->stacks, &s->info));
    set(object, "mode", json_string(trace_info_mode(info->sampling.mode)));
    set(object, "paused", json_boolean(info->sampling.flags & HR_SAMPLING_PAUSED));
    set(object, "polled", json_number(s->polled));
    set(object, "period", period(&s->period));
    set(object, "frequency_hz", json_number(info->sampling.frequency_hz));
    set(object, "rate_hz", rate(s));
    set(object, "nmi", nmi(info));
    set(object, "activity", activity(info));
    set(object, "share", share(info));
    set(object, "precise", summary_precise_json(&s->precise, info));
    set(object, "probes", summary_probes_json(&s->probes, info));
    set(object, "allocations", summary_probes_allocations(info, &s->allocations));
    set(object, "calls", summary_probes_calls(info));
    set(object, "requests", summary_probes_requests(&s->probes));
    set(object, "processes", summary_processes_json(&s->processes, info));
    set(object, "regions", regions_json(info));
    set(object, "program", json_text(trace_info_text(info, "program.path", "")));
    set(object, "arguments", json_text(trace_info_text(info, "program.args", "")));
    set(object, "instructions_exact", json_boolean(instructions_exact(info)));
    set(object, "clock", clock_object(info));
    set(object, "machine", machine_json(info));
    set(object, "fault", fault(s));
    set(object, "complete", json_boolean(s->complete));
    if (s->growing)
        set(object, "growing", json_true());
    set(object, "damaged_chunks", json_number(s->damaged_chunks));
    set(object, "missing_chunks", json_number(s->missing_chunks));
    set(object, "missing_samples", json_number(s->gone));
    return object;
}

int summary_print_json(FILE *out, const struct summary *s)
{
    return json_print(out, summary_json(s));
}
