/* Prints gaps: by cause, and the longest ones. */
#include "host/noise/noise_print.h"

#include "host/base/text.h"
#include "host/scan/reader.h"
#include "lib/program/syscall_names.h"

static const char *const words[] = {
    [NOISE_SLEEP] = "the program slept",
    [NOISE_INPUT] = "it waited for input",
    [NOISE_OUTPUT] = "it waited for output to be taken",
    [NOISE_WAIT] = "threads waited for each other",
    [NOISE_OTHER_GAP] = "it did not run, for a reason that this hr does not know",
    [NOISE_IDLE] = "a CPU had no thread to run",
    [NOISE_KERNEL] = "a sample late by a system call",
    [NOISE_LATE] = "a sample late: page faults, or the machine (SMI, VM exit, steal)",
    [NOISE_READING] = "reading the counters was disturbed",
    [NOISE_STEAL] = "a hypervisor ran something else on the CPU",
    [NOISE_LOST] = "samples were dropped",
};

/* In virtual time only the kernel is left. */
static const char *word_of(const struct noise *noise, uint32_t cause)
{
    return cause == NOISE_LATE && noise_is_virtual(noise->info)
               ? "a sample late by the kernel's other work, such as page faults"
               : words[cause];
}

static uint64_t duration_ns(const struct noise *noise)
{
    const struct trace_info *info = noise->info;
    uint64_t end = trace_info_time_ns(info, info->has_exit ? info->exit.time : noise->time_last);

    if (end > noise->selection->to_ns)
        end = noise->selection->to_ns;
    return end > noise->selection->from_ns ? end - noise->selection->from_ns : 0;
}

/* Of the time of all CPUs. */
static double share_of(const struct noise *noise, const struct noise_sum *sum)
{
    double all = (double)duration_ns(noise) * noise->cpu_count;

    return all > 0 ? (double)trace_info_ns(noise->info, sum->ticks) / all : 0;
}

static void detail_of(const struct noise_span *span, char *out, size_t room)
{
    const char *name;
    char number[TEXT_QUANTITY_BYTES];

    out[0] = 0;
    if (span->cause == NOISE_LOST) {
        snprintf(out, room, "%s samples", text_count(number, span->detail));
    } else if (span->cause == NOISE_KERNEL) {
        name = syscall_name(span->detail);
        if (name != NULL)
            snprintf(out, room, "%s", name);
        else
            snprintf(out, room, "system call %lu", span->detail);
    }
}

/* What can and what cannot be seen, on this kind of machine. */
static void print_limits(FILE *out, const struct noise *noise)
{
    const struct trace_info *info = noise->info;

    if (noise_is_virtual(info))
        fputs("# virtual time: the clock counts the program's instructions and stands still "
              "otherwise, so that nothing\n# of the machine's can disturb it: all here is the "
              "program's own\n",
              out);
    else if ((info->sampling.flags & HR_SAMPLING_EMULATED) != 0)
        fputs("# emulated: late samples and slow readings are the emulator's and the host's, not a "
              "machine's\n",
              out);
    if (info->sampling.interval_ticks == 0)
        fputs("# sampled without a clock's grid: late samples cannot be told\n", out);
    if (noise->skipped != 0)
        fprintf(
            out,
            "# %lu samples were left out so that the program kept its share of the time: a late "
            "sample is later than that explains\n",
            noise->skipped);
    if (noise->period_changes != 0)
        fprintf(out, "# the sampling period changed %lu times\n", noise->period_changes);
}

static void print_causes(FILE *out, const struct noise *noise)
{
    char count[TEXT_QUANTITY_BYTES], all[TEXT_QUANTITY_BYTES], longest[TEXT_QUANTITY_BYTES];
    const struct trace_info *info = noise->info;

    fprintf(out, "%-8s %10s %10s %10s %8s\n", "cause", "count", "total", "longest", "of run");
    for (uint32_t i = 0; i < NOISE_CAUSES; i++) {
        const struct noise_sum *sum = &noise->sums[i];

        if (sum->count == 0)
            continue;
        fprintf(out, "%-8s %10s %10s %10s %7.3f%%  %s\n", noise_cause_name(i),
                text_count(count, sum->count),
                text_time(all, (double)trace_info_ns(info, sum->ticks)),
                text_time(longest, (double)trace_info_ns(info, sum->longest)),
                100 * share_of(noise, sum), word_of(noise, i));
    }
}

