/* hr sweep task: performs one run of a sweep where it is started. */
#include "host/sweep/runs/sweep_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/remote/remote_task.h"
#include "lib/array.h"

char *sweep_task_name(const struct sweep *sweep, const struct sweep_job *job,
                      char name[SWEEP_TASK_BYTES])
{
    if (job == &sweep->first)
        strcpy(name, "first");
    else
        snprintf(name, SWEEP_TASK_BYTES, "%zu", (size_t)(job - sweep->jobs));
    return name;
}

struct sweep_job *sweep_task_find(struct sweep *sweep, const char *name)
{
    uint64_t number;

    if (strcmp(name, "first") == 0)
        return &sweep->first;
    if (sweep->job_count == 0 || option_number(name, 0, sweep->job_count - 1, &number) != 0)
        return NULL;
    return &sweep->jobs[number];
}

bool sweep_task_is_packed(const char *option)
{
    char *options[] = {(char *)option}, *rest[1];

    return remote_task_rest(options, 1, rest) == 0;
}

bool sweep_task_is_of_stick(const char *option)
{
    static const char *const all[] = {"--mem=", "--timeout=", "--kernel="};
    size_t i = 0;

    while (i < ARRAY_COUNT(all) && strncmp(option, all[i], strlen(all[i])) != 0)
        i++;
    return i < ARRAY_COUNT(all);
}

int sweep_task_pack(const struct sweep *sweep, struct run_failure *failure)
{
    char archive[SWEEP_PATH_BYTES], cpu[EVENTS_CPU_TEXT_BYTES], target[sizeof cpu + 16];
    char **options = calloc(sweep->option_count + 1, sizeof options[0]);
    struct trial trial = {.options = options,
                          .option_count = sweep->option_count,
                          .program = sweep->program,
                          .program_count = sweep->program_count};
    int result;

    if (options == NULL)
        return run_fail(failure, "out of memory; end other programs");
    memcpy(options, sweep->options, sweep->option_count * sizeof options[0]);
    snprintf(target, sizeof target, "--target-cpu=%s",
             events_cpu_text(&sweep->plan.machine.cpu, cpu));
    if (sweep->stick != 0)
        options[trial.option_count++] = target;
    result = remote_task_pack(&trial, sweep_path(sweep, SWEEP_ARCHIVE, archive), failure);
    free(options);
    return result;
}

struct job {
    const struct sweep *sweep;
    const struct sweep_job *job;
};

static int run(struct remote_task *task, const struct trial_files *files,
               struct run_failure *failure)
{
    const struct job *job = task->context;
    const struct sweep *sweep = job->sweep;
    char archive[SWEEP_PATH_BYTES];
    char *program[] = {sweep_path(sweep, SWEEP_ARCHIVE, archive)};
    char **options = calloc(sweep->option_count + 1, sizeof options[0]);
    char *list = job->job == &sweep->first
                     ? strdup(SWEEP_AXIS)
                     : sweep_plan_list(&sweep->plan, &sweep->plan.runs[job->job->run]);
    struct trial trial = {
        .options = options, .events = list, .program = program, .program_count = 1};
    struct trial_output output;
    int status = -1;

    if (options != NULL)
        trial.option_count = remote_task_rest(sweep->options, sweep->option_count, options);
    if (options != NULL && list != NULL)
        status = trial_run(&trial, files, &output, failure);
    else
        run_fail(failure, "out of memory; end other programs");
    free(options);
    free(list);
    return status;
}

int sweep_task_command(int argc, char **argv)
{
    static struct sweep sweep;
    struct job job = {.sweep = &sweep};
    struct remote_task task = {.context = &job, .run = run};
    struct run_failure failure = {0};
    int result = -1;

    remote_task_parse(&task, "Performs one run of a sweep: hr sweep starts this on other machines.",
                      argc, argv);
    snprintf(sweep.folder, sizeof sweep.folder, "%s", task.folder);
    if (sweep_folder_load(&sweep, &failure) == 0) {
        job.job = sweep_task_find(&sweep, task.name);
        result = job.job != NULL ? remote_task_perform(&task, &failure)
                                 : run_fail(&failure, "%s: the sweep has no such run", task.name);
    }
    sweep_free(&sweep);
    return result == 0 ? HR_EXIT_OK : error_exit(failure.exit_status, "%s", failure.text);
}
