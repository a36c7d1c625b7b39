/* Takes the traces of a sweep that machines performed which started from a stick. */
#include "host/sweep/sweep_take.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "host/summary/summary.h"
#include "host/sweep/database/sweep_merge.h"
#include "host/sweep/runs/sweep_remote.h"
#include "host/sweep/runs/sweep_results.h"
#include "host/sweep/runs/sweep_stick.h"
#include "host/sweep/sweep_perform.h"
#include "host/usb/usb_collect.h"

#define STICK_FOLDER "tasks/stick" /* what came off a stick, until it is taken */

struct taking {
    struct sweep *sweep;
    struct sweep_remote remote;
    struct sweep_results results;
    size_t known; /* results whose jobs are done, or given up */
    char said[sizeof((struct remote *)0)->reason]; /* the last reason */
};

static struct sweep_job *find_job(struct sweep *sweep, uint64_t number)
{
    if (number == SWEEP_STICK_FIRST)
        return &sweep->first;
    if (number < SWEEP_STICK_JOBS || number - SWEEP_STICK_JOBS >= sweep->job_count)
        return NULL;
    return &sweep->jobs[number - SWEEP_STICK_JOBS];
}

/* Copies a file; one that is missing becomes an empty one.  Returns 0 or -errno. */
static int copy(const struct sweep_result_place *place, const char *name, const char *to)
{
    char from[PATH_MAX + 16];
    struct stat status;
    ssize_t count = 1;
    int in, out, error = 0;

    snprintf(from, sizeof from, "%s/%s", place->path, name);
    in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0)
        error = -errno;
    if (in >= 0 && error == 0 && fstat(in, &status) == 0 && S_ISREG(status.st_mode))
        while (count > 0)
            count = sendfile(out, in, NULL, 1u << 30);
    if (count < 0)
        error = -errno;
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && error == 0)
        error = -errno;
    return error;
}

/* What the trace says of the run: status, host.  Returns 0, or -1 with the failure filled: there is
 * no trace, or the folder cannot be written. */
static int describe(struct taking *t, const struct sweep_result_place *place, struct sweep_job *job,
                    const char *trace, struct remote_parcel *parcel, bool *refused,
                    struct run_failure *failure)
{
    static struct summary summary;
    char kernel[2 * REMOTE_FACT_BYTES], path[SWEEP_PATH_BYTES];

    if (summary_from_file(trace, &summary) != 0)
        return run_fail(failure, "%s",
                        place->reason[0] != 0 ? place->reason : "there is no trace of it");
    *refused = summary.info.has_exit && summary.info.exit.kind == HR_EXIT_REFUSED;
    parcel->status = summary_exit_status(&summary);
    if (parcel->status < 0)
        parcel->status = RUN_EXIT_FAILED;
    snprintf(kernel, sizeof kernel, "Microtome %.80s",
             trace_info_text(&summary.info, "kernel.version", ""));
    snprintf(parcel->host, sizeof parcel->host, "%s", place->machine);
    remote_parcel_text(parcel->kernel, sizeof parcel->kernel, kernel);
    remote_parcel_text(parcel->processor, sizeof parcel->processor,
                       trace_info_text(&summary.info, "machine.model", ""));
    if (job == &t->sweep->first)
        snprintf(t->sweep->plan.machine.processor, sizeof t->sweep->plan.machine.processor, "%s",
                 trace_info_text(&summary.info, "machine.model", ""));
    summary_free(&summary);
    job->remote.host = remote_machines_note(
        &t->sweep->machines, sweep_path(t->sweep, REMOTE_MACHINES, path), parcel, failure);
    return job->remote.host != 0 ? 0 : -1;
}

static int write_reason(const struct taking *t, const struct sweep_job *job,
                        const struct sweep_result_place *place, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];

    return remote_write_file(sweep_job_path(t->sweep, job, SWEEP_ERRORS, path), place->reason,
                             failure);
}

static void say(struct taking *t, const struct sweep_result_place *place, const char *reason)
{
    char text[2 * sizeof t->said];

    if (strncmp(t->said, reason, 390) != 0) /* a folder may have hundreds of another machine */
        error_print("%s is not taken: %s", place->path, text_escape(text, sizeof text, reason));
    snprintf(t->said, sizeof t->said, "%.390s", reason);
}

