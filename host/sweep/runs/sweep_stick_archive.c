/* Makes the archive of a stick: the program, and the events of each run that waits. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/events/events_run.h"
#include "host/options/options_packed.h"
#include "host/run/run_packed.h"
#include "host/sweep/runs/sweep_stick.h"
#include "host/sweep/runs/sweep_task.h"
#include "lib/array.h"

struct draft { /* a manifest */
    char *out; /* RUN_MANIFEST_BYTES_MAX */
    size_t used;
    bool full;
};

static void add(struct draft *d, const char *key, const char *value)
{
    size_t used =
        d->full ? 0 : manifest_append(d->out, RUN_MANIFEST_BYTES_MAX, d->used, key, value);

    d->full = used == 0;
    d->used = used != 0 ? used : d->used;
}

/* What the program's archive says, but for its events. */
static void add_common(struct draft *d, const struct manifest *m)
{
    static const char *const events[] = {
        "event=", "target-cpu=", "event-encoding=", "default-events="};

    for (const char *text = m->bytes; text < m->bytes + m->count; text += strlen(text) + 1) {
        size_t bytes = strlen(text) + 1, i = 0;

        while (i < ARRAY_COUNT(events) && strncmp(text, events[i], strlen(events[i])) != 0)
            i++;
        if (i < ARRAY_COUNT(events))
            continue;
        memcpy(d->out + d->used, text, bytes); /* it is shorter than that was */
        d->used += bytes;
    }
}

/* The events of some repetitions, encoded for the processor of the plan. */
static int add_set(struct draft *d, const struct sweep *sweep, const char *repetitions,
                   const struct events_wanted *wanted, struct run_failure *failure)
{
    const struct events_cpu *cpu = &sweep->plan.machine.cpu;
    struct events_encoding encodings[HR_EVENTS_MAX];
    char text[EVENTS_CPU_TEXT_BYTES];

    if (events_run_encode(cpu, wanted, encodings, failure) != 0)
        return -1;
    add(d, "repetitions", repetitions);
    for (size_t i = 0; i < wanted->count; i++)
        add(d, "event", wanted->names[i]);
    add(d, "target-cpu", events_cpu_text(cpu, text));
    for (size_t i = 0; i < wanted->count; i++) {
        const struct events_encoding *e = &encodings[i];

        snprintf(text, sizeof text, "%" PRIx64 ":%" PRIx64 ":%" PRIx32, e->select, e->companion,
                 e->counters);
        add(d, "event-encoding", text);
    }
    return 0;
}

/* The numbers of the jobs of a run that wait, with commas.  NULL: there are none, or no memory. */
static char *list_jobs(const struct sweep *sweep, uint32_t run)
{
    char *list = NULL;
    size_t bytes = 0, count = 0;
    FILE *out = open_memstream(&list, &bytes);

    for (size_t i = 0; i < sweep->job_count && out != NULL; i++)
        if (sweep->jobs[i].run == run && sweep->jobs[i].state == SWEEP_WAITS)
            fprintf(out, "%s%zu", count++ != 0 ? "," : "", i + SWEEP_STICK_JOBS);
    if (out != NULL && fclose(out) == 0 && count != 0)
        return list;
    free(list);
    return NULL;
}

static int add_run(struct draft *d, const struct sweep *sweep, uint32_t number,
                   struct run_failure *failure)
{
    const struct sweep_run *run = &sweep->plan.runs[number];
    struct events_wanted wanted = {.names = {(char *)SWEEP_AXIS}, .count = 1, .quiet = true};
    char *repetitions = list_jobs(sweep, number);
    int result;

    if (repetitions == NULL)
        return 0;
    for (uint32_t i = 0; i < run->count; i++)
        wanted.names[wanted.count++] = sweep->plan.events[run->events[i]].name;
    result = add_set(d, sweep, repetitions, &wanted, failure);
    free(repetitions);
    return result;
}

static int make_manifest(struct draft *d, const struct sweep *sweep, const struct manifest *m,
                         struct run_failure *failure)
{
    const struct events_wanted axis = {.names = {(char *)SWEEP_AXIS}, .count = 1, .quiet = true};
    char first[16];

    add_common(d, m);
    snprintf(first, sizeof first, "%u", SWEEP_STICK_FIRST);
    if (add_set(d, sweep, first, &axis, failure) != 0)
        return -1;
    for (uint32_t i = 0; i < sweep->plan.run_count; i++)
        if (add_run(d, sweep, i, failure) != 0)
            return -1;
    return d->full ? run_fail(failure,
                              "the plan of %zu runs is too long for a stick; name fewer "
                              "events",
                              sweep->plan.run_count)
                   : 0;
}

int sweep_stick_pack(const struct sweep *sweep, const char *path, struct run_failure *failure)
{
    struct draft d = {.out = malloc(RUN_MANIFEST_BYTES_MAX)};
    char program[SWEEP_PATH_BYTES];
    struct options_packed packed;
    int fd = -1, error = 0, result = -1;

    if (d.out == NULL)
        return run_fail(failure, "out of memory; end other programs");
    if (options_packed_open(&packed, sweep_path(sweep, SWEEP_ARCHIVE, program), failure) == 0)
        result = make_manifest(&d, sweep, &packed.manifest, failure);
    if (result == 0) {
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        error = fd < 0 ? -errno : run_packed_replace(&packed, d.out, d.used, fd);
        if (fd >= 0 && close(fd) != 0 && error == 0)
            error = -errno;
        if (error != 0)
            result = run_fail(failure, "%s: %s", path, strerror(-error));
    }
    close(packed.fd);
    free(d.out);
    return result;
}
