/* Prints what triggered the samples of a run and their cost. */
#include "host/summary/summary_sampling.h"

#include <stdlib.h>

#include "host/base/text.h"
#include "host/summary/summary_advice.h"

#define ROW SUMMARY_ROW
#define TRAPPED_NS 500u /* an RDPMC takes this long only if it enters a hypervisor */
#define TRAPPED_TICKS 1000u

static void print_overflow(FILE *out, const struct summary *s)
{
    const struct hr_meta_sampling *sampling = &s->info.sampling;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], word[64], event[64 * 4];

    trace_info_event_word(&s->info, 0, word);
    text_escape(event, sizeof event, s->info.event_count != 0 ? word : "events");
    if (sampling->frequency_hz == 0) {
        if (s->period.first != 0)
            fprintf(out, ", every %s %s", text_count(a, s->period.first), event);
        return;
    }
    fprintf(out, ", %s samples/s wanted, %s got", text_count(a, sampling->frequency_hz),
            text_count(b, (uint64_t)(s->rate_hz + 0.5)));
}

/* Prints the values of an adapted period. */
static void print_period(FILE *out, const struct summary *s)
{
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], word[64], event[64 * 4];

    if (s->info.sampling.frequency_hz == 0 || s->period.last == 0)
        return;
    trace_info_event_word(&s->info, 0, word);
    text_escape(event, sizeof event, s->info.event_count != 0 ? word : "events");
    fprintf(out, ROW "%s at the end; median %s\n", text_count(a, s->period.last), "period", event,
            text_count(b, s->period.median));
}

static void print_mode(FILE *out, const struct summary *s)
{
    const struct hr_meta_sampling *sampling = &s->info.sampling;
    char number[TEXT_QUANTITY_BYTES];

    if (s->info.has_exact) {
        fprintf(out, ROW "mode exact: counted where they are, not sampled\n",
                text_count(number, s->info.exact.instructions), "with an address");
        return;
    }
    fprintf(out, ROW "mode %s", text_count(number, s->samples), "samples",
            trace_info_mode(sampling->mode));
    if (sampling->mode == HR_MODE_OVERFLOW)
        print_overflow(out, s);
    else if (sampling->mode == HR_MODE_PEBS)
        fputs(": records of the processor's", out);
    else if (sampling->mode == HR_MODE_INSTRUCTED)
        fputs(": the program's own calls", out);
    else if (sampling->interval_ticks != 0)
        fprintf(out, ", every %s", text_time(number, (double)trace_info_interval_ns(&s->info)));
    if ((sampling->flags & HR_SAMPLING_PAUSED) != 0)
        fputs(", from the program's hr_start() on", out);
    fputc('\n', out);
    print_period(out, s);
    summary_precise_print(out, &s->precise, &s->info);
}

/* Only a clock has intervals that can be missed; other triggers have a distribution. */
static void print_intervals(FILE *out, const struct summary *s)
{
    bool timed = s->info.sampling.interval_ticks != 0;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], c[TEXT_QUANTITY_BYTES];

    if (s->interval.count != 0)
        fprintf(out, ROW "median; p99 %s, max %s\n", text_time(a, (double)s->interval.p50_ns),
                timed ? "achieved interval" : "between samples",
                text_time(b, (double)s->interval.p99_ns), text_time(c, (double)s->interval.max_ns));
    if (s->skew.count != 0)
        fprintf(out, ROW "median over the CPUs of a grid point; p99 %s, max %s\n",
                text_time(a, (double)s->skew.p50_ns), "skew", text_time(b, (double)s->skew.p99_ns),
                text_time(c, (double)s->skew.max_ns));
    if (s->polled != 0 && s->info.sampling.mode != HR_MODE_INSTRUCTED)
        fprintf(out, ROW "of the samples: the program asked for them\n", text_count(a, s->polled),
                "polled");
}

