/* Performs a job where it is started. */
#include "host/remote/remote_task.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "lib/array.h"

/* Options that an archive has; with what begins so.  Those of both are for hr pack and hr run. */
static const char *const packed[] = {"--interval=",       "-i",
                                     "--mode=",           "-m",
                                     "--count=",          "-c",
                                     "--freq=",           "-F",
                                     "--call-graph",      "-g",
                                     "--cpus=",           "--env=",
                                     "--file=",           "--max-overhead=",
                                     "--counters-every=", "--prefault",
                                     "--processes=",      "--root=",
                                     "--python",          "--waits",
                                     "--pages",           "--probe",
                                     "--alloc",           "--regs",
                                     "--jitter",          "--load-latency=",
                                     "--paused",          "--target-cpu="};
static const char *const both[] = {"--mem=", "--accel="};

static bool begins(const char *option, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(option, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

size_t remote_task_rest(char **options, size_t count, char **rest)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (!begins(options[i], packed, ARRAY_COUNT(packed)))
            rest[used++] = options[i];
    return used;
}

int remote_task_pack(const struct trial *trial, const char *archive, struct run_failure *failure)
{
    char errors[REMOTE_PATH_BYTES + 8], text[RUN_CHILD_REASON_BYTES];
    char *fixed[] = {(char *)"hr", (char *)"pack", (char *)"--force", (char *)"-o",
                     (char *)archive};
    char **all =
        calloc(ARRAY_COUNT(fixed) + trial->option_count + trial->program_count + 2, sizeof all[0]);
    size_t count = ARRAY_COUNT(fixed);
    const struct run_child_place place = {trial->place.directory, NULL};
    int status;

    if (all == NULL)
        return run_fail(failure, "out of memory; end other programs");
    memcpy(all, fixed, sizeof fixed);
    for (size_t i = 0; i < trial->option_count; i++)
        if (begins(trial->options[i], packed, ARRAY_COUNT(packed)) ||
            begins(trial->options[i], both, ARRAY_COUNT(both)))
            all[count++] = trial->options[i];
    all[count++] = (char *)"--";
    memcpy(all + count, trial->program, trial->program_count * sizeof all[0]);
    snprintf(errors, sizeof errors, "%s.err", archive);
    status = run_child_in(&place, all, NULL, errors, failure);
    free(all);
    if (status > 0)
        status = run_fail_as(failure, status, "%s", run_child_reason(errors, text));
    unlink(errors);
    return status;
}

/* A parcel in the folder has its name when it is whole. */
static int deliver(const struct remote_task *t, struct remote_parcel *parcel,
                   const char *const paths[REMOTE_PARTS], struct run_failure *failure)
{
    char partial[REMOTE_PATH_BYTES], whole[REMOTE_PATH_BYTES];
    int fd, result;

    if (t->output != NULL)
        return remote_parcel_write(parcel, paths, STDOUT_FILENO, failure);
    snprintf(partial, sizeof partial, "%.4000s/tasks/%s.%s.%d", t->folder, t->name, parcel->host,
             (int)getpid());
    snprintf(whole, sizeof whole, "%.4000s/tasks/%s" REMOTE_PARCEL, t->folder, t->name);
    fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return run_fail(failure, "%s: %s", partial, strerror(errno));
    result = remote_parcel_write(parcel, paths, fd, failure);
    if (close(fd) != 0 || (result == 0 && rename(partial, whole) != 0))
        result = run_fail(failure, "%s: %s", whole, strerror(errno));
    if (result != 0)
        unlink(partial);
    return result;
}

int remote_task_perform(struct remote_task *t, struct run_failure *failure)
{
    static const char *const names[REMOTE_PARTS] = {"output", "errors", "trace"};
    char room[REMOTE_PARTS][RUN_CHILD_FOLDER_BYTES + 16];
    const char *const paths[REMOTE_PARTS] = {room[0], room[1], room[2]};
    const struct trial_files files = {.trace = room[REMOTE_PART_TRACE],
                                      .output = room[REMOTE_PART_OUTPUT],
                                      .errors = room[REMOTE_PART_ERRORS]};
    struct remote_parcel parcel;
    int result = -1;

    if (run_child_folder(t->temporary, "task", failure) != 0)
        return -1;
    for (size_t i = 0; i < REMOTE_PARTS; i++)
        snprintf(room[i], sizeof room[i], "%s/%s", t->temporary, names[i]);
    remote_parcel_here(&parcel);
    parcel.status = t->run(t, &files, failure);
    if (parcel.status >= 0)
        result = deliver(t, &parcel, paths, failure);
    for (size_t i = 0; i < REMOTE_PARTS; i++)
        unlink(paths[i]);
    rmdir(t->temporary);
    return result;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct remote_task *t = state->input;

    if (key == 'o' && strcmp(argument, "-") != 0)
        argp_error(state, "-o: there is only -, standard output");
    if (key == 'o')
        t->output = argument;
    else if (key == ARGP_KEY_ARG && state->arg_num == 0)
        t->folder = argument;
    else if (key == ARGP_KEY_ARG && state->arg_num == 1)
        t->name = argument;
    else if (key == ARGP_KEY_END && t->name == NULL)
        argp_error(state, "name the folder and the run");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

void remote_task_parse(struct remote_task *t, const char *doc, int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "-", 0, "write the result to standard output", 0}, {0}};
    const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "FOLDER JOB", .doc = doc};

    command_line_parse(&argp, argc, argv, 0, t);
}
