/* Performs hr sweep: the plan, the runs, the results. */
#include "host/sweep/sweep_perform.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/sweep/database/sweep_merge.h"
#include "host/sweep/runs/sweep_measure.h"
#include "host/sweep/runs/sweep_remote.h"
#include "host/sweep/runs/sweep_stick.h"
#include "host/sweep/runs/sweep_task.h"
#include "host/sweep/show/sweep_show.h"

static int say(const struct run_failure *failure)
{
    return error_exit(failure->exit_status, "%s", failure->text);
}

static void print_plan(const struct sweep *sweep)
{
    const struct sweep_plan *plan = &sweep->plan;
    const struct sweep_machine *m = &plan->machine;
    char processor[128], cpu[EVENTS_CPU_TEXT_BYTES];

    printf("%zu events in %zu runs", plan->event_count, plan->run_count);
    if (plan->run_count > plan->least)
        printf(" (no plan has less than %zu)", plan->least);
    else
        printf(", as few as there can be");
    if (sweep->repeat > 1)
        printf(", %" PRIu64 " times each: %zu runs", sweep->repeat, sweep->job_count);
    events_cpu_describe(&m->cpu, cpu);
    printf("\n%s%s%s: %d general and %d fixed counters\n",
           text_escape(processor, sizeof processor, m->processor),
           strcmp(m->processor, cpu) != 0 ? ", " : "", strcmp(m->processor, cpu) != 0 ? cpu : "",
           __builtin_popcount(m->general), __builtin_popcount(m->fixed));
}

static void print_runs(const struct sweep_plan *plan)
{
    char name[80];

    for (size_t i = 0; i < plan->run_count; i++) {
        printf("run %zu:", i + 1);
        for (uint32_t e = 0; e < plan->runs[i].count; e++)
            printf("%s %s", e != 0 ? "," : "",
                   text_escape(name, sizeof name, plan->events[plan->runs[i].events[e]].name));
        printf("\n");
    }
}

static struct sweep_remote remote;

static int perform_first(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep *sweep = o->sweep;

    if (sweep->stick != 0)
        return 0;
    if (!remote_where_is(&sweep->where))
        return sweep_measure_first(sweep, failure);
    return sweep_remote_begin(&remote, sweep, o->quiet, failure) == 0
               ? sweep_remote_first(&remote, failure)
               : -1;
}

static int make_plan(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep *sweep = o->sweep;
    int result = 0;

    if (o->event_count == 0)
        result = sweep_plan_events(&sweep->plan, SWEEP_EVENTS_DEFAULT, failure);
    for (size_t i = 0; i < o->event_count && result == 0; i++)
        result = sweep_plan_events(&sweep->plan, o->events[i], failure);
    if (result == 0)
        result = sweep_plan_make(&sweep->plan, failure);
    if (result == 0 && sweep->plan.event_count == 0)
        result = run_fail(failure, "-e: nothing but '" SWEEP_AXIS "' is named, which every run "
                                   "counts; name other events");
    if (result == 0 && sweep_make_jobs(sweep) != 0)
        result = run_fail(failure, "out of memory; end other programs");
    return result;
}

/* The first run tells the machine, unless the user does; the plan follows from it.  The folder is
 * made. */
static int prepare(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep *sweep = o->sweep;

    if (perform_first(o, failure) != 0 || make_plan(o, failure) != 0)
        return -1;
    if (o->dry_run)
        return 0;
    if (sweep->stick != 0 && sweep_task_pack(sweep, failure) != 0)
        return -1;
    if (sweep_folder_save(sweep, failure) != 0)
        return -1;
    return sweep->stick != 0 ? 0 : sweep_folder_note(sweep, &sweep->first, failure);
}

static size_t not_measured(const struct sweep *sweep)
{
    size_t failed = 0;

    for (size_t i = 0; i < sweep->job_count; i++)
        failed +=
            sweep->jobs[i].state == SWEEP_FAILED && sweep->plan.runs[sweep->jobs[i].run].count == 1;
    return failed;
}

