/* hr sweep task: performs one run of a sweep where it is started. */
#include "host/sweep/runs/sweep_task.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/run/run_child.h"
#include "host/trial/trial.h"
#include "lib/array.h"

/* Options that an archive has.  Those of both are for hr pack and hr run. */
static const char *const packed[] = {
    "--interval=",     "--mode=",    "--cpus=",      "--env=", "--file=",
    "--max-overhead=", "--prefault", "--processes=", "--root="};
static const char *const both[] = {"--mem=", "--accel="};

static bool begins(const char *option, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(option, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

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

int sweep_task_pack(const struct sweep *sweep, struct run_failure *failure)
{
    char archive[SWEEP_PATH_BYTES], errors[SWEEP_PATH_BYTES], text[RUN_CHILD_REASON_BYTES];
    char *fixed[] = {(char *)"hr", (char *)"pack", (char *)"--force", (char *)"-o",
                     sweep_path(sweep, SWEEP_ARCHIVE, archive)};
    char **all =
        calloc(ARRAY_COUNT(fixed) + sweep->option_count + sweep->program_count + 2, sizeof all[0]);
    size_t count = ARRAY_COUNT(fixed);
    int status;

    if (all == NULL)
        return run_fail(failure, "out of memory; end other programs");
    memcpy(all, fixed, sizeof fixed);
    for (size_t i = 0; i < sweep->option_count; i++)
        if (begins(sweep->options[i], packed, ARRAY_COUNT(packed)) ||
            begins(sweep->options[i], both, ARRAY_COUNT(both)))
            all[count++] = sweep->options[i];
    all[count++] = (char *)"--";
    memcpy(all + count, sweep->program, sweep->program_count * sizeof all[0]);
    status = run_child(all, NULL, sweep_path(sweep, "tasks/pack.err", errors), failure);
    free(all);
    if (status > 0)
        status = run_fail_as(failure, status, "%s", run_child_reason(errors, text));
    unlink(errors);
    return status;
}

struct task {
    struct sweep sweep;
    struct sweep_job *job;
    const char *name;
    const char *output; /* of the parcel; NULL: in the folder */
    char folder[RUN_CHILD_FOLDER_BYTES];
    char paths[SWEEP_PARTS][RUN_CHILD_FOLDER_BYTES + 16];
};

static int run(struct task *t, struct sweep_parcel *parcel, struct run_failure *failure)
{
    struct sweep *sweep = &t->sweep;
    char archive[SWEEP_PATH_BYTES];
    char *program[] = {sweep_path(sweep, SWEEP_ARCHIVE, archive)};
    char **options = calloc(sweep->option_count + 1, sizeof options[0]);
    char *list = t->job == &sweep->first
                     ? strdup(SWEEP_AXIS)
                     : sweep_plan_list(&sweep->plan, &sweep->plan.runs[t->job->run]);
    struct trial trial = {
        .options = options, .events = list, .program = program, .program_count = 1};
    const struct trial_files files = {.trace = t->paths[SWEEP_PART_TRACE],
                                      .output = t->paths[SWEEP_PART_OUTPUT],
                                      .errors = t->paths[SWEEP_PART_ERRORS]};
    struct trial_output output;

    for (size_t i = 0; options != NULL && i < sweep->option_count; i++)
        if (!begins(sweep->options[i], packed, ARRAY_COUNT(packed)))
            options[trial.option_count++] = sweep->options[i];
    parcel->status = options != NULL && list != NULL
                         ? trial_run(&trial, &files, &output, failure)
                         : run_fail(failure, "out of memory; end other programs");
    free(options);
    free(list);
    return parcel->status < 0 ? -1 : 0;
}

/* A parcel in the folder has its name when it is whole. */
static int deliver(const struct task *t, struct sweep_parcel *parcel, struct run_failure *failure)
{
    const char *const paths[SWEEP_PARTS] = {t->paths[0], t->paths[1], t->paths[2]};
    char partial[SWEEP_PATH_BYTES], whole[SWEEP_PATH_BYTES], name[SWEEP_HOST_BYTES + 80];
    int fd, result;

    if (t->output != NULL)
        return sweep_parcel_write(parcel, paths, STDOUT_FILENO, failure);
    snprintf(name, sizeof name, "tasks/%s.%s.%d", t->name, parcel->host, (int)getpid());
    sweep_path(&t->sweep, name, partial);
    snprintf(name, sizeof name, "tasks/%s" SWEEP_PARCEL, t->name);
    sweep_path(&t->sweep, name, whole);
    fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return run_fail(failure, "%s: %s", partial, strerror(errno));
    result = sweep_parcel_write(parcel, paths, fd, failure);
    if (close(fd) != 0 || (result == 0 && rename(partial, whole) != 0))
        result = run_fail(failure, "%s: %s", whole, strerror(errno));
    if (result != 0)
        unlink(partial);
    return result;
}

static int perform(struct task *t, struct run_failure *failure)
{
    static const char *const names[SWEEP_PARTS] = {"output", "errors", "trace"};
    struct sweep_parcel parcel;
    int result;

    if (sweep_folder_load(&t->sweep, failure) != 0)
        return -1;
    t->job = sweep_task_find(&t->sweep, t->name);
    if (t->job == NULL)
        return run_fail(failure, "%s: the sweep has no such run", t->name);
    if (run_child_folder(t->folder, "sweep", failure) != 0)
        return -1;
    for (size_t i = 0; i < SWEEP_PARTS; i++)
        snprintf(t->paths[i], sizeof t->paths[i], "%s/%s", t->folder, names[i]);
    sweep_parcel_here(&parcel);
    result = run(t, &parcel, failure);
    if (result == 0)
        result = deliver(t, &parcel, failure);
    for (size_t i = 0; i < SWEEP_PARTS; i++)
        unlink(t->paths[i]);
    rmdir(t->folder);
    return result;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct task *t = state->input;

    if (key == 'o' && strcmp(argument, "-") != 0)
        argp_error(state, "-o: there is only -, standard output");
    if (key == 'o')
        t->output = argument;
    else if (key == ARGP_KEY_ARG && state->arg_num == 0)
        snprintf(t->sweep.folder, sizeof t->sweep.folder, "%s", argument);
    else if (key == ARGP_KEY_ARG && state->arg_num == 1)
        t->name = argument;
    else if (key == ARGP_KEY_END && t->name == NULL)
        argp_error(state, "name the folder and the run");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int sweep_task_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "-", 0, "write the result to standard output", 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FOLDER JOB",
        .doc = "Performs one run of a sweep: hr sweep starts this on other machines."};
    static struct task task;
    struct run_failure failure = {0};
    int status;

    command_line_parse(&argp, argc, argv, 0, &task);
    status = perform(&task, &failure) == 0 ? HR_EXIT_OK : failure.exit_status;
    if (status != HR_EXIT_OK)
        error_print("%s", failure.text);
    sweep_free(&task.sweep);
    return status;
}