/* A run whose program was refused has an event that this machine cannot count. */
static int give_up(struct taking *t, struct sweep_job *job, const struct sweep_result_place *place,
                   struct run_failure *failure)
{
    if (job == &t->sweep->first || t->sweep->first.state != SWEEP_DONE ||
        write_reason(t, job, place, failure) != 0)
        return failure->exit_status != 0 ? -1 : 0;
    return sweep_measure_failed(t->sweep, (size_t)(job - t->sweep->jobs), failure);
}

/* Takes one result.  Returns 0, also when it cannot be taken, or -1 with the failure filled: the
 * folder cannot be written. */
static int take(struct taking *t, const struct sweep_result_place *place,
                struct run_failure *failure)
{
    char trace[SWEEP_PATH_BYTES], output[SWEEP_PATH_BYTES];
    struct sweep_job *job = find_job(t->sweep, place->number);
    struct remote_parcel parcel = {0};
    struct run_failure words = {0};
    enum remote_taken taken = REMOTE_TAKEN_NOTHING;
    bool refused = false;
    int error;

    if (job == NULL || job->state != SWEEP_WAITS) {
        t->known++;
        return 0;
    }
    sweep_job_path(t->sweep, job, SWEEP_PARTIAL, trace);
    sweep_job_path(t->sweep, job, SWEEP_OUTPUT, output);
    error = copy(place, "hr.bin", trace);
    if (error == 0)
        error = copy(place, "stdout", output);
    if (error != 0)
        return run_fail(failure, "%s: %s", t->sweep->folder, strerror(-error));
    job->remote.tries = SWEEP_TRIES; /* each boot performs it once: it ends as it ends */
    if (describe(t, place, job, trace, &parcel, &refused, &words) == 0)
        taken = sweep_remote_accept(&t->remote, job, &parcel, &words);
    if (taken == REMOTE_TAKEN) {
        t->remote.remote.good++;
        return 0;
    }
    unlink(trace);
    unlink(output);
    say(t, place,
        words.text[0] != 0      ? words.text
        : place->reason[0] != 0 ? place->reason
                                : t->remote.remote.reason);
    return refused ? give_up(t, job, place, failure) : 0;
}

/* Everything is judged by the first run. */
static int take_all(struct taking *t, struct run_failure *failure)
{
    const struct sweep_results *r = &t->results;

    for (size_t i = 0; i < r->count; i++) {
        if (take(t, &r->places[i], failure) != 0)
            return -1;
        if (t->sweep->first.state != SWEEP_DONE && i + 1 < r->count &&
            r->places[i + 1].number != SWEEP_STICK_FIRST)
            return run_fail(failure,
                            "nothing is taken without the first run of the sweep, by which "
                            "the others are judged; 'hr sweep --resume -o %s' writes a "
                            "stick with it",
                            t->sweep->folder);
    }
    return sweep_folder_save(t->sweep, failure);
}

static int remove_one(const char *path, const struct stat *, int /* type */, struct FTW *)
{
    return remove(path);
}

/* Copies what is on a stick or an image into a folder of the sweep's. */
static int collect(const struct sweep *sweep, const char *stick, char path[SWEEP_PATH_BYTES],
                   struct run_failure *failure)
{
    static struct usb_options o;

    sweep_path(sweep, STICK_FOLDER, path);
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    o = (struct usb_options){.collect = stick, .output = path, .run = {.quiet = true}};
    return usb_collect(&o, failure) < 0 ? -1 : 0;
}

static int take_from(struct taking *t, const char *source, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES], name[SWEEP_STICK_NAME_BYTES];
    struct stat status;
    bool is_stick = stat(source, &status) == 0 && !S_ISDIR(status.st_mode);
    size_t before = t->remote.remote.good;
    int result;

    if (is_stick && collect(t->sweep, source, path, failure) != 0)
        return -1;
    result = sweep_results_find(&t->results, t->sweep, is_stick ? path : source, failure);
    if (result == 0 && t->results.count == 0)
        result = run_fail(failure,
                          "%s has no results of this sweep, which are called %s%s; name the stick, "
                          "or the folder of hr collect or hr usb --collect",
                          source, sweep_stick_name(t->sweep, name),
                          t->results.others != 0 ? ", but others" : "");
    if (result == 0)
        result = take_all(t, failure);
    sweep_results_free(&t->results);
    if (is_stick)
        (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (result == 0)
        fprintf(stderr, "hr: %s: %zu taken, %zu known\n", source, t->remote.remote.good - before,
                t->known);
    return result;
}

