/* Counts samples with several workers and gives names to the counts. */
#include "host/report/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/profile_fold.h"
#include "host/scan/trace_parallel.h"

static void forget_counts(struct profile *p)
{
    places_free(&p->places);
    groups_free(&p->groups);
    rows_free(&p->rows);
    tree_free(&p->tree);
    p->ready = false;
    p->stamp = 0;
    p->marks = 0;
    p->waits = 0;
    p->all = (struct rows_count){0};
    memset(p->ends, 0, sizeof p->ends);
}

static void forget(struct profile *p)
{
    forget_counts(p);
    symbols_close(p->symbols);
    p->symbols = NULL;
}

void profile_free(struct profile *profile)
{
    forget(profile);
    pthread_mutex_destroy(&profile->lock);
}

/* Called when metadata is available; in a walk by one worker that is at the first samples. */
static int prepare(struct profile *p, const struct trace_info *info)
{
    const char *sort = p->options->sort;
    int error = p->symbols != NULL ? symbols_update(p->symbols, info)
                                   : symbols_open(&p->symbols, info, p->scan->symbols);

    if (error == 0)
        error = places_init(&p->places, p->symbols, p->options->tree);
    if (error == 0)
        error = groups_init(&p->groups);
    if (error == 0)
        error = rows_init(&p->rows);
    if (error == 0 && p->options->tree)
        error = tree_init(&p->tree);
    p->event_count = info->event_count;
    p->event = sort == NULL ? -1 : trace_info_find_event(info, sort);
    if (sort != NULL && p->event < 0)
        p->event = -2;
    p->ready = error == 0;
    return error;
}

/* Returns whether something did not fit.  The result then depends on the order, so one worker must
 * count again. */
static bool overflowed(const struct profile *p)
{
    return p->places.full || p->groups.full || p->rows.full || p->tree.full;
}

static int fold(struct profile_worker *w)
{
    struct profile *p = w->profile;
    int error = 0;

    pthread_mutex_lock(&p->lock);
    if (!p->ready)
        error = prepare(p, &w->scan->info);
    else
        error = symbols_update(p->symbols, &w->scan->info);
    if (error == 0 && p->event != -2)
        error = profile_fold(w);
    if (error == 0 && p->jobs > 1 && overflowed(p))
        error = -EAGAIN;
    pthread_mutex_unlock(&p->lock);
    tally_clear(&w->tally);
    return error;
}

static uint32_t group_of(struct profile_worker *w, const struct trace_samples *samples,
                         uint64_t time, uint64_t *until)
{
    const struct profile_options *o = w->profile->options;
    bool exact = samples->weights != NULL; /* these have no time */
    struct group group = {0};

    *until = UINT64_MAX;
    if (o->by_cpu)
        group.cpu = samples->chunk->cpu;
    if (o->by_process)
        group.process = trace_processes_of(&w->scan->info.processes, samples->slots[0].tid,
                                           exact ? UINT64_MAX : samples->slots[0].time);
    if (o->by_thread)
        group.tid = samples->slots[0].tid;
    if (o->sections != NULL)
        group.section = sections_find(o->sections, time, &w->section, until);
    if (w->group == 0 || memcmp(&group, &w->last, sizeof group) != 0) {
        w->group = groups_find(&w->groups, group);
        w->last = group;
    }
    return w->group;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct profile_worker *w = context;
    uint32_t first = 0;
    uint64_t until;
    int error = tally_reserve(&w->tally, samples->event_count, samples->count);

    if (error == -ENOSPC) {
        error = fold(w);
        if (error == 0)
            error = tally_reserve(&w->tally, samples->event_count, samples->count);
    }
    while (error == 0 && first < samples->count) {
        uint32_t group = group_of(w, samples, samples->slots[first].time, &until);
        uint32_t end = first + 1;

        if (until == UINT64_MAX)
            end = samples->count;
        while (end < samples->count && samples->slots[end].time < until)
            end++;
        tally_add(&w->tally, samples, first, end, group);
        first = end;
    }
    return error;
}

/* Counts a wait that has ended. */
static int add_wait(void *context, const struct off_cpu_event *wait, uint64_t ticks)
{
    struct profile_worker *w = context;
    const struct hr_chunk_header chunk = {.cpu = HR_CPU_NONE};
    const struct trace_slot slot = {.time = wait->time, .ip = wait->ip, .tid = wait->tid};
    const uint64_t ns = trace_info_ns(&w->scan->info, ticks);
    const struct trace_samples samples = {
        .chunk = &chunk,
        .previous = &slot, /* counters rose by nothing */
        .slots = &slot,
        .count = 1,
        .event_count = w->scan->info.event_count,
        .stacks = &wait->stack,
        .weights = &ns,
    };

    return ns != 0 ? take_samples(w, &samples) : 0;
}

static int take_waits(void *context, const struct trace_samples *samples)
{
    struct profile_worker *w = context;
    int error = off_cpu_full(&w->off) ? off_cpu_settle(&w->off, add_wait, w) : 0;

    return error == 0 ? off_cpu_take_waits(&w->off, samples) : error;
}

