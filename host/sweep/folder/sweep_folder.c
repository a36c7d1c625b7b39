/* Keeps a sweep in its folder. */
#include "host/sweep/folder/sweep_folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/array.h"
#include "lib/array.h"
#include "lib/splitmix.h"

char *sweep_path(const struct sweep *sweep, const char *name, char path[SWEEP_PATH_BYTES])
{
    snprintf(path, SWEEP_PATH_BYTES, "%s/%.190s", sweep->folder, name);
    return path;
}

char *sweep_job_path(const struct sweep *sweep, const struct sweep_job *job, const char *ending,
                     char path[SWEEP_PATH_BYTES])
{
    char name[80];

    if (job == &sweep->first)
        snprintf(name, sizeof name, "runs/first%s", ending);
    else
        snprintf(name, sizeof name, "runs/%04" PRIu32 "-%" PRIu32 "%s", job->run + 1,
                 job->repetition + 1, ending);
    return sweep_path(sweep, name, path);
}

void sweep_free(struct sweep *sweep)
{
    sweep_plan_free(&sweep->plan);
    array_free_texts(&sweep->program, &sweep->program_count);
    array_free_texts(&sweep->options, &sweep->option_count);
    free(sweep->machines.list);
    remote_where_free(&sweep->where);
    free(sweep->usb);
    free(sweep->usb_options);
    free(sweep->jobs);
    *sweep = (struct sweep){0};
}

int sweep_add_jobs(struct sweep *sweep, uint32_t run)
{
    for (uint32_t i = 0; i < sweep->repeat; i++) {
        if (array_grow(&sweep->jobs, sweep->job_count, sizeof sweep->jobs[0]) != 0)
            return -ENOMEM;
        sweep->jobs[sweep->job_count++] = (struct sweep_job){.run = run, .repetition = i};
    }
    return 0;
}

/* Fisher and Yates's shuffle, so that no event is always measured early, or on a warm machine. */
int sweep_make_jobs(struct sweep *sweep)
{
    uint64_t state = sweep->seed;

    for (uint32_t run = 0; run < sweep->plan.run_count; run++)
        if (sweep_add_jobs(sweep, run) != 0)
            return -ENOMEM;
    for (size_t left = sweep->job_count; left > 1; left--) {
        size_t other = splitmix_next(&state) % left;
        struct sweep_job job = sweep->jobs[left - 1];

        sweep->jobs[left - 1] = sweep->jobs[other];
        sweep->jobs[other] = job;
    }
    return 0;
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    size_t entries = 0;

    while (folder != NULL && readdir(folder) != NULL)
        entries++;
    if (folder != NULL)
        closedir(folder);
    return folder != NULL && entries == 2; /* . and .. */
}

int sweep_folder_make(const struct sweep *sweep, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];

    if (mkdir(sweep->folder, 0777) != 0 && errno != EEXIST)
        return run_fail(failure, "cannot make the folder '%s': %s", sweep->folder, strerror(errno));
    if (!is_empty(sweep->folder))
        return run_fail(failure,
                        "'%s' is there and is no empty folder; name another one, or continue its "
                        "sweep with --resume",
                        sweep->folder);
    if (mkdir(sweep_path(sweep, "runs", path), 0777) == 0 &&
        ((!remote_where_is(&sweep->where) && sweep->stick == 0) ||
         mkdir(sweep_path(sweep, "tasks", path), 0777) == 0))
        return 0;
    return run_fail(failure, "cannot make the folder '%s': %s", path, strerror(errno));
}

static json_t *texts_json(char **texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

static json_t *events_json(const struct sweep_plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->event_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", plan->events[i].name,
                                              "description", plan->events[i].description));
    return list;
}

static json_t *runs_json(const struct sweep_plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->run_count; i++) {
        json_t *run = json_array();

        for (uint32_t j = 0; j < plan->runs[i].count; j++)
            json_array_append_new(run, json_integer(plan->runs[i].events[j]));
        json_array_append_new(list, run);
    }
    return list;
}