struct take_options {
    struct sweep sweep;
    const char **sources;
    size_t source_count;
    uint64_t bins;
    bool quiet;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'b', OPTION_NUMBER, offsetof(struct take_options, bins), "bins",
         "not a number from 1 to 10000", 1, SWEEP_BINS_MAX},
        {'q', OPTION_FLAG, .offset = offsetof(struct take_options, quiet)},
        {0},
    };
    struct take_options *c = state->input;

    if (option_store(fields, key, argument, c, state))
        return 0;
    if (key == 'o' && strlen(argument) >= sizeof c->sweep.folder)
        argp_error(state, "-o: the name of the folder is too long");
    else if (key == 'o')
        snprintf(c->sweep.folder, sizeof c->sweep.folder, "%s", argument);
    else if (key == ARGP_KEY_ARG)
        c->sources[c->source_count++] = argument;
    else if (key == ARGP_KEY_END && c->source_count == 0)
        argp_error(state, "name the stick, its image, or the folder of hr collect");
    else if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static int take_sources(struct take_options *c, struct run_failure *failure)
{
    static struct taking t;
    int result = sweep_folder_load(&c->sweep, failure);

    if (result == 0 && c->sweep.stick == 0)
        result = run_fail(failure,
                          "%s: its runs are not on sticks; 'hr sweep --usb' begins a sweep "
                          "whose runs are",
                          c->sweep.folder);
    t = (struct taking){.sweep = &c->sweep, .remote = {.sweep = &c->sweep}};
    if (result == 0)
        result = sweep_remote_recall(&t.remote, failure);
    for (size_t i = 0; i < c->source_count && result == 0; i++)
        result = take_from(&t, c->sources[i], failure);
    return result;
}

/* What is there is shown, and then what is missing. */
static int conclude(const struct take_options *c)
{
    const struct sweep *sweep = &c->sweep;
    size_t waiting = sweep_stick_waiting(sweep);
    int status = sweep->first.state == SWEEP_DONE ? sweep_conclude(sweep, c->bins, c->quiet)
                                                  : HR_EXIT_FAILED;

    if (waiting == 0)
        return status;
    error_print("%zu of %zu runs are missing; start the machine from the stick again, or 'hr sweep "
                "--resume -o %s' writes another",
                waiting, sweep->job_count + 1, sweep->folder);
    return HR_EXIT_FAILED;
}

int sweep_take_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FOLDER", 0, "the folder of the sweep (default sweep)", 0},
        {"bins", 'b', "N", 0, "divide the program's instructions into N parts (default 200)", 0},
        {"quiet", 'q', 0, 0, "no table", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "STICK|IMAGE|FOLDER...",
        .doc = "Takes the traces of a sweep from a stick that hr sweep --usb wrote, or from the "
               "folder of hr collect or hr usb --collect."
               "\vExit status: 0; 1 when runs are missing or do not agree; 125 when Microtome "
               "failed."};
    static struct take_options c = {.bins = SWEEP_BINS_DEFAULT};
    struct run_failure failure = {0};
    char name[] = "hr sweep take";
    int status;

    argv[0] = name;
    argp_err_exit_status = RUN_EXIT_FAILED;
    strcpy(c.sweep.folder, SWEEP_FOLDER_DEFAULT);
    c.sources = calloc((size_t)argc, sizeof c.sources[0]);
    if (c.sources == NULL)
        return error_exit(RUN_EXIT_FAILED, "out of memory; end other programs");
    command_line_parse(&argp, argc, argv, 0, &c);
    status = take_sources(&c, &failure) == 0 ? conclude(&c)
                                             : error_exit(failure.exit_status, "%s", failure.text);
    sweep_free(&c.sweep);
    free(c.sources);
    return status;
}
