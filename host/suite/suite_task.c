/* Makes what another machine needs for a benchmark, and performs it there. */
#include "host/suite/suite_task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/transfer.h"
#include "host/remote/remote_task.h"

#define OPTIONS_BYTES_MAX (1u << 20)

enum { PART_OPTIONS, PART_INPUT, PART_ARCHIVE };

static int write_options(const struct suite_benchmark *b, uint32_t warm_up, const char *path,
                         struct run_failure *failure)
{
    FILE *file = fopen(path, "we");
    bool good = file != NULL && fprintf(file, "%u%c", warm_up, 0) > 0;

    for (size_t i = 0; i < b->options.count && good; i++)
        good = fwrite(b->options.list[i], strlen(b->options.list[i]) + 1, 1, file) == 1;
    if (file != NULL)
        good &= fclose(file) == 0;
    return good ? 0 : run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
}

/* Joins the parts.  Returns as suite_task_make. */
static int write_task(const char *path, const char *const parts[REMOTE_PARTS],
                      struct run_failure *failure)
{
    struct remote_parcel parcel;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), result;

    if (fd < 0)
        return run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
    remote_parcel_here(&parcel);
    result = remote_parcel_write(&parcel, parts, fd, failure);
    return close(fd) == 0 || result != 0
               ? result
               : run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
}

int suite_task_make(const struct suite *suite, const struct suite_benchmark *b,
                    const struct suite_selection *selection, const char *folder,
                    struct run_failure *failure)
{
    char options[REMOTE_PATH_BYTES], archive[REMOTE_PATH_BYTES], task[REMOTE_PATH_BYTES];
    char input[3 * SUITE_PATH_BYTES] = "/dev/null";
    const char *const parts[REMOTE_PARTS] = {options, input, archive};
    struct suite_places places;
    const struct trial trial = {.options = b->options.list,
                                .option_count = b->options.count,
                                .program = b->command.list,
                                .program_count = b->command.count,
                                .place = {places.directory, NULL}};
    int result;

    suite_places_set(suite, b, folder, 1, &places);
    snprintf(options, sizeof options, "%.4000s/tasks/%s.options", folder, b->name);
    snprintf(archive, sizeof archive, "%.4000s/tasks/%s.cpio", folder, b->name);
    snprintf(task, sizeof task, "%.4000s/tasks/%s" SUITE_TASK, folder, b->name);
    if (b->input != NULL)
        snprintf(input, sizeof input, "%s%s%s", b->input[0] == '/' ? "" : places.directory,
                 b->input[0] == '/' ? "" : "/", b->input);
    if (access(input, R_OK) != 0)
        return run_fail(failure, "cannot read '%s': %s", input, strerror(errno)), 1;
    result = remote_task_pack(&trial, archive, failure) != 0
                 ? (failure->exit_status > RUN_EXIT_SIGNAL_BASE ? -1 : 1)
                 : 0;
    if (result == 0)
        result = write_options(b, suite_warm_up(b, selection), options, failure);
    if (result == 0)
        result = write_task(task, parts, failure);
    unlink(options);
    unlink(archive);
    return result;
}

/* ---- there */

struct there {
    char task[REMOTE_PATH_BYTES];
    char *options; /* owned */
    size_t bytes;
};

static int read_options(struct there *there, const char *path, struct run_failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = -ENOMEM;

    there->options = malloc(OPTIONS_BYTES_MAX);
    if (fd >= 0 && there->options != NULL)
        count = transfer_read(fd, there->options, OPTIONS_BYTES_MAX - 1);
    if (fd >= 0)
        close(fd);
    if (count <= 0 || there->options[count - 1] != 0)
        return run_fail(failure, "'%s' is no task of hr suite", there->task);
    there->bytes = (size_t)count;
    return 0;
}

/* Runs it with the options that an archive does not have. */
static int run_archive(const struct there *there, const char *const paths[REMOTE_PARTS],
                       const struct trial_files *files, struct run_failure *failure)
{
    char **all = calloc(there->bytes + 1, sizeof all[0]);
    char *program[] = {(char *)paths[PART_ARCHIVE]};
    struct trial trial = {
        .program = program, .program_count = 1, .options = all, .place = {NULL, paths[PART_INPUT]}};
    struct trial_output output;
    uint64_t warm_up = 0;
    size_t count = 0;
    int status = 0;

    if (all == NULL)
        return run_fail(failure, "out of memory; end other programs");
    (void)option_number(there->options, 0, SUITE_REPEAT_MAX, &warm_up);
    for (size_t at = strlen(there->options) + 1; at < there->bytes;
         at += strlen(there->options + at) + 1)
        all[count++] = there->options + at;
    trial.option_count = remote_task_rest(all, count, all);
    for (uint64_t i = 0; i <= warm_up && status >= 0; i++)
        status = trial_run(&trial, files, &output, failure);
    free(all);
    return status;
}

static int run(struct remote_task *t, const struct trial_files *files, struct run_failure *failure)
{
    static const char *const names[REMOTE_PARTS] = {"options", "input", "program.cpio"};
    struct there *there = t->context;
    char room[REMOTE_PARTS][RUN_CHILD_FOLDER_BYTES + 16];
    const char *const paths[REMOTE_PARTS] = {room[0], room[1], room[2]};
    struct remote_parcel parcel;
    int status = -1;

    for (size_t i = 0; i < REMOTE_PARTS; i++)
        snprintf(room[i], sizeof room[i], "%s/%s", t->temporary, names[i]);
    if (remote_parcel_read(&parcel, there->task, paths, failure) == 0 &&
        read_options(there, paths[PART_OPTIONS], failure) == 0)
        status = run_archive(there, paths, files, failure);
    free(there->options);
    for (size_t i = 0; i < REMOTE_PARTS; i++)
        unlink(paths[i]);
    return status;
}

int suite_task_command(int argc, char **argv)
{
    static struct there there;
    struct remote_task task = {.context = &there, .run = run};
    struct run_failure failure = {0};

    remote_task_parse(&task, "Performs one run of a suite: hr suite starts this on other machines.",
                      argc, argv);
    if (task.output != NULL)
        snprintf(there.task, sizeof there.task, "%.4000s/" SUITE_TASK_THERE, task.folder);
    else
        snprintf(there.task, sizeof there.task, "%.4000s/tasks/%.*s" SUITE_TASK, task.folder,
                 (int)strcspn(task.name, "+"), task.name);
    return remote_task_perform(&task, &failure) == 0
               ? HR_EXIT_OK
               : error_exit(failure.exit_status, "%s", failure.text);
}
