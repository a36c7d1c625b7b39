/* Performs runs of a sweep, each as a child that is hr run. */
#include "host/sweep/runs/sweep_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/monotonic.h"
#include "host/base/text.h"
#include "host/summary/summary.h"
#include "host/trial/trial.h"

static int out_of_memory(struct run_failure *failure)
{
    return run_fail(failure, "out of memory; end other programs");
}

/* Runs the program once.  Returns the exit status, or -1 with the failure filled; the trace is
 * partial. */
static int run_once(const struct sweep *sweep, struct sweep_job *job, char *list,
                    struct run_failure *failure)
{
    char trace[SWEEP_PATH_BYTES], output[SWEEP_PATH_BYTES], errors[SWEEP_PATH_BYTES];
    const struct trial trial = {
        .options = sweep->options,
        .option_count = sweep->option_count,
        .events = list,
        .program = sweep->program,
        .program_count = sweep->program_count,
    };
    const struct trial_files files = {
        .trace = sweep_job_path(sweep, job, SWEEP_PARTIAL, trace),
        .output = sweep_job_path(sweep, job, SWEEP_OUTPUT, output),
        .errors = sweep_job_path(sweep, job, SWEEP_ERRORS, errors),
    };

    if (list == NULL)
        return out_of_memory(failure);
    job->status = trial_run(&trial, &files, &job->output, failure);
    return job->status;
}

/* Gives the trace its name.  The program's output is kept where it is not that of the first run. */
int sweep_measure_keep(const struct sweep *sweep, const struct sweep_job *job,
                       struct run_failure *failure)
{
    char trace[SWEEP_PATH_BYTES], partial[SWEEP_PATH_BYTES], path[SWEEP_PATH_BYTES];
    const struct trial_output *first = &sweep->first.output;

    if (rename(sweep_job_path(sweep, job, SWEEP_PARTIAL, partial),
               sweep_job_path(sweep, job, SWEEP_TRACE, trace)) != 0)
        return run_fail(failure, "cannot rename '%s': %s", partial, strerror(errno));
    if (job != &sweep->first && job->output.bytes == first->bytes &&
        job->output.crc32c == first->crc32c)
        unlink(sweep_job_path(sweep, job, SWEEP_OUTPUT, path));
    unlink(sweep_job_path(sweep, job, SWEEP_ERRORS, path));
    return 0;
}

const char *sweep_measure_reason(const struct sweep *sweep, const struct sweep_job *job,
                                 char text[RUN_CHILD_REASON_BYTES])
{
    char path[SWEEP_PATH_BYTES];

    return run_child_reason(sweep_job_path(sweep, job, SWEEP_ERRORS, path), text);
}

int sweep_measure_machine(struct sweep_machine *m, const struct trace_info *info,
                          struct run_failure *failure)
{
    uint32_t family, model, stepping;
    char cpu[80];

    *m = (struct sweep_machine){.general = 0};
    snprintf(m->processor, sizeof m->processor, "%s", trace_info_text(info, "machine.model", ""));
    if (sscanf(trace_info_text(info, "pmu.masks", ""), "%" SCNx32 ",%" SCNx32, &m->general,
               &m->fixed) != 2 ||
        m->general == 0)
        return run_fail(failure,
                        "there are no performance counters, so there is nothing to sweep; use KVM "
                        "with a PMU, a bare machine, or an emulator whose CPU has one ('hr doctor' "
                        "says what is here)");
    if (sscanf(trace_info_text(info, "machine.family", ""),
               "family %" SCNu32 " model %" SCNu32 " stepping %" SCNu32, &family, &model,
               &stepping) != 3)
        return run_fail(failure, "the first run did not say on which CPU it ran");
    snprintf(cpu, sizeof cpu, "%.40s-%" PRIu32 "-%" PRIu32,
             trace_info_text(info, "machine.vendor", ""), family, model);
    if (events_cpu_parse(&m->cpu, cpu) != 0)
        return run_fail(failure, "the events of the processor %s are not known", cpu);
    m->cpu.stepping = stepping;
    sscanf(trace_info_text(info, "pmu.version", "0"), "%" SCNu32, &m->cpu.pmu_version);
    m->cpu.fixed_counters = m->fixed != 0 ? 32 - (uint32_t)__builtin_clz(m->fixed) : 0;
    return 0;
}

int sweep_measure_first(struct sweep *sweep, struct run_failure *failure)
{
    static char list[] = SWEEP_AXIS;
    char path[SWEEP_PATH_BYTES], text[RUN_CHILD_REASON_BYTES];
    static struct summary summary;
    int status = run_once(sweep, &sweep->first, list, failure), error;

    if (status < 0)
        return -1;
    error = summary_from_file(sweep_job_path(sweep, &sweep->first, SWEEP_PARTIAL, path), &summary);
    if (error != 0)
        return run_fail(failure, "the first run ended with status %d: %s", status,
                        sweep_measure_reason(sweep, &sweep->first, text));
    error = sweep_measure_machine(&sweep->plan.machine, &summary.info, failure);
    summary_free(&summary);
    sweep->first.state = SWEEP_DONE;
    return error == 0 ? sweep_measure_keep(sweep, &sweep->first, failure) : -1;
}

