/* Runs two programs at the same time, each in a guest of its own. */
#include "host/pair/pair_measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/cpu_list.h"
#include "host/base/monotonic.h"
#include "host/run/run_child.h"
#include "host/summary/summary.h"
#include "host/trial/trial_process.h"
#include "host/trial/trial_statistics.h"

#define FIXED 12

struct started {
    pid_t pid;
    uint64_t end_ns;
    char trace[300], errors[300];
};

struct span { /* when a program ran, as far as can be told: to the end of its run */
    uint64_t begin_ns, end_ns;
};

struct company { /* the other program, which is started again and again */
    struct started run;
    struct span *spans; /* of its runs; owned */
    size_t count;
};

/* A CPU of its own serves the guest, if there are others. */
static void write_cpus(const struct pair_place *place, int which, char *pin, size_t room)
{
    cpu_set_t left = place->others;
    char others[1024];
    int service = -1;

    for (int cpu = 0; cpu < CPU_SETSIZE && service < 0; cpu++)
        if (CPU_ISSET((size_t)cpu, &place->others))
            service = cpu;
    if (service < 0) {
        snprintf(pin, room, "--pin=%d", place->cpus[which]);
        return;
    }
    CPU_CLR((size_t)service, &left);
    cpu_list_format(&left, others, sizeof others);
    snprintf(pin, room, "--pin=%d,%d%s%s", service, place->cpus[which], others[0] != 0 ? "," : "",
             others);
}

static int start(const struct pair_plan *plan, const struct pair_place *place, int which,
                 struct started *s, struct run_failure *failure)
{
    const struct pair_program *program = &plan->programs[which];
    const char **argv = calloc(FIXED + plan->option_count + program->count, sizeof argv[0]);
    bool shared = CPU_COUNT(&place->others) == 0;
    char pin[1100];
    size_t count = 0;

    if (argv == NULL)
        return run_fail(failure, "out of memory; end other programs");
    snprintf(s->trace, sizeof s->trace, "%s/%d.hr", plan->folder, which);
    snprintf(s->errors, sizeof s->errors, "%s/%d.err", plan->folder, which);
    unlink(s->trace);
    write_cpus(place, which, pin, sizeof pin);
    argv[count++] = "/proc/self/exe";
    argv[count++] = "run";
    argv[count++] = "-q";
    argv[count++] = "--accel=kvm";
    argv[count++] = shared ? "--cpus=0" : "--cpus=1";
    argv[count++] = pin;
    argv[count++] = "-o";
    argv[count++] = s->trace;
    for (size_t i = 0; i < plan->option_count; i++)
        argv[count++] = plan->options[i];
    argv[count++] = "--";
    for (size_t i = 0; i < program->count; i++)
        argv[count++] = program->words[i];
    s->pid = trial_process_start(argv, NULL, NULL, s->errors);
    free(argv);
    return s->pid > 0 ? 0 : run_fail(failure, "cannot start a process: %s", strerror(-s->pid));
}

static int check(const struct pair_plan *plan, int which, const struct started *s, int status,
                 struct run_failure *failure)
{
    char text[RUN_CHILD_REASON_BYTES];

    if (status != RUN_EXIT_FAILED && status != RUN_EXIT_NOT_EXECUTABLE &&
        status != RUN_EXIT_NOT_FOUND)
        return 0;
    return run_fail_as(failure, status, "%s: %s", plan->programs[which].words[0],
                       run_child_reason(s->errors, text));
}

/* The other program ended: when did it run? */
static int take_company(struct company *c, struct run_failure *failure)
{
    static struct summary summary;
    uint64_t now_ns = monotonic_ns();

    if (summary_from_file(c->run.trace, &summary) != 0) /* before it began */
        return 0;
    if (array_grow(&c->spans, c->count, sizeof c->spans[0]) != 0)
        run_fail(failure, "out of memory; end other programs");
    else
        c->spans[c->count++] = (struct span){now_ns - summary.run_ns, now_ns};
    summary_free(&summary);
    return failure->exit_status == 0 ? 0 : -1;
}

/* Ends a run, if it did not end yet; false: it did. */
static bool stop(const struct started *s)
{
    int status;

    if (s->pid <= 0)
        return false;
    kill(s->pid, SIGTERM);
    while (kill(s->pid, 0) == 0 && trial_process_wait(1000, &status) >= 0)
        ;
    return true;
}

/* Runs the program once, at the same time as the other one where `c` is given. */
static int run_once(const struct pair_plan *plan, const struct pair_place *place, int which,
                    struct started *s, struct company *c, struct run_failure *failure)
{
    struct started none = {.pid = 0}, *other = c != NULL ? &c->run : &none;
    int status = 0, result = 0;

