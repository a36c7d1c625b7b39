/* Prints the results of hr doctor --measure: tables for people, or JSON. */
#include "host/base/json.h"
#include "host/base/text.h"
#include "host/doctor/doctor_measure.h"

#define ROW " %-17s %11s  " /* title, figure; then words */

static void print_head(FILE *out, const struct measure *m)
{
    char number[TEXT_QUANTITY_BYTES];
    unsigned int runs = 0;

    for (unsigned int i = 0; i < m->run_count; i++)
        runs += m->runs[i].left_out[0] == 0;
    fprintf(out, "%s, %s: %u runs of a loop of %s instructions\n",
            m->emulated ? "Emulation" : "KVM",
            m->has_pmu ? "with performance counters" : "without performance counters", runs,
            text_count(number, MEASURE_INSTRUCTIONS));
    if (m->virtual_time)
        fputs("Time is virtual, one instruction is 1 ns: the figures are of the emulator's own "
              "clock,\nand samples cost the program nothing there.\n",
              out);
    else if (m->emulated)
        fputs("The figures are of the emulator's own clock, not of a processor.\n", out);
    fputc('\n', out);
}

static void print_reading(FILE *out, const struct measure *m)
{
    const struct measure_run *run = doctor_measure_largest(m, HR_MODE_TIMER);
    uint64_t exit_ns = doctor_measure_exit_ns(m);
    char a[TEXT_QUANTITY_BYTES];

    if (exit_ns != 0)
        fprintf(out, ROW "by what each more event adds to a sample\n", "an exit",
                text_time(a, (double)exit_ns));
    else
        fprintf(out, ROW "no RDPMC leaves the guest, so none was timed\n", "an exit", "unknown");
    if (run != NULL && run->rdpmc_ns != 0)
        fprintf(out, ROW "%s\n", "one RDPMC", text_time(a, (double)run->rdpmc_ns),
                run->rdpmc_trapped ? "trapped by the hypervisor: each read is an exit"
                                   : "stays in the guest");
    else
        fprintf(out, ROW "there is no counter to read\n", "one RDPMC", "none");
    if (run != NULL)
        fprintf(out, ROW "from when a timer sample is due until it is taken\n", "timer lateness",
                text_time(a, (double)run->late_ns));
}

static void print_skid(FILE *out, const struct measure *m)
{
    const struct measure_run *run = doctor_measure_largest(m, HR_MODE_OVERFLOW);
    char a[TEXT_QUANTITY_BYTES];

    if (run == NULL || !run->skid_known)
        return;
    snprintf(a, sizeof a, "%.3g", run->skid);
    fprintf(out,
            ROW "instructions of the program from an overflow to its sample, mean;\n" ROW
                "a trace does not say how long the interrupt was on its way\n",
            "PMI skid", a, "", "");
}

static void print_exactness(FILE *out, const struct measure *m)
{
    struct doctor_measure_exactness e;
    char a[32];

    doctor_measure_exactness(m, &e);
    if (!e.known) {
        fprintf(out, ROW "no instructions were counted\n", "exactness", "unknown");
        return;
    }
    snprintf(a, sizeof a, "%+lld", (long long)e.without);
    fprintf(out, ROW "instructions counted beyond those of the loop; %+lld to %+lld with samples\n",
            "exactness", a, (long long)e.least, (long long)e.most);
}

static void print_run(FILE *out, const struct measure_run *run)
{
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], c[TEXT_QUANTITY_BYTES];

    if (run->mode == HR_MODE_OFF || run->left_out[0] != 0)
        return;
    if (run->sample_ns == 0)
        fprintf(out, " %-10s %6u %12s\n", trace_info_mode(run->mode), run->events, "unknown");
    else
        fprintf(out, " %-10s %6u %12s %16s %16s\n", trace_info_mode(run->mode), run->events,
                text_time(a, (double)run->sample_ns),
                text_time(b, (double)doctor_measure_interval_ns(run->sample_ns, 10)),
                text_time(c, (double)doctor_measure_interval_ns(run->sample_ns, 50)));
}

void doctor_measure_print_table(FILE *out, const struct measure *m)
{
    print_head(out, m);
    print_reading(out, m);
    print_skid(out, m);
    print_exactness(out, m);
    fprintf(out, "\n %-10s %6s %12s %33s\n", "", "", "", "shortest interval at");
    fprintf(out, " %-10s %6s %12s %16s %16s\n", "MODE", "EVENTS", "A SAMPLE", "10 % overhead",
            "50 % overhead");
    for (unsigned int i = 0; i < m->run_count; i++)
        print_run(out, &m->runs[i]);
    for (unsigned int i = 0; i < m->run_count; i++) {
        const struct measure_run *run = &m->runs[i];

        if (run->left_out[0] == 0)
            continue;
        if (run->events != 0)
            fprintf(out, " Not measured: %s with %u events: %s\n", trace_info_mode(run->mode),
                    run->events, run->left_out);
        else
            fprintf(out, " Not measured: %s: %s\n", trace_info_mode(run->mode), run->left_out);
    }
}

/* 0 means unknown. */
static json_t *number(uint64_t value)
{
    return value != 0 ? json_integer((json_int_t)value) : json_null();
}

static json_t *run_object(const struct measure_run *run)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "mode",
                     run->mode == HR_MODE_OFF ? "off" : trace_info_mode(run->mode), "events",
                     (int)run->events, "sample_ns", number(run->sample_ns), "interval_10_ns",
                     number(doctor_measure_interval_ns(run->sample_ns, 10)), "interval_50_ns",
                     number(doctor_measure_interval_ns(run->sample_ns, 50)), "counted",
                     run->counts ? json_integer((json_int_t)run->counted) : json_null(), "skid",
                     run->skid_known ? json_real(run->skid) : json_null(), "left_out",
                     run->left_out[0] != 0 ? json_string(run->left_out) : json_null());
}

int doctor_measure_print_json(FILE *out, const struct measure *m)
{
    const struct measure_run *run = doctor_measure_largest(m, HR_MODE_TIMER);
    json_t *list = json_array();
    json_t *object;

    for (unsigned int i = 0; i < m->run_count; i++)
        json_array_append_new(list, run_object(&m->runs[i]));
    object = json_pack(
        "{s:b, s:b, s:b, s:I, s:o, s:o, s:b, s:o, s:o}", "emulated", m->emulated, "virtual_time",
        m->virtual_time, "pmu", m->has_pmu, "expected", (json_int_t)MEASURE_INSTRUCTIONS, "exit_ns",
        number(doctor_measure_exit_ns(m)), "rdpmc_ns", number(run != NULL ? run->rdpmc_ns : 0),
        "rdpmc_trapped", run != NULL && run->rdpmc_trapped, "timer_late_ns",
        run != NULL ? json_integer((json_int_t)run->late_ns) : json_null(), "runs", list);
    return json_print(out, object);
}