/* Prints what was skipped for the program's share, and what a hypervisor took. */
static void print_share(FILE *out, const struct summary *s)
{
    const struct trace_share *share = &s->info.share;
    uint64_t asked = trace_info_interval_ns(&s->info);
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], c[TEXT_QUANTITY_BYTES];

    if (share->skipped != 0 && asked != 0)
        fprintf(out, ROW "left out: asked %s; this machine bears %s at --max-overhead %s%%\n",
                text_count(a, share->skipped), "points skipped", text_time(b, (double)asked),
                text_time(c, (double)trace_info_ns(&s->info, share->spacing_ticks)),
                trace_info_text(&s->info, "sampling.max_overhead", "50"));
    else if (share->skipped != 0)
        fprintf(out, ROW "left out: this machine bears one in %s at --max-overhead %s%%\n",
                text_count(a, share->skipped), "overflows skipped",
                text_time(c, (double)trace_info_ns(&s->info, share->spacing_ticks)),
                trace_info_text(&s->info, "sampling.max_overhead", "50"));
    if (share->stolen_ns != 0)
        fprintf(out, ROW "of the program's CPUs: the hypervisor ran something else\n",
                text_time(a, (double)share->stolen_ns), "stolen");
}

static void print_losses(FILE *out, const struct summary *s)
{
    double offered = (double)s->samples + (double)s->probes.hits + (double)s->lost;
    char number[TEXT_QUANTITY_BYTES];
    const char *text;

    if (s->lost == 0 && !s->info.has_exact)
        fprintf(out, ROW "no sample was dropped\n", "0", "lost");
    else if (s->lost != 0)
        fprintf(out, ROW "%.3g %% of all: %s\n", text_count(number, s->lost), "lost",
                100.0 * (double)s->lost / offered, trace_info_loss_words(&s->info, s->lost));
    text = trace_info_text(&s->info, "run.dropped_records", NULL);
    if (text != NULL)
        fprintf(out, ROW "marks, calls and switches: the buffer was full\n",
                text_count(number, strtoull(text, NULL, 10)), "records lost");
    if (s->gone != 0)
        fprintf(out, ROW "sent by the guest but not in the file\n", text_count(number, s->gone),
                "samples missing");
    if (s->info.nmis.spurious != 0)
        fprintf(out, ROW "in overflow mode, without a counter that overflowed\n",
                text_count(number, s->info.nmis.spurious), "spurious NMIs");
    if (s->info.nmis.unknown != 0)
        fprintf(out, ROW "nothing here asks for one: of the machine or the hypervisor\n",
                text_count(number, s->info.nmis.unknown), "unknown NMIs");
}

static void print_memory(FILE *out, const struct summary *s)
{
    const char *text = trace_info_text(&s->info, "run.page_faults", NULL);
    char number[TEXT_QUANTITY_BYTES];

    if (text != NULL)
        fprintf(out, ROW "memory filled when it was touched\n",
                text_count(number, strtoull(text, NULL, 10)), "page faults");
    text = trace_info_text(&s->info, "run.memory_peak", NULL);
    if (text != NULL)
        fprintf(out, ROW "what the program wrote or mapped, and its page tables\n",
                text_bytes(number, strtoull(text, NULL, 10)), "peak memory");
    summary_memory_print(out, &s->memory, &s->info);
}

/* Returns whether more happened than a thread's end: switches between threads, or waits. */
static void print_activity(FILE *out, const struct summary *s)
{
    const struct hr_rec_activity *sum = &s->info.activity.sum;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], c[TEXT_QUANTITY_BYTES];

    if (sum->switches > 1)
        fprintf(out, ROW "between threads; %s waits, %s ends of time slices\n",
                text_count(a, sum->switches), "switches", text_count(b, sum->blocks),
                text_count(c, sum->slices));
    if (sum->blocks > 1)
        fprintf(out, ROW "of threads; 'hr noise' says where\n", text_count(a, sum->blocks),
                "waits");
    if (sum->interruptions != 0)
        fprintf(out, ROW "interrupts of the program that took no sample\n",
                text_count(a, sum->interruptions), "interruptions");
}