int sweep_conclude(const struct sweep *sweep, uint64_t bins, bool quiet)
{
    struct run_failure failure = {0};
    struct sweep_result result;
    struct sweep_data data;
    char folder[SWEEP_PATH_BYTES];

    if (sweep_merge(sweep, bins, &result, &failure) != 0 ||
        sweep_data_load(&data, sweep->folder, &failure) != 0)
        return say(&failure);
    if (!quiet)
        sweep_show(&data, SWEEP_TABLE);
    sweep_data_free(&data);
    if (!quiet)
        printf("\nNext: hr sweep rank --explain cycles %s\n",
               text_escape(folder, sizeof folder, sweep->folder));
    return result.differ != 0 || result.unread != 0 || not_measured(sweep) != 0 ? HR_EXIT_FAILED
                                                                                : HR_EXIT_OK;
}

/* Makes the folder and the plan.  A sweep that does not begin leaves nothing of them. */
static int begin(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep *sweep = o->sweep;
    int result;

    if (o->target != NULL && sweep_stick_target(sweep, o->target, failure) != 0)
        return -1;
    if (sweep_folder_make(sweep, failure) != 0)
        return -1;
    result = prepare(o, failure);
    if (result != 0 || o->dry_run)
        sweep_remote_end(&remote);
    if (result != 0 || o->dry_run)
        sweep_folder_remove(sweep);
    if (result == 0 && (!o->quiet || o->dry_run))
        print_plan(sweep);
    if (result == 0 && o->dry_run && !o->quiet)
        print_runs(&sweep->plan);
    fflush(stdout);
    return result;
}

static int proceed(const struct sweep_options *o, struct run_failure *failure)
{
    if (sweep_folder_load(o->sweep, failure) != 0)
        return -1;
    if ((o->sweep->stick != 0) == (o->sweep->usb == NULL) ||
        (o->sweep->stick != 0 && remote_where_is(&o->sweep->where)))
        return run_fail(failure, "runs on a stick and other runs are never in one sweep; begin "
                                 "another one");
    if (o->sweep->stick != 0)
        return 0;
    if (o->sweep->first.state == SWEEP_DONE)
        return remote_where_is(&o->sweep->where)
                   ? sweep_remote_begin(&remote, o->sweep, o->quiet, failure)
                   : 0;
    return run_fail(failure, "the trace of its first run is missing; begin another sweep");
}

static int measure_all(const struct sweep_options *o, struct run_failure *failure)
{
    int result;

    if (!remote_where_is(&o->sweep->where))
        return sweep_measure_warm_up(o->sweep, o->resume ? 0 : o->warm_up - 1, failure) == 0
                   ? sweep_measure(o->sweep, o->quiet, failure)
                   : -1;
    result = sweep_remote_measure(&remote, failure);
    sweep_remote_end(&remote);
    return result;
}

/* Writes a stick with what waits, if anything does. */
static int write_stick(const struct sweep_options *o, struct run_failure *failure)
{
    const struct sweep *sweep = o->sweep;
    size_t waiting = sweep_stick_waiting(sweep);
    const char *options = sweep->usb_options != NULL ? sweep->usb_options : "";
    bool network = strstr(options, "--network") != NULL;
    char stick[SWEEP_PATH_BYTES], folder[SWEEP_PATH_BYTES];

    if (waiting == 0)
        return sweep_conclude(sweep, o->bins, o->quiet);
    if (sweep_stick_write(sweep, failure) != 0)
        return -1;
    text_escape(stick, sizeof stick, sweep->usb);
    if (!o->quiet)
        fprintf(stderr,
                "hr: %s: %zu run%s; start the machine from it, and then: hr sweep take -o %s %s\n",
                stick, waiting, waiting == 1 ? "" : "s",
                text_escape(folder, sizeof folder, sweep->folder),
                network ? "FOLDER-OF-HR-COLLECT" : stick);
    return HR_EXIT_OK;
}

int sweep_perform(const struct sweep_options *o)
{
    struct run_failure failure = {0};
    struct sweep *sweep = o->sweep;
    int status;

    if ((o->resume ? proceed(o, &failure) : begin(o, &failure)) != 0)
        return say(&failure);
    if (o->dry_run)
        return HR_EXIT_OK;
    if (sweep->stick == 0)
        status = measure_all(o, &failure) == 0 ? sweep_conclude(sweep, o->bins, o->quiet) : -1;
    else
        status = write_stick(o, &failure);
    if (status >= 0)
        return status;
    error_print("%s; 'hr sweep --resume -o %s' continues", failure.text, sweep->folder);
    return failure.exit_status;
}
