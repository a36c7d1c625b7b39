/* Writes samples and hits of probes as lines. */
#include "host/dump/dump_samples.h"

#include <stdio.h>

#include "host/base/text.h"

void dump_value(struct output *out, const char *name, uint64_t value, bool hex)
{
    output_char(out, ' ');
    output_text(out, name);
    output_char(out, '=');
    if (hex)
        output_hex(out, value);
    else
        output_decimal(out, value);
}

void dump_escaped(struct output *out, const char *key, const void *bytes, size_t count)
{
    static char text[UINT16_MAX + 1], safe[4 * sizeof text];

    snprintf(text, sizeof text, "%.*s", (int)count, (const char *)bytes);
    output_text(out, key);
    output_text(out, text_escape(safe, sizeof safe, text));
    output_char(out, '"');
}

static void put_flags(struct output *out, uint32_t flags)
{
    static const char *const names[] = {"kernel", "late", "polled", "resumed"};
    char before = '(';

    dump_value(out, "flags", flags, false);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((flags >> i & 1) == 0)
            continue;
        output_char(out, before);
        output_text(out, names[i]);
        before = ',';
    }
    if (before == ',')
        output_char(out, ')');
}

/* The innermost frame first, and how the stack ends. */
static void put_stack(struct output *out, const struct stacks *stacks, uint32_t node)
{
    static const char *const roots[] = {"none", "whole", "cut", "broken"};

    output_text(out, " stack=");
    for (; node >= HR_STACK_ROOTS; node = stacks->nodes[node].parent) {
        output_hex(out, stacks->nodes[node].address);
        output_char(out, ',');
    }
    output_text(out, roots[node]);
}

static void put_access(struct output *out, const struct hr_access *access, bool registers)
{
    output_text(out, " events=");
    output_hex(out, access->events);
    if (access->address != 0) {
        dump_value(out, "address", access->address, true);
        dump_value(out, "source", access->source, true);
        dump_value(out, "latency", access->latency, false);
    }
    output_text(out, registers ? " registers=" : "");
    for (uint32_t i = 0; registers && i < HR_ACCESS_REGISTERS; i++) {
        output_text(out, i != 0 ? "," : "");
        output_hex(out, access->registers[i]);
    }
}

static int put_run(struct dump *dump, const struct trace_samples *samples, const char *name)
{
    const struct trace_processes *processes = &dump->reader.scan.info.processes;
    bool registers = (dump->reader.scan.info.accesses.flags & HR_ACCESSES_REGISTERS) != 0;
    struct output *out = &dump->output;

    dump->any = true;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];

        output_text(out, name);
        dump_value(out, "time", sample->time, false);
        if (trace_processes_any(processes))
            dump_value(out, "pid", trace_processes_pid(processes, sample->tid, sample->time),
                       false);
        dump_value(out, "tid", sample->tid, false);
        dump_value(out, "ip", sample->ip, true);
        dump_value(out, "cost_ticks", sample->cost_ticks, false);
        put_flags(out, sample->flags);
        output_text(out, " counters=");
        for (uint32_t i = 0; i < samples->event_count; i++) {
            if (i != 0)
                output_char(out, ',');
            output_decimal(out, sample->counters[i]);
        }
        if (samples->stacks != NULL)
            put_stack(out, &dump->reader.scan.stacks, samples->stacks[n]);
        if (samples->accesses != NULL)
            put_access(out, &samples->accesses[n], registers);
        output_char(out, '\n');
    }
    return out->error;
}

int dump_put_samples(void *context, const struct trace_samples *samples)
{
    return put_run(context, samples, "  sample");
}

int dump_put_waits(void *context, const struct trace_samples *samples)
{
    return put_run(context, samples, "  waiting");
}

static void put_values(struct output *out, const char *name, const uint64_t *values, uint32_t count,
                       bool hex)
{
    output_text(out, name);
    for (uint32_t i = 0; i < count; i++) {
        output_text(out, i != 0 ? "," : "");
        (hex ? output_hex : output_decimal)(out, values[i]);
    }
}

int dump_put_hits(void *context, const struct trace_hits *hits)
{
    static const char *const whats[] = {"reached", "entered", "returned", "entered+returned"};
    struct dump *dump = context;
    const struct trace_info *info = &dump->reader.scan.info;
    struct output *out = &dump->output;

    dump->any = true;
    for (uint32_t n = 0; n < hits->count; n++) {
        const struct trace_hit *hit = &hits->hits[n];
        char room[24];

        output_text(out, "  hit");
        dump_value(out, "time", hit->time, false);
        if (trace_processes_any(&info->processes))
            dump_value(out, "pid", trace_processes_pid(&info->processes, hit->tid, hit->time),
                       false);
        dump_value(out, "tid", hit->tid, false);
        dump_value(out, "sp", hit->sp, true);
        dump_value(out, "point", hit->point, false);
        output_char(out, ' ');
        output_text(out, whats[hit->what & 3]);
        dump_escaped(out, " function=\"",
                     trace_points_name(&info->points,
                                       trace_points_function(&info->points, hit->point), room),
                     UINT16_MAX);
        put_values(out, " counters=", hit->counters, info->event_count, false);
        put_values(out, " arguments=", hit->arguments, info->points.meta.argument_count, true);
        output_char(out, '\n');
    }
    return out->error;
}