void noise_print(FILE *out, const struct noise *noise, unsigned long limit)
{
    const struct trace_info *info = noise->info;
    char length[TEXT_QUANTITY_BYTES], safe[1024], detail[64];
    size_t count = reader_shown(noise->kept_count, limit);

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# run: %s on %u CPU%s\n", text_time(length, (double)duration_ns(noise)),
            noise->cpu_count, noise->cpu_count != 1 ? "s" : "");
    print_limits(out, noise);
    if (noise->kept_count == 0) {
        fputs("nothing: the program ran all the time\n", out);
        waits_print(out, &noise->waits, info, limit);
        return;
    }
    print_causes(out, noise);
    waits_print(out, &noise->waits, info, limit);
    fprintf(out, "\n%15s %10s %4s %7s  %s\n", "at", "length", "CPU", "thread", "cause");
    for (uint32_t i = 0; i < count; i++) {
        const struct noise_span *span = &noise->kept[i];
        uint64_t at = trace_info_time_ns(info, span->time);

        detail_of(span, detail, sizeof detail);
        fprintf(out, "%4lu.%09lu s %10s %4u %7u  %s%s%s\n", at / 1000000000, at % 1000000000,
                text_time(length, (double)trace_info_ns(info, span->ticks)), span->cpu, span->tid,
                noise_cause_name(span->cause), detail[0] != 0 ? ": " : "", detail);
    }
    if (noise->kept_count + noise->dropped > count)
        fprintf(out, "# %lu shorter ones; --limit 0 shows %s\n",
                noise->kept_count + noise->dropped - count,
                noise->dropped != 0 ? "the 65536 longest" : "all");
}

static void put_spans(struct output *out, bool json, const struct noise *noise, unsigned long limit)
{
    static const char format[] = "time_ns:%lu,length_ns:%lu,cpu:%u,tid:%u,cause:%s,detail:%s";
    struct output_rows rows = {.out = out, .json = json};
    char detail[64];

    output_rows_begin(&rows, format);
    for (uint32_t i = 0; i < reader_shown(noise->kept_count, limit); i++) {
        const struct noise_span *span = &noise->kept[i];

        detail_of(span, detail, sizeof detail);
        output_row(&rows, format, trace_info_time_ns(noise->info, span->time),
                   trace_info_ns(noise->info, span->ticks), span->cpu, span->tid,
                   noise_cause_name(span->cause), detail);
    }
    output_rows_end(&rows);
}

void noise_rows_csv(struct output *out, const struct noise *noise, unsigned long limit)
{
    put_spans(out, false, noise, limit);
}

static void put_cause(struct output *out, const struct noise *noise, enum noise_cause cause)
{
    const struct noise_sum *sum = &noise->sums[cause];

    output_json_print(
        out, "{\"cause\":%s,\"count\":%lu,\"total_ns\":%lu,\"longest_ns\":%lu,\"share\":%g}",
        noise_cause_name(cause), sum->count, trace_info_ns(noise->info, sum->ticks),
        trace_info_ns(noise->info, sum->longest), share_of(noise, sum));
}

static void put_waits(struct output *out, const struct noise *noise)
{
    static const char format[] = "count:%lu,total_ns:%lu,longest_ns:%lu,call:%s,where:%s";
    struct output_rows rows = {.out = out, .json = true};
    char room[32];

    output_rows_begin(&rows, format);
    for (uint32_t i = 0; i < noise->waits.count; i++) {
        const struct waits_row *row = &noise->waits.rows[i];

        output_row(&rows, format, row->count, trace_info_ns(noise->info, row->ticks),
                   trace_info_ns(noise->info, row->longest), waits_call_name(row->call, room),
                   row->where);
    }
    output_rows_end(&rows);
}

void noise_rows_json(struct output *out, const struct noise *noise, unsigned long limit)
{
    bool first = true;

    output_json_print(out,
                      "{\"duration_ns\":%lu,\"cpus\":%u,\"virtual_time\":%d,"
                      "\"period_changes\":%lu,\"skipped\":%lu,\"causes\":[",
                      duration_ns(noise), noise->cpu_count, noise_is_virtual(noise->info),
                      noise->period_changes, noise->skipped);
    for (uint32_t i = 0; i < NOISE_CAUSES; i++) {
        if (noise->sums[i].count == 0)
            continue;
        output_text(out, first ? "" : ",");
        put_cause(out, noise, (enum noise_cause)i);
        first = false;
    }
    output_text(out, "],\"waits\":");
    put_waits(out, noise);
    output_text(out, ",\"gaps\":");
    put_spans(out, true, noise, limit);
    output_text(out, "}\n");
}
