/* Prints the figures of a run as one JSON object; the keys are a stable interface. */
#include <errno.h>
#include <jansson.h>

#include "host/summary.h"
#include "host/text.h"

static json_t *number(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

/* A string from the trace: invalid UTF-8 and control characters are escaped first. */
static json_t *string(const char *text)
{
    char safe[16384];

    return json_string(text_escape(safe, sizeof safe, text));
}

static json_t *spread(const struct summary_spread *s)
{
    return json_pack("{s:o, s:o, s:o}", "p50", number(s->p50_ns), "p99", number(s->p99_ns), "max",
                     number(s->max_ns));
}

static json_t *interval(const struct summary *s)
{
    json_t *object = spread(&s->interval);
    uint64_t requested = trace_info_ns(&s->info, s->info.sampling.interval_ticks);

    if (object != NULL)
        json_object_set_new(object, "requested", number(requested));
    return object;
}

static json_t *events(const struct summary *s)
{
    json_t *array = json_array();
    char room[16];
    bool whole;

    for (uint32_t i = 0; i < s->info.event_count; i++) {
        uint64_t total = summary_event_total(s, i, &whole);

        json_array_append_new(array, json_pack("{s:o, s:o, s:s, s:b}", "name",
                                               string(trace_info_event_name(&s->info, i, room)),
                                               "total", number(total), "source",
                                               trace_info_source(s->info.events[i].meta.source),
                                               "complete", whole));
    }
    return array;
}

static json_t *cost(const struct summary *s)
{
    const struct hr_meta_calibration *c = &s->info.calibration;

    if (!s->info.has_calibration)
        return json_pack("{s:n, s:n, s:o}", "sample_ns", "rdpmc_ns", "read_ns", spread(&s->cost));
    return json_pack("{s:o, s:o, s:o}", "sample_ns",
                     number(trace_info_ns(&s->info, c->sample_ticks)), "rdpmc_ns",
                     number(trace_info_ns(&s->info, c->rdpmc_ticks)), "read_ns", spread(&s->cost));
}

static json_t *clock_object(const struct trace_info *info)
{
    return json_pack("{s:o, s:s, s:b}", "ticks_per_second", number(info->clock.ticks_per_second),
                     "method", trace_info_clock_method(info->clock.method), "known",
                     info->has_clock);
}

/* instructions:u is exact where virtual time counts it and one CPU runs everything. */
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
    snprintf(ip, sizeof ip, "0x%llx", (unsigned long long)f->ip);
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->address);
    return json_pack("{s:i, s:s, s:s, s:o, s:i, s:i}", "signal", (int)(f->signal & 0xff), "ip", ip,
                     "address", address, "symbol", string(s->fault_place), "vector",
                     (int)(f->vector & 0xff), "tid", (int)f->tid);
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value != NULL ? value : json_null());
}

int summary_print_json(FILE *out, const struct summary *s)
{
    const struct trace_info *info = &s->info;
    json_t *object = json_object();
    int status = summary_exit_status(s);
    int error;

    set(object, "samples", number(s->samples));
    set(object, "lost", number(s->lost));
    set(object, "duration_ns", number(s->duration_ns));
    set(object, "interval_ns", interval(s));
    set(object, "bytes", number(s->bytes));
    set(object, "emulated", json_boolean(info->sampling.flags & HR_SAMPLING_EMULATED));
    set(object, "exit_status", status >= 0 ? json_integer(status) : json_null());
    set(object, "events", events(s));
    set(object, "cost", cost(s));
    set(object, "mode", json_string(trace_info_mode(info->sampling.mode)));
    set(object, "program", string(trace_info_text(info, "program.path", "")));
    set(object, "arguments", string(trace_info_text(info, "program.args", "")));
    set(object, "instructions_exact", json_boolean(instructions_exact(info)));
    set(object, "clock", clock_object(info));
    set(object, "fault", fault(s));
    set(object, "complete", json_boolean(s->complete));
    set(object, "damaged_chunks", number(s->damaged_chunks));
    set(object, "missing_chunks", number(s->missing_chunks));
    set(object, "missing_samples", number(s->gone));
    error = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    fputc('\n', out);
    return error == 0 || ferror(out) ? 0 : -ENOMEM;
}