int sweep_measure_warm_up(struct sweep *sweep, uint64_t count, struct run_failure *failure)
{
    static const char *const endings[] = {SWEEP_PARTIAL, SWEEP_OUTPUT, SWEEP_ERRORS};
    static char list[] = SWEEP_AXIS;
    struct sweep_job job = {.run = SWEEP_FIRST - 1};
    char path[SWEEP_PATH_BYTES], text[RUN_CHILD_REASON_BYTES];
    int status = 0;

    for (uint64_t i = 0; i < count && status >= 0; i++) {
        status = run_once(sweep, &job, list, failure);
        if (status == RUN_EXIT_FAILED && sweep->first.status != RUN_EXIT_FAILED)
            status = run_fail(failure, "a run of " SWEEP_AXIS " alone fails, too: %s",
                              sweep_measure_reason(sweep, &job, text));
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        unlink(sweep_job_path(sweep, &job, endings[i], path));
    return status < 0 ? -1 : 0;
}

/* Runs a job until it ends as the first run did, SWEEP_TRIES times at most.  A program whose status
 * changes from run to run ends as it ends. */
static int run_job(struct sweep *sweep, struct sweep_job *job, struct run_failure *failure)
{
    char *list = sweep_plan_list(&sweep->plan, &sweep->plan.runs[job->run]);
    char path[SWEEP_PATH_BYTES];
    int status = -1;

    for (uint32_t i = 0; i < SWEEP_TRIES; i++) {
        status = run_once(sweep, job, list, failure);
        if (status < 0 || status == sweep->first.status)
            break;
    }
    free(list);
    if (status < 0)
        return -1;
    job->state = access(sweep_job_path(sweep, job, SWEEP_PARTIAL, path), R_OK) == 0 &&
                         (status != RUN_EXIT_FAILED || status == sweep->first.status)
                     ? SWEEP_DONE
                     : SWEEP_FAILED;
    if (job->state == SWEEP_FAILED)
        return 0;
    return sweep_measure_keep(sweep, job, failure) != 0 ? -1
                                                        : sweep_folder_note(sweep, job, failure);
}

/* A run that fails may have one event that cannot be counted, or a group that the plan took for
 * possible: its events are tried one by one. */
static int divide(struct sweep *sweep, uint32_t number, struct run_failure *failure)
{
    struct sweep_run run = sweep->plan.runs[number];

    for (uint32_t i = 0; i < run.count; i++)
        if (sweep_plan_alone(&sweep->plan, run.events[i]) != 0 ||
            sweep_add_jobs(sweep, (uint32_t)sweep->plan.run_count - 1) != 0)
            return out_of_memory(failure);
    return sweep_folder_save(sweep, failure);
}

void sweep_measure_show(struct progress *line, const struct sweep *sweep, size_t done,
                        uint64_t start_ns, size_t performed)
{
    char text[160], left[TEXT_QUANTITY_BYTES];
    uint64_t each = performed != 0 ? (monotonic_ns() - start_ns) / performed : 0;

    snprintf(text, sizeof text, "%zu of %zu runs, %s left", done, sweep->job_count,
             text_time(left, (double)each * (double)(sweep->job_count - done)));
    progress_show(line, text);
}

/* The rest of the jobs of a run that failed, or was divided, is not performed either. */
static int give_up(struct sweep *sweep, uint32_t run, struct run_failure *failure)
{
    for (size_t i = 0; i < sweep->job_count; i++) {
        struct sweep_job *job = &sweep->jobs[i];

        if (job->run != run || job->state == SWEEP_DONE)
            continue;
        job->state = SWEEP_FAILED;
        if (sweep_folder_note(sweep, job, failure) != 0)
            return -1;
    }
    return 0;
}

int sweep_measure_failed(struct sweep *sweep, size_t number, struct run_failure *failure)
{
    struct sweep_job job = sweep->jobs[number]; /* jobs may move in memory */
    struct sweep_run run = sweep->plan.runs[job.run];
    char text[RUN_CHILD_REASON_BYTES];

    if (run.count == 1)
        error_print("event %s is not measured: %s", sweep->plan.events[run.events[0]].name,
                    sweep_measure_reason(sweep, &sweep->jobs[number], text));
    if (run.count > 1 && divide(sweep, job.run, failure) != 0)
        return -1;
    return give_up(sweep, job.run, failure); /* after the plan has the runs that replace it */
}

int sweep_measure(struct sweep *sweep, bool quiet, struct run_failure *failure)
{
    uint64_t start_ns = monotonic_ns();
    size_t performed = 0;
    struct progress line;
    int result = 0;

    progress_init(&line, !quiet, start_ns);
    for (size_t i = 0; i < sweep->job_count && result == 0; i++) {
        if (sweep->jobs[i].state != SWEEP_WAITS)
            continue;
        sweep_measure_show(&line, sweep, i, start_ns, performed++);
        result = run_job(sweep, &sweep->jobs[i], failure);
        if (result != 0 || sweep->jobs[i].state != SWEEP_FAILED)
            continue;
        /* Where a run without its events fails, too, nothing can be measured. */
        result = sweep_measure_warm_up(sweep, 1, failure);
        progress_erase(&line);
        if (result == 0)
            result = sweep_measure_failed(sweep, i, failure);
    }
    progress_erase(&line);
    return result;
}