static json_t *jobs_json(const struct sweep *sweep)
{
    json_t *list = json_array();

    for (size_t i = 0; i < sweep->job_count; i++)
        json_array_append_new(
            list, json_pack("[i,i]", (int)sweep->jobs[i].run, (int)sweep->jobs[i].repetition));
    return list;
}

static json_t *where_json(const struct sweep *sweep)
{
    const struct remote_where *where = &sweep->where;

    return json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:s*}", "hosts", where->hosts, "slurm",
                     where->slurm, "usb", sweep->usb, "usb-options", sweep->usb_options, "ssh",
                     where->ssh, "hr", where->hr);
}

/* The machine that sticks are for; NULL: there are none. */
static json_t *stick_json(const struct sweep *sweep)
{
    const struct sweep_machine *m = &sweep->plan.machine;
    char cpu[EVENTS_CPU_TEXT_BYTES];

    if (sweep->stick == 0)
        return NULL;
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I}", "id", (json_int_t)sweep->stick, "cpu",
                     events_cpu_text(&m->cpu, cpu), "stepping", (json_int_t)m->cpu.stepping,
                     "version", (json_int_t)m->cpu.pmu_version, "general", (json_int_t)m->general,
                     "fixed", (json_int_t)m->fixed);
}

int sweep_folder_save(const struct sweep *sweep, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];
    json_t *all = json_pack(
        "{s:i, s:o, s:o*, s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "version", SWEEP_VERSION,
        "where", where_json(sweep), "stick", stick_json(sweep), "program",
        texts_json(sweep->program, sweep->program_count), "options",
        texts_json(sweep->options, sweep->option_count), "processor", sweep->plan.machine.processor,
        "repeat", (json_int_t)sweep->repeat, "seed", (json_int_t)sweep->seed, "least",
        (json_int_t)sweep->plan.least, "events", events_json(&sweep->plan), "runs",
        runs_json(&sweep->plan), "jobs", jobs_json(sweep));
    char *text = all != NULL ? json_dumps(all, JSON_COMPACT) : NULL;
    int result = text != NULL
                     ? remote_write_file(sweep_path(sweep, "sweep.json", path), text, failure)
                     : run_fail(failure, "out of memory, or an argument that is no UTF-8");

    free(text);
    json_decref(all);
    return result;
}

int sweep_folder_note(const struct sweep *sweep, const struct sweep_job *job,
                      struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];
    FILE *file = fopen(sweep_path(sweep, "jobs.csv", path), "ae");
    uint32_t run = job == &sweep->first ? SWEEP_FIRST : job->run;

    if (file == NULL ||
        fprintf(file, "%" PRIu32 ",%" PRIu32 ",%d,%d,%" PRIu64 ",%08" PRIx32 ",%s\n", run,
                job->repetition, job->state, job->status, job->output.bytes, job->output.crc32c,
                sweep_job_host(sweep, job)) < 0 ||
        fclose(file) != 0)
        return run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
    return 0;
}

const char *sweep_job_host(const struct sweep *sweep, const struct sweep_job *job)
{
    return remote_machines_name(&sweep->machines, job->remote.host);
}

void sweep_folder_remove(const struct sweep *sweep)
{
    static const char *const endings[] = {SWEEP_TRACE, ".part", ".out", ".err"};
    static const char *const names[] = {"sweep.json", "jobs.csv", REMOTE_MACHINES, SWEEP_ARCHIVE};
    char path[SWEEP_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
        unlink(sweep_job_path(sweep, &sweep->first, endings[i], path));
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        unlink(sweep_path(sweep, names[i], path));
    rmdir(sweep_path(sweep, "tasks", path));
    rmdir(sweep_path(sweep, "runs", path));
    rmdir(sweep->folder);
}