/* Waits begin in one chunk and end in another. */
static bool divides(void *owner, const struct trace_info * /*info*/)
{
    return !((const struct profile *)owner)->options->waits;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct profile_worker *w = context;

    struct hr_rec_switch change;

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (w->profile->options->waits)
        return off_cpu_take_record(&w->off, record);
    w->marks += record->type == HR_REC_MARK;
    w->waits += record->type == HR_REC_SWITCH &&
                trace_body(record, &change, sizeof change, NULL, NULL) &&
                change.reason == HR_SWITCH_BLOCK;
    return 0;
}

static void leave(void *, void *context)
{
    struct profile_worker *w = context;

    off_cpu_free(&w->off);
    tally_free(&w->tally);
    groups_free(&w->groups);
    free(w->nodes);
    free(w);
}

static void *join(void *owner, struct trace_scan *scan)
{
    struct profile *p = owner;
    struct profile_worker *w = calloc(1, sizeof *w);

    if (w == NULL)
        return NULL;
    w->profile = p;
    w->scan = scan;
    tally_init(&w->tally, PROFILE_TALLY_BYTES / p->jobs);
    if (groups_init(&w->groups) == 0)
        return w;
    leave(p, w);
    return NULL;
}

static int take(void *owner, void *context)
{
    struct profile *p = owner;
    struct profile_worker *w = context;
    int error = off_cpu_settle(&w->off, add_wait, w);

    if (error != 0)
        return error;
    p->marks += w->marks;
    p->waits += w->waits;
    if (p->jobs > 1 && w->groups.full)
        return -EAGAIN;
    return fold(w);
}

static void restart(void *owner)
{
    struct profile *p = owner;

    forget(p);
    p->jobs = 1;
}

static struct trace_visitor visitor_of(const struct profile_options *options)
{
    return (struct trace_visitor){
        .stacks = options->stacks ? TRACE_SCAN_STACKS : TRACE_SCAN_NO_STACKS,
        .exact = !options->waits,
        .names = true,
        .samples = options->waits ? NULL : take_samples,
        .waits = options->waits ? take_waits : NULL,
        .record = take_record,
    };
}

static void begin(struct profile *profile, struct trace_scan *scan,
                  const struct profile_options *options, unsigned int jobs)
{
    *profile = (struct profile){.options = options, .scan = scan, .event = -1};
    profile->jobs = trace_parallel_jobs(jobs, scan->file.file_bytes);
    pthread_mutex_init(&profile->lock, NULL);
}

int profile_run(struct profile *profile, struct trace_scan *scan,
                const struct profile_options *options, unsigned int jobs)
{
    const struct trace_team team = {
        .owner = profile,
        .visitor = visitor_of(options),
        .join = join,
        .take = take,
        .leave = leave,
        .restart = restart,
        .divides = divides,
    };

    begin(profile, scan, options, jobs);
    return trace_parallel_run(scan, &team, jobs);
}

struct profile_growing {
    struct profile *profile;
    struct profile now;
    struct profile_worker *worker;
};

struct profile_growing *profile_growing_new(struct profile *profile, struct trace_scan *scan,
                                            const struct profile_options *options)
{
    struct profile_growing *g = calloc(1, sizeof *g);

    begin(profile, scan, options, 1);
    if (g == NULL)
        return NULL;
    g->profile = profile;
    begin(&g->now, scan, options, 1);
    g->worker = join(profile, scan);
    if (g->worker != NULL)
        return g;
    profile_growing_free(g);
    return NULL;
}

void profile_growing_free(struct profile_growing *g)
{
    if (g->worker != NULL)
        leave(g->profile, g->worker);
    profile_free(&g->now);
    free(g);
}

/* Names of code that was made come last in a trace: without them addresses stay as they are. */
int profile_growing_read(struct profile_growing *g)
{
    struct trace_visitor visitor = visitor_of(g->profile->options);

    visitor.context = g->worker;
    visitor.names = false;
    return trace_scan_run(g->profile->scan, &visitor);
}

int profile_growing_now(struct profile_growing *g, bool total, struct profile **now)
{
    struct profile_worker worker = *g->worker;
    int error;

    worker.profile = *now = &g->now;
    worker.nodes = NULL;
    worker.node_count = 0;
    forget_counts(&g->now);
    error = prepare(&g->now, &g->profile->scan->info);
    if (error == 0)
        error = profile_fold(&worker);
    if (error == 0)
        error = profile_sort(&g->now, total);
    g->now.marks = worker.marks;
    g->now.waits = worker.waits;
    free(worker.nodes);
    return error;
}

int profile_growing_finish(struct profile_growing *g, unsigned int jobs)
{
    struct profile *p = g->profile;
    struct trace_scan *scan = p->scan;
    struct trace_names *names = scan->info.names;
    const struct profile_options *options = p->options;
    int error;

    if (names == NULL || trace_names_read(names) != 0 ||
        (names->made_count == 0 && (names->code_count == 0 || !p->ready)))
        return take(p, g->worker);
    error = trace_scan_rewind(scan);
    if (error != 0)
        return error;
    profile_free(p);
    return profile_run(p, scan, options, jobs);
}