bool summary_rdpmc_is_trapped(const struct trace_info *info)
{
    uint64_t ticks = info->calibration.rdpmc_ticks;

    return ticks > TRAPPED_TICKS || trace_info_ns(info, ticks) > TRAPPED_NS;
}

static const char *rdpmc_words(const struct summary *s)
{
    if (summary_rdpmc_is_trapped(&s->info))
        return "trapped by the hypervisor (each read exits)";
    return s->info.sampling.flags & HR_SAMPLING_EMULATED ? "emulated" : "native";
}

static bool has_cost(const struct summary *s)
{
    return s->info.calibration.sample_ticks != 0 && s->samples != s->polled &&
           !s->info.has_accesses; /* what a record costs was not measured */
}

static void print_cost(FILE *out, const struct summary *s)
{
    const struct hr_meta_calibration *c = &s->info.calibration;
    double sample_ns = (double)trace_info_ns(&s->info, c->sample_ticks);
    double triggered = (double)(s->samples - s->polled);
    char a[TEXT_QUANTITY_BYTES];
    double share =
        s->duration_ns != 0 ? 100.0 * sample_ns * triggered / (double)s->duration_ns : 0.0;

    if (!has_cost(s))
        return;
    fprintf(out, ROW "entries and exits included; in all %.3g %% of the run%s\n",
            text_time(a, sample_ns), "cost of a sample", share,
            s->info.sampling.flags & HR_SAMPLING_SHARED ? ", which is off the program's clock"
                                                        : "");
}

/* Prints the cost of reading the counters: in every sample, and before the program's start. */
static void print_reading(FILE *out, const struct summary *s)
{
    const struct hr_meta_calibration *calibration = &s->info.calibration;
    bool under = has_cost(s); /* the row that these lines explain is there */
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], c[TEXT_QUANTITY_BYTES];

    if (s->cost.count != 0 && !s->info.has_accesses)
        fprintf(out, ROW "median; p99 %s, max %s\n", text_time(a, (double)s->cost.p50_ns),
                under ? "  until it was read" : "to read a sample",
                text_time(b, (double)s->cost.p99_ns), text_time(c, (double)s->cost.max_ns));
    if (calibration->rdpmc_ticks != 0)
        fprintf(out, ROW "%s\n",
                text_time(a, (double)trace_info_ns(&s->info, calibration->rdpmc_ticks)),
                under ? "  of one RDPMC" : "one RDPMC", rdpmc_words(s));
    if (calibration->late_ticks != 0)
        fprintf(out, ROW "from when a timer sample is due until it is taken\n",
                text_time(a, (double)trace_info_ns(&s->info, calibration->late_ticks)),
                "timer lateness");
}

void summary_print_sampling(FILE *out, const struct summary *s)
{
    print_mode(out, s);
    print_intervals(out, s);
    print_losses(out, s);
    if (!s->selected) {
        print_share(out, s);
        print_memory(out, s);
        print_activity(out, s);
    }
    summary_stacks_print(out, &s->stacks, &s->info);
    print_cost(out, s);
    print_reading(out, s);
}

void summary_print_advice(FILE *out, const struct summary *s)
{
    struct summary_advice advice;

    if (summary_advise(s, &advice))
        fprintf(out,
                " Warning: sampling takes %.3g %% of the program's time; with %s it takes %d %% at "
                "most\n",
                100.0 * advice.share, advice.option, SUMMARY_ADVICE_PERCENT);
}

void summary_print_measure(FILE *out, const struct summary *s)
{
    if (s->info.share.skipped != 0 && !s->selected)
        fputs(" Points were skipped: 'hr doctor --measure' says which intervals this machine "
              "bears\n",
              out);
}
