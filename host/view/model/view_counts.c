/* Counts runs of samples after the turns of the threads that decoded them. */
#include "host/view/model/view_counts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "host/scan/trace_ahead.h"
#include "host/scan/trace_parallel.h"
#include "host/view/model/view_model.h"

struct mark { /* where a sample belongs */
    uint32_t group;
    uint32_t node;
};

struct run {
    struct trace_samples samples; /* without stacks, accesses and addresses of their own */
    struct trace_slot previous;
    const struct mark *marks; /* of each sample */
    uint64_t start; /* of the program, in ticks */
};

struct queue { /* runs of a chunk that a thread took in its turn */
    struct run *runs; /* TRACE_AHEAD_RUNS; owned, as all below */
    struct mark *marks; /* TRACE_AHEAD_SLOTS */
    struct view_bins bins; /* that the runs alone are in, if `binned` */
    bool binned;
    struct view_blocks blocks; /* that they are in */
    uint64_t last; /* of their times, as the model has it */
    uint32_t run_count;
    uint32_t sample_count;
    uint64_t earliest, latest; /* of the samples, in ticks since the start */
    uint64_t number; /* among those that were filled */
};

_Static_assert(TRACE_AHEAD_SLOTS <= VIEW_BINS_PART, "view_bins_begin");
_Static_assert(TRACE_AHEAD_SLOTS <= (1u << VIEW_BLOCKS_PART_BITS) / 4 * 3, "view_blocks_begin");

struct view_counts {
    struct view_model *model;
    struct mark marks[TRACE_RUN_SAMPLES_MAX]; /* of a run that is in no queue */
    struct queue queues[TRACE_PARALLEL_JOBS_MAX]; /* of each thread */
    uint64_t filled; /* queues */
    unsigned int bin_shift, block_shift; /* the model's, or what they were before; atomic */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    uint64_t added; /* queues */
    int error;
};

static int count_blocks(struct view_blocks *blocks, const struct run *run, uint64_t *last)
{
    int error = 0;

    for (uint32_t n = 0; n < run->samples.count && error == 0; n++) {
        const struct mark *mark = &run->marks[n];
        const struct trace_slot *previous;
        struct view_sample sample;

        previous = view_samples_fill(&sample, &run->samples, n, run->start);
        if (sample.time > *last)
            *last = sample.time;
        error = view_blocks_add(blocks, sample.time, mark->group, mark->node, 1,
                                &run->samples.slots[n], previous);
    }
    return error;
}

/* What is kept of samples themselves, while they are few. */
static int keep_samples(struct view_samples *all, const struct run *run)
{
    int error = 0;

    for (uint32_t n = 0; n < run->samples.count && !all->overflow && error == 0; n++) {
        const struct trace_slot *previous;
        struct view_sample sample = {.group = run->marks[n].group, .node = run->marks[n].node};

        previous = view_samples_fill(&sample, &run->samples, n, run->start);
        error = view_samples_add(all, &sample, &run->samples.slots[n], previous);
    }
    return error;
}

/* What needs nothing but the runs.  There are no bins of their own where the samples lie so far
 * apart that these would be more. */
static int count_apart(struct queue *q, unsigned int bin_shift, unsigned int block_shift)
{
    int error = 0;

    q->last = 0;
    q->binned = (q->latest - q->earliest) >> bin_shift < q->sample_count;
    if (q->binned)
        view_bins_begin(&q->bins, q->runs[0].samples.chunk->cpu, bin_shift, q->earliest);
    view_blocks_begin(&q->blocks, block_shift);
    for (uint32_t i = 0; i < q->run_count && error == 0; i++) {
        if (q->binned)
            error = view_bins_add(&q->bins, &q->runs[i].samples, q->runs[i].start);
        if (error == 0)
            error = count_blocks(&q->blocks, &q->runs[i], &q->last);
    }
    return error;
}

static int add_queue(struct view_model *m, const struct queue *q)
{
    int error = q->binned ? view_bins_merge(&m->bins, &q->bins) : 0;

    if (error == 0)
        error = view_blocks_merge(&m->blocks, &q->blocks);
    if (q->last > m->last)
        m->last = q->last;
    for (uint32_t i = 0; i < q->run_count && error == 0; i++) {
        if (!q->binned)
            error = view_bins_add(&m->bins, &q->runs[i].samples, q->runs[i].start);
        if (error == 0)
            error = keep_samples(&m->samples, &q->runs[i]);
        view_spread_add(&m->spread, &q->runs[i].samples);
    }
    return error;
}

/* Waits until that many queues have been added.  Returns the error so far. */
static int wait_for(struct view_counts *c, uint64_t added)
{
    int error;

    pthread_mutex_lock(&c->lock);
    while (c->added < added)
        pthread_cond_wait(&c->changed, &c->lock);
    error = c->error;
    pthread_mutex_unlock(&c->lock);
    return error;
}

