/* Counts samples with several workers and gives names to the counts. */
#include "host/report/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/profile_fold.h"
#include "host/scan/trace_parallel.h"

static void forget(struct profile *p)
{
    symbols_close(p->symbols);
    places_free(&p->places);
    groups_free(&p->groups);
    rows_free(&p->rows);
    tree_free(&p->tree);
    p->symbols = NULL;
    p->ready = false;
    p->stamp = 0;
    p->marks = 0;
    p->waits = 0;
    p->all = (struct rows_count){0};
    memset(p->ends, 0, sizeof p->ends);
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
    int error = symbols_open(&p->symbols, info, p->scan->symbols);

    if (error == 0)
        error = places_init(&p->places, p->symbols);
    if (error == 0)
        error = groups_init(&p->groups);
    if (error == 0)
        error = rows_init(&p->rows);
    if (error == 0)
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

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct profile_worker *w = context;

    struct hr_rec_switch change;

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    w->marks += record->type == HR_REC_MARK;
    w->waits += record->type == HR_REC_SWITCH &&
                trace_body(record, &change, sizeof change, NULL, NULL) &&
                change.reason == HR_SWITCH_BLOCK;
    return 0;
}

static void leave(void *, void *context)
{
    struct profile_worker *w = context;

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

int profile_run(struct profile *profile, struct trace_scan *scan,
                const struct profile_options *options, unsigned int jobs)
{
    const struct trace_team team = {
        .owner = profile,
        .visitor = {.stacks = options->stacks ? TRACE_SCAN_STACKS : TRACE_SCAN_NO_STACKS,
                    .exact = true,
                    .names = true,
                    .samples = take_samples,
                    .record = take_record},
        .join = join,
        .take = take,
        .leave = leave,
        .restart = restart,
    };

    *profile = (struct profile){.options = options, .scan = scan, .event = -1};
    profile->jobs = trace_parallel_jobs(jobs, scan->file.file_bytes);
    pthread_mutex_init(&profile->lock, NULL);
    return trace_parallel_run(scan, &team, jobs);
}

/* Equal rows are ordered by group, then by place. */
static int before(const struct row *a, const struct row *b, void *context)
{
    const struct profile *p = context;
    const struct group *g = &p->groups.all[a->group], *h = &p->groups.all[b->group];

    if (g->section != h->section)
        return g->section < h->section ? -1 : 1;
    if (g->process != h->process)
        return g->process < h->process ? -1 : 1;
    if (g->tid != h->tid)
        return g->tid < h->tid ? -1 : 1;
    if (g->cpu != h->cpu)
        return g->cpu < h->cpu ? -1 : 1;
    return places_compare(&p->places, a->place, b->place);
}

static int place_before(uint32_t a, uint32_t b, void *context)
{
    const struct profile *p = context;

    return places_compare(&p->places, a, b);
}

int profile_sort(struct profile *profile, bool total)
{
    if (profile->ready && !profile->options->tree)
        rows_sort(&profile->rows, profile->event, total, before, profile);
    return profile->ready && profile->options->tree
               ? tree_finish(&profile->tree, place_before, profile)
               : 0;
}

/* Adds the chain that ends in a node, from the innermost call of the function outwards. */
static void add_callers(const struct profile *p, const struct function_choice *function,
                        uint32_t node, struct tree *callers)
{
    uint64_t self = p->tree.nodes[node].self;
    uint32_t at = TREE_ROOT;
    bool found = false;

    for (; node != TREE_ROOT; node = p->tree.nodes[node].parent) {
        uint32_t place = p->tree.nodes[node].place;
        const struct place *frame = &p->places.all[place];

        found = found || (frame->kind == PLACE_FRAME &&
                          function_choice_has(function, frame->name, frame->object));
        if (found)
            at = tree_child(callers, at, place);
    }
    if (found)
        callers->nodes[at].self += self;
}

void profile_offer_frames(const struct profile *profile, struct function_choice *choice)
{
    for (uint32_t i = PLACES_RESERVED; i < profile->places.count; i++)
        if (profile->places.all[i].kind == PLACE_FRAME)
            function_choice_offer(choice, profile->places.all[i].name,
                                  profile->places.all[i].object);
}

int profile_callers(struct profile *profile, const struct function_choice *function,
                    struct tree *callers)
{
    int error = tree_init(callers);

    for (uint32_t i = 1; i < profile->tree.count && error == 0; i++)
        if (profile->tree.nodes[i].self != 0)
            add_callers(profile, function, i, callers);
    return error == 0 ? tree_finish(callers, place_before, profile) : error;
}
