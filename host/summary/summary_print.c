/* Prints the figures of a run for people. */
#include <string.h>

#include "host/base/text.h"
#include "host/base/units.h"
#include "host/machine/machine_print.h"
#include "host/summary/summary.h"
#include "host/summary/summary_sampling.h"

#define ROW SUMMARY_ROW
#define SAMPLES_FOR_A_MEAN 100 /* with fewer, the header dominates bytes per sample */

static void print_program(FILE *out, const struct summary *s)
{
    const char *path = trace_info_text(&s->info, "program.path", "unknown program");
    char safe[1024];

    text_escape(safe, sizeof safe, trace_info_text(&s->info, "program.args", path));
    fprintf(out, "\n Microtome: %s\n\n", safe);
}

static void print_part(FILE *out, const struct summary *s)
{
    if (s->selected)
        fprintf(out,
                " Part of the run: %llu.%09llu s to %llu.%09llu s; events and samples are of what "
                "is selected\n\n",
                (unsigned long long)(s->from_ns / UNITS_SECOND),
                (unsigned long long)(s->from_ns % UNITS_SECOND),
                (unsigned long long)(s->to_ns / UNITS_SECOND),
                (unsigned long long)(s->to_ns % UNITS_SECOND));
}

/* Lists the default events that a run without counters omits, instead of printing stubs. */
static void print_omitted(FILE *out, const struct summary *s)
{
    const char *names = trace_info_text(&s->info, "events.omitted", NULL);
    char safe[256];

    if (names != NULL && s->info.event_count == 1)
        fprintf(out, "%20s  %s: no counters here (hr doctor says why); -e NAME gives stubs\n",
                "left out", text_escape(safe, sizeof safe, names));
}

static void print_events(FILE *out, const struct summary *s)
{
    char number[TEXT_QUANTITY_BYTES], room[16], safe[64];
    bool whole = true;

    for (uint32_t i = 0; i < s->info.event_count; i++) {
        uint64_t total = summary_event_total(s, i, &whole);

        text_escape(safe, sizeof safe, trace_info_event_name(&s->info, i, room));
        if (whole && s->info.events[i].meta.source == HR_SOURCE_PMU) /* needs no remark */
            fprintf(out, "%20s  %s\n", text_count(number, total), safe);
        else
            fprintf(out, ROW "%s%s\n", text_count(number, total), safe,
                    trace_info_source_words(&s->info, i),
                    whole ? "" : " (at the last sample: the totals are missing)");
    }
    print_omitted(out, s);
    if (s->info.event_count != 0)
        fputc('\n', out);
}

static const char *signal_words(uint32_t signal, char room[32])
{
    const char *name = signal < 128 ? sigabbrev_np((int)signal) : NULL;

    if (name != NULL)
        snprintf(room, 32, "SIG%s", name);
    else
        snprintf(room, 32, "signal %u", signal);
    return room;
}

/* Names of the exceptions that a program can raise (SDM volume 3, "Exceptions and Interrupts"). */
static const char *const exception_names[] = {
    [0] = "divide error",     [1] = "debug",
    [3] = "breakpoint",       [4] = "overflow",
    [5] = "bound range",      [6] = "invalid opcode",
    [7] = "no FPU",           [11] = "no segment",
    [12] = "stack fault",     [13] = "general protection",
    [14] = "page fault",      [16] = "x87 error",
    [17] = "alignment check", [19] = "SIMD error",
};

/* Prints the cause of the signal. */
static void print_cause(FILE *out, const struct hr_rec_fault *fault)
{
    size_t names = sizeof exception_names / sizeof *exception_names;

    if (fault->vector == HR_FAULT_NO_EXCEPTION)
        return;
    if (fault->vector < names && exception_names[fault->vector] != NULL)
        fprintf(out, ": %s", exception_names[fault->vector]);
    else
        fprintf(out, ": exception %u", fault->vector);
    if (fault->vector == 14)
        fprintf(out, " at address 0x%llx", (unsigned long long)fault->address);
    if (fault->error)
        fprintf(out, ", error code 0x%x", fault->error);
}

static void print_fault(FILE *out, const struct summary *s)
{
    const struct hr_rec_fault *fault = &s->info.fault;
    char room[32], safe[256];

    fprintf(out, " Fault: %s at ip 0x%llx", signal_words(fault->signal, room),
            (unsigned long long)fault->ip);
    if (s->fault_place[0] != 0)
        fprintf(out, " (%s)", text_escape(safe, sizeof safe, s->fault_place));
    print_cause(out, fault);
    fputc('\n', out);
}