/* What a thread took in its turn. */
static void count_queue(void *context, unsigned int thread)
{
    struct view_counts *c = context;
    struct queue *q = &c->queues[thread];
    int error, before;

    if (q->run_count == 0)
        return;
    error = count_apart(q, __atomic_load_n(&c->bin_shift, __ATOMIC_RELAXED),
                        __atomic_load_n(&c->block_shift, __ATOMIC_RELAXED));
    before = wait_for(c, q->number);
    if (error == 0 && before == 0)
        error = add_queue(c->model, q);
    __atomic_store_n(&c->bin_shift, c->model->bins.shift, __ATOMIC_RELAXED);
    __atomic_store_n(&c->block_shift, c->model->blocks.shift, __ATOMIC_RELAXED);
    pthread_mutex_lock(&c->lock);
    c->error = before != 0 ? before : error;
    c->added++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    q->run_count = q->sample_count = 0;
}

struct view_counts *view_counts_new(struct view_model *m)
{
    struct view_counts *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->model = m;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    m->scan.after_turn = (struct trace_after_turn){count_queue, c};
    return c;
}

void view_counts_free(struct view_counts *c)
{
    if (c == NULL)
        return;
    c->model->scan.after_turn = (struct trace_after_turn){0};
    for (unsigned int i = 0; i < TRACE_PARALLEL_JOBS_MAX; i++) {
        free(c->queues[i].runs);
        free(c->queues[i].marks);
        view_bins_free(&c->queues[i].bins);
        view_blocks_free(&c->queues[i].blocks);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* The thread's queue with room for a run of what was decoded ahead, or NULL without memory. */
static struct queue *queue_of(struct view_counts *c, unsigned int thread)
{
    struct view_model *m = c->model;
    struct queue *q = &c->queues[thread];

    if (q->runs == NULL) {
        q->runs = malloc(TRACE_AHEAD_RUNS * sizeof q->runs[0]);
        q->marks = malloc(TRACE_AHEAD_SLOTS * sizeof q->marks[0]);
        if (q->runs == NULL || q->marks == NULL ||
            view_bins_init(&q->bins, m->bins.event_count, m->bins.base, 1) != 0 ||
            view_blocks_init(&q->blocks, m->blocks.event_count, VIEW_BLOCKS_PART_BITS) != 0)
            return NULL;
    }
    if (q->run_count == 0) {
        if (c->filled == 0) {
            c->bin_shift = m->bins.shift;
            c->block_shift = m->blocks.shift;
        }
        q->number = c->filled++;
        q->earliest = UINT64_MAX;
        q->latest = 0;
    }
    return q;
}

static int mark_run(struct view_model *m, const struct trace_samples *samples, uint32_t group,
                    struct mark *marks)
{
    int error = 0;

    for (uint32_t n = 0; n < samples->count && error == 0; n++) {
        uint32_t object = view_memory_object(&m->memory, samples, n, &error);

        marks[n].group = group;
        if (object != MEMORY_MAP_BANDS)
            marks[n].group = view_blocks_object(&m->blocks, group, object);
        if (error == 0)
            marks[n].node = view_tree_sample(&m->tree, &m->scan.stacks,
                                             trace_samples_stack(samples, n, HR_STACK_NONE),
                                             samples->slots[n].ip, &error);
    }
    return error;
}

static int take_now(struct view_counts *c, const struct trace_samples *samples, uint32_t group)
{
    struct view_model *m = c->model;
    const struct run run = {
        .samples = *samples, .marks = c->marks, .start = m->scan.info.clock.start_ticks};
    int error = view_counts_settle(c);

    if (error == 0)
        error = mark_run(m, samples, group, c->marks);
    if (error == 0)
        error = view_bins_add(&m->bins, samples, run.start);
    if (error == 0)
        error = count_blocks(&m->blocks, &run, &m->last);
    view_spread_add(&m->spread, samples);
    return error == 0 ? keep_samples(&m->samples, &run) : error;
}

static void widen(struct queue *q, const struct run *run)
{
    for (uint32_t n = 0; n < run->samples.count; n++) {
        uint64_t time = run->samples.slots[n].time;

        time = time > run->start ? time - run->start : 0;
        q->earliest = time < q->earliest ? time : q->earliest;
        q->latest = time > q->latest ? time : q->latest;
    }
}

int view_counts_take(struct view_counts *c, const struct trace_samples *samples, uint32_t group)
{
    struct queue *q;
    struct run *run;
    int error;

    if (!samples->kept)
        return take_now(c, samples, group);
    q = queue_of(c, c->model->scan.ahead->thread);
    if (q == NULL)
        return -ENOMEM;
    error = mark_run(c->model, samples, group, q->marks + q->sample_count);
    run = &q->runs[q->run_count++];
    *run = (struct run){.samples = *samples,
                        .previous = *samples->previous,
                        .marks = q->marks + q->sample_count,
                        .start = c->model->scan.info.clock.start_ticks};
    run->samples.previous = &run->previous;
    q->sample_count += samples->count;
    widen(q, run);
    return error;
}

int view_counts_settle(struct view_counts *c)
{
    const struct trace_ahead *ahead = c->model->scan.ahead;

    if (ahead != NULL)
        count_queue(c, ahead->thread);
    return wait_for(c, c->filled);
}