    s->pid = 0;
    if (c != NULL)
        result = start(plan, place, !which, &c->run, failure);
    if (result == 0)
        result = start(plan, place, which, s, failure);
    while (result == 0) {
        pid_t ended = trial_process_wait(1000, &status);

        if (ended < 0)
            result = run_fail_as(failure, RUN_EXIT_SIGNAL_BASE - ended, "ended by %s",
                                 strsignal(-ended));
        if (ended > 0 && ended == s->pid) {
            s->pid = 0;
            s->end_ns = monotonic_ns();
            break;
        }
        if (ended <= 0 || c == NULL || ended != other->pid)
            continue;
        other->pid = 0;
        result = check(plan, !which, other, status, failure);
        if (result == 0)
            result = take_company(c, failure);
        if (result == 0)
            result = start(plan, place, !which, &c->run, failure);
    }
    stop(s);
    if (stop(other) && result == 0)
        result = take_company(c, failure);
    return result == 0 ? check(plan, which, s, status, failure) : -1;
}

struct values { /* of repeated runs */
    double *time, *company, *totals[HR_EVENTS_MAX];
};

static double median(double *values, size_t count)
{
    struct trial_spread spread;

    trial_spread_of(values, count, &spread);
    return spread.median;
}

static int take(struct pair_measured *m, const struct started *s, struct values *v, size_t at,
                struct run_failure *failure)
{
    static struct summary summary;
    size_t events = 0;
    bool whole;

    if (summary_from_file(s->trace, &summary) != 0)
        return run_fail(failure, "cannot read the trace of a run");
    v->time[at] = (double)summary.run_ns;
    for (uint32_t e = 0; e < summary.info.event_count; e++) {
        if (summary.info.events[e].meta.source != HR_SOURCE_PMU)
            continue;
        trace_info_event_word(&summary.info, e, m->names[events]);
        v->totals[events++][at] = (double)summary_event_total(&summary, e, &whole);
    }
    m->events = events;
    summary_free(&summary);
    return 0;
}

/* The part of the program's time in which the other one ran. */
static double share(const struct company *c, const struct started *s, double time_ns)
{
    const struct span own = {s->end_ns - (uint64_t)time_ns, s->end_ns};
    double both = 0;

    for (size_t i = 0; i < c->count; i++) {
        uint64_t begin = c->spans[i].begin_ns > own.begin_ns ? c->spans[i].begin_ns : own.begin_ns;
        uint64_t end = c->spans[i].end_ns < own.end_ns ? c->spans[i].end_ns : own.end_ns;

        both += end > begin ? (double)(end - begin) : 0;
    }
    return time_ns > 0 && both < time_ns ? both / time_ns : time_ns > 0;
}

static int measure(const struct pair_plan *plan, const struct pair_place *place, int which,
                   bool together, struct pair_measured *m, struct run_failure *failure)
{
    struct pair_figures *figures = together ? &m->together : &m->alone;
    double *room = calloc((HR_EVENTS_MAX + 2) * plan->repeat, sizeof room[0]);
    struct values v = {.time = room, .company = room + plan->repeat};
    struct company company = {.count = 0};
    struct started s;
    int result = room != NULL ? 0 : run_fail(failure, "out of memory; end other programs");

    for (size_t e = 0; e < HR_EVENTS_MAX && result == 0; e++)
        v.totals[e] = room + (e + 2) * plan->repeat;
    for (size_t i = 0; i < plan->repeat && result == 0; i++) {
        company.count = 0;
        result = run_once(plan, place, which, &s, together ? &company : NULL, failure);
        if (result == 0)
            result = take(m, &s, &v, i, failure);
        v.company[i] = together && result == 0 ? share(&company, &s, v.time[i]) : 0;
    }
    if (result == 0) {
        figures->time_ns = median(v.time, plan->repeat);
        figures->company = median(v.company, plan->repeat);
        for (size_t e = 0; e < m->events; e++)
            figures->totals[e] = median(v.totals[e], plan->repeat);
    }
    free(company.spans);
    free(room);
    return result;
}

int pair_measure(const struct pair_plan *plan, const struct pair_place *place, int which,
                 struct pair_measured *measured, struct run_failure *failure)
{
    *measured = (struct pair_measured){.events = 0};
    return measure(plan, place, which, false, measured, failure) == 0
               ? measure(plan, place, which, true, measured, failure)
               : -1;
}