static void print_exit(FILE *out, const struct summary *s)
{
    const struct hr_rec_exit *exit = &s->info.exit;
    char room[32], safe[512];

    if (!s->info.has_exit && s->growing)
        fputs(" Exit: none so far, the program runs\n", out);
    else if (!s->info.has_exit)
        fputs(" Exit: unknown, the trace ends before the program does\n", out);
    else if (exit->kind == HR_EXIT_STATUS)
        fprintf(out, " Exit: status %u\n", exit->code);
    else if (exit->kind == HR_EXIT_SIGNAL)
        fprintf(out, " Exit: killed by %s (status %d)\n", signal_words(exit->code, room),
                summary_exit_status(s));
    else if (exit->kind == HR_EXIT_TIMEOUT)
        fputs(" Exit: stopped by the timeout (status 124)\n", out);
    else if (exit->kind == HR_EXIT_REFUSED)
        fprintf(out, " Exit: could not be started: %s\n", strerror((int)(exit->code & 0xfff)));
    else
        fprintf(out, " Exit: of unknown kind %u\n", exit->kind);
    if (s->info.has_fault)
        print_fault(out, s);
    if (s->info.has_host_end && s->info.host_end.reason != HR_HOST_COMPLETE)
        fprintf(out, " Run: %s%s%s\n", trace_info_host_reason(s->info.host_end.reason),
                s->info.host_message[0] != 0 ? ": " : "",
                text_escape(safe, sizeof safe, s->info.host_message));
}

static void print_health(FILE *out, const struct summary *s)
{
    char number[TEXT_QUANTITY_BYTES], other[TEXT_QUANTITY_BYTES], safe[4096];

    if (s->growing)
        fputs(" Trace: still being written; these are the figures so far\n", out);
    if (s->complete || (s->growing && s->damaged_chunks == 0 && s->missing_chunks == 0))
        return;
    fprintf(out,
            " Trace: incomplete, %s damaged stretches, %s chunks missing; "
            "'hr check %s' says where\n",
            text_count(number, s->damaged_chunks), text_count(other, s->missing_chunks),
            text_escape(safe, sizeof safe, s->path));
}

/* How long the run took from the emulator's start to its end, and how fast it was. */
static void print_wall_time(FILE *out, const struct summary *s)
{
    char quantity[TEXT_QUANTITY_BYTES], rate[TEXT_QUANTITY_BYTES], note[64] = "";
    double per_second = summary_instructions_per_second(s);

    if (s->info.host_end.wall_ns == 0 || s->selected)
        return;
    if (per_second > 0 && per_second < (double)INT64_MAX) /* a forged trace can claim more */
        snprintf(note, sizeof note, ", %s million instructions a second",
                 text_count(rate, (uint64_t)(per_second / 1e6 + 0.5)));
    fprintf(out, ROW "of the whole run%s\n", text_time(quantity, (double)s->info.host_end.wall_ns),
            "wall time", note);
}

void summary_print(FILE *out, const struct summary *s)
{
    bool virtual_time = s->info.clock.method == HR_CLOCK_VIRTUAL;
    char quantity[TEXT_QUANTITY_BYTES], safe[4096], note[64] = "";

    text_escape(safe, sizeof safe, s->path);
    print_program(out, s);
    print_part(out, s);
    print_events(out, s);
    summary_print_sampling(out, s);
    fprintf(out, ROW "%s\n", text_time(quantity, (double)s->duration_ns),
            s->selected ? "time of the part" : "duration",
            !s->info.has_clock ? "the clock's frequency is missing, 1 GHz assumed"
            : virtual_time     ? "virtual time: one instruction is 1 ns"
                               : "real time");
    print_wall_time(out, s);
    if (s->samples >= SAMPLES_FOR_A_MEAN && !s->selected)
        snprintf(note, sizeof note, ", %.2f bytes a sample", (double)s->bytes / (double)s->samples);
    fprintf(out, ROW "%s%s\n\n", text_bytes(quantity, s->bytes), "trace", safe, note);
    if (memory_heap_any(&s->info))
        summary_probes_print_allocations(out, &s->allocations);
    summary_probes_print(out, &s->probes, &s->info);
    summary_processes_print(out, &s->processes, &s->info, safe);
    print_exit(out, s);
    print_health(out, s);
    summary_print_advice(out, s);
    summary_print_measure(out, s);
    machine_print_trouble(out, &s->info, safe);
    if (s->info.regions.count != 0)
        fprintf(out, " Regions: %s; hr report --regions %s\n",
                text_count(quantity, s->info.regions.count), safe);
    if ((s->samples != 0 || s->info.regions.count == 0) && strcmp(s->path, "-") != 0)
        fprintf(out, " Next: hr %s %s\n",
                s->info.sampling.mode == HR_MODE_LATENCY ? "latency" : "report", safe);
    fputc('\n', out);
}
