/* hr doctor --measure: chooses the runs and their order. */
#include "host/doctor/doctor_measure.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "host/base/error.h"
#include "host/launch/launch_pin.h"

#define REPEATS 3 /* of each run; in virtual time all are equal, and one suffices */
#define IPI_CPUS 3 /* one CPU each for the program, the service and the observer */

static const unsigned int event_counts[] = {0, 1, 2, 5};

struct measuring {
    struct measure_options options; /* the accelerator of the first run is used for all */
    struct measure_place place;
    struct measure measure;
    struct run_failure failure;
};

static struct measure_run *next_run(struct measuring *m, enum hr_mode mode, unsigned int events)
{
    struct measure_run *run = &m->measure.runs[m->measure.run_count++];

    *run = (struct measure_run){.mode = mode, .events = events};
    return run;
}

static void __attribute__((format(printf, 3, 4)))
leave_out(struct measuring *m, enum hr_mode mode, const char *format, ...)
{
    struct measure_run *run = next_run(m, mode, 0);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(run->left_out, sizeof run->left_out, format, arguments);
    va_end(arguments);
}

/* As doctor_measure_loop; fills the run and facts about the guest. */
static int measure_once(struct measuring *m, struct measure_run *run)
{
    static struct summary summary;
    unsigned int events = run->events;
    char reason[MEASURE_REASON_BYTES];
    int result = doctor_measure_loop(&m->place, &m->options, run->mode, events, &summary, reason,
                                     &m->failure);

    if (result == 0) {
        doctor_measure_take(run, &summary);
        m->measure.emulated = (summary.info.sampling.flags & HR_SAMPLING_EMULATED) != 0;
        m->options.accel = m->measure.emulated ? "tcg" : "kvm";
        m->measure.virtual_time = summary.info.clock.method == HR_CLOCK_VIRTUAL;
        if (events != 0)
            m->measure.has_pmu = summary.info.events[0].meta.source == HR_SOURCE_PMU;
    } else if (result > 0) {
        memcpy(run->left_out, reason, sizeof reason);
    }
    summary_free(&summary);
    return result;
}

static int measure_one(struct measuring *m, enum hr_mode mode, unsigned int events)
{
    struct measure_run *run = next_run(m, mode, events);
    int result = measure_once(m, run);

    for (int i = 1; i < REPEATS && result == 0 && !m->measure.virtual_time; i++) {
        struct measure_run again = {.mode = mode, .events = events};

        result = measure_once(m, &again);
        if (result == 0)
            doctor_measure_merge(run, &again);
    }
    return result < 0 ? -1 : 0;
}

/* Measures with every number of events that can be counted, from `least` on. */
static int measure_mode(struct measuring *m, enum hr_mode mode, unsigned int least)
{
    for (size_t i = 0; i < sizeof event_counts / sizeof event_counts[0]; i++) {
        if (event_counts[i] < least || (event_counts[i] > 1 && !m->measure.has_pmu))
            continue;
        if (measure_one(m, mode, event_counts[i]) != 0)
            return -1;
    }
    return 0;
}

/* Returns the number of host CPUs that the guest may use. */
static int host_cpus(const struct measure_options *options)
{
    static struct cpu_list list;
    struct run_failure ignored = {0}; /* the runs report an invalid list */
    cpu_set_t set;

    if (options->pin != NULL && launch_pin_parse(options->pin, &list, &ignored) == 0)
        return (int)list.count;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int measure_all(struct measuring *m)
{
    int cpus = host_cpus(&m->options);

    if (measure_one(m, HR_MODE_OFF, 1) != 0 || measure_mode(m, HR_MODE_TIMER, 0) != 0)
        return -1;
    if (m->measure.emulated)
        leave_out(m, HR_MODE_IPI, "emulated CPUs interrupt each other at the emulator's own pace");
    else if (cpus < IPI_CPUS)
        leave_out(m, HR_MODE_IPI, "it needs %d CPUs of the host, and the guest may use %d",
                  IPI_CPUS, cpus);
    else if (measure_mode(m, HR_MODE_IPI, 0) != 0)
        return -1;
    if (m->measure.has_pmu)
        return measure_mode(m, HR_MODE_OVERFLOW, 1);
    leave_out(m, HR_MODE_OVERFLOW, "the guest has no performance counters");
    return 0;
}

static int print(const struct measure *measure, bool json)
{
    int error = 0;

    if (json)
        error = doctor_measure_print_json(stdout, measure);
    else
        doctor_measure_print_table(stdout, measure);
    if (error == 0 && fflush(stdout) == 0 && ferror(stdout) == 0)
        return 0;
    return error_exit(RUN_EXIT_FAILED, "standard output: %s; free some space or write elsewhere",
                      strerror(error != 0 ? -error : errno));
}

int doctor_measure(const struct measure_options *options, bool json)
{
    static struct measuring m;
    int result;

    m = (struct measuring){.options = *options};
    result = doctor_measure_place_make(&m.place, &m.failure);
    if (result == 0)
        result = measure_all(&m);
    doctor_measure_place_remove(&m.place);
    if (result == 0)
        return print(&m.measure, json);
    error_print("--measure: %s", m.failure.text);
    return m.failure.exit_status;
}
