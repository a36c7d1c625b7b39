/* Lets several threads read, check and decode chunks, and visit them in their order. */
#include "host/scan/trace_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "host/scan/trace_parallel.h"
#include "host/trace/trace_index.h"

#define BYTES_BEFORE (1u << 20) /* walked by one: many walks end soon */
#define BYTES_WORTH_IT (4u << 20)

enum kind { READY, OUTSIDE, UNKNOWN, END }; /* UNKNOWN: to be read when it is its turn */

struct team {
    struct trace_scan *scan; /* of whose turn it is, but for what `metadata` guards */
    const struct trace_visitor *visitor;
    const struct trace_index *index;
    size_t next; /* entry of the index, or one before, of whose turn it is */
    pthread_rwlock_t metadata; /* scan->info changes; read while chunks are decoded */
    uint64_t changes; /* of it, likewise */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t turned;
    uint64_t offset; /* of the first chunk that is not taken */
    size_t ahead; /* its entry in the index, or one before */
    uint64_t given; /* chunks that were taken */
    uint64_t turn; /* chunks that were visited */
    uint64_t round; /* begins when `offset` turns out to be another */
    int result;
    bool done;
};

struct worker {
    struct team *team;
    struct trace_file file;
    struct trace_ahead ahead;
    struct trace_scan scan; /* for digests */
    uint64_t known; /* changes of metadata that its info has, and 1; 0: none */
    void *digest;
    struct trace_chunk chunk; /* that it has taken */
    uint64_t number, round, changes; /* when it did */
    pthread_t thread;
    enum kind kind;
    bool opened, shared, started;
};

unsigned int trace_ahead_jobs(const struct trace_scan *scan, uint64_t walked_bytes)
{
    uint64_t left = scan->file.file_bytes - scan->file.position;

    if (!scan->info.has_sampling || !scan->info.has_clock)
        return 1;
    if (scan->jobs == 0 && (walked_bytes < BYTES_BEFORE || left < BYTES_WORTH_IT))
        return 1;
    return trace_parallel_jobs(scan->jobs, left);
}

/* Decodes up to the first run that does not decode or has no room: it is found again later. */
static void decode(struct trace_ahead *ahead, const struct trace_chunk *chunk, uint32_t event_count)
{
    struct trace_decoder decoder;
    struct trace_cursor cursor;
    struct trace_record record;
    enum trace_status status = TRACE_OK;
    uint32_t used = 0; /* slots */

    trace_decoder_init(&decoder, event_count);
    trace_cursor_init(&cursor, chunk->payload, chunk->header.payload_bytes);
    while (status == TRACE_OK && trace_next(&cursor, &record) == TRACE_OK) {
        struct trace_ahead_run *run = &ahead->runs[ahead->count];

        if (record.type == HR_REC_BASE)
            status = trace_decoder_base(&decoder, &record);
        if (record.type != HR_REC_SAMPLES && record.type != HR_REC_SAMPLES_WIDE)
            continue;
        run->slots = ahead->slots + used;
        status = trace_decoder_samples(&decoder, &record, run->slots, TRACE_AHEAD_SLOTS - used,
                                       &run->count);
        if (status != TRACE_OK)
            return;
        run->after = decoder;
        used += run->count;
        if (++ahead->count == TRACE_AHEAD_RUNS)
            return;
    }
}

/* Adds up the chunk that was taken.  False: it is to be visited. */
static bool digest(struct worker *w)
{
    const struct trace_digest *digest = w->team->visitor->digest;
    struct trace_scan *scan = &w->scan;
    struct trace_visitor visitor;

    if (w->digest == NULL || w->known != w->team->changes + 1 || !scan->info.knows_events)
        return false;
    visitor = digest->visitor;
    visitor.context = w->digest;
    scan->info.has_fault = false;
    scan->audit.damage_count = 0;
    stacks_clear(&scan->stacks);
    return trace_scan_chunk(scan, &visitor, &w->chunk, true) == 0 &&
           scan->audit.damage_count == 0 && !scan->info.has_fault && scan->stacks.refused == 0;
}

/* Whether the index lists a chunk at the offset that holds nothing of what is selected. */
static bool is_outside(struct team *t, struct trace_chunk *chunk)
{
    while (t->ahead < t->index->count && t->index->entries[t->ahead].offset < chunk->offset)
        t->ahead++;
    if (t->ahead == t->index->count || t->index->entries[t->ahead].offset != chunk->offset)
        return false;
    chunk->header = trace_index_header(&t->index->entries[t->ahead]);
    return trace_scan_outside(t->scan, &chunk->header);
}

/* Takes the next chunk, whose header alone is read. */
static void take(struct worker *w)
{
    struct team *t = w->team;

    w->number = t->given++;
    w->round = t->round;
    w->changes = t->changes;
    w->chunk = (struct trace_chunk){.offset = t->offset};
    trace_file_seek(&w->file, t->offset);
    if (t->offset >= w->file.file_bytes)
        w->kind = END;
    else if (is_outside(t, &w->chunk))
        w->kind = OUTSIDE;
    else
        w->kind = trace_file_peek(&w->file, &w->chunk.header) ? READY : UNKNOWN;
    w->chunk.bytes = sizeof w->chunk.header + w->chunk.header.payload_bytes;
    if (w->kind == READY || w->kind == OUTSIDE)
        t->offset += w->chunk.bytes;
}

static void prepare(struct worker *w)
{
    struct team *t = w->team;
    const struct trace_info *info = &t->scan->info;

    pthread_rwlock_rdlock(&t->metadata);
    pthread_mutex_lock(&t->lock);
    take(w);
    pthread_mutex_unlock(&t->lock);
    if (w->kind == READY && trace_file_next(&w->file, &w->chunk) != TRACE_STEP_CHUNK)
        w->kind = UNKNOWN;
    w->ahead.count = 0;
    w->ahead.digest = NULL;
    if (w->kind == READY && w->chunk.header.type == HR_CHUNK_DATA) {
        if (digest(w))
            w->ahead.digest = w->digest;
        else
            decode(&w->ahead, &w->chunk, info->sampling.event_count);
    }
    pthread_rwlock_unlock(&t->metadata);
}

/* Whether a chunk may change scan->info as chunks are decoded by it. */
static bool is_metadata(const struct trace_chunk *chunk)
{
    uint16_t type = chunk->header.type;

    return type == HR_CHUNK_META || type == HR_CHUNK_END || type == HR_CHUNK_HOST;
}

/* As a walk by one thread does, which may pass over several chunks. */
static int read_again(struct team *t, uint64_t offset, bool *end)
{
    struct trace_chunk chunk;
    int step;

    trace_file_seek(&t->scan->file, offset);
    step = trace_scan_next(t->scan, t->index, &t->next, &chunk);
    *end = step == TRACE_STEP_END;
    t->changes += step == TRACE_STEP_CHUNK && is_metadata(&chunk);
    return step > TRACE_STEP_END ? trace_scan_step(t->scan, t->visitor, step, &chunk) : step;
}

static int visit_chunk(struct worker *w)
{
    struct trace_scan *scan = w->team->scan;
    int result;

    trace_file_seek(&scan->file, w->chunk.offset + w->chunk.bytes);
    progress_bar_add(&scan->progress, w->chunk.bytes);
    scan->ahead = &w->ahead;
    result = trace_scan_step(scan, w->team->visitor, TRACE_STEP_CHUNK, &w->chunk);
    scan->ahead = NULL;
    return result;
}

/* Takes what is at the worker's place in the file, or finds the file's end. */
static int visit(struct worker *w, bool *end)
{
    struct team *t = w->team;
    bool fresh = w->kind != UNKNOWN && w->changes == t->changes;
    int result;

    *end = w->kind == END;
    if (*end)
        return 0;
    if (fresh && !is_metadata(&w->chunk))
        return visit_chunk(w);
    pthread_rwlock_wrlock(&t->metadata);
    t->changes += fresh;
    result = fresh ? visit_chunk(w) : read_again(t, w->chunk.offset, end);
    pthread_rwlock_unlock(&t->metadata);
    return result;
}

/* Has the metadata that its scan decodes by follow the team's, which nothing changes now. */
static void learn(struct worker *w)
{
    if (w->digest == NULL || w->known == w->team->changes + 1)
        return;
    w->scan.info = w->team->scan->info;
    w->known = w->team->changes + 1;
}

/* Waits until it is the worker's turn, and visits.  Returns whether there is more to do. */
static bool take_turn(struct worker *w)
{
    struct team *t = w->team;
    struct trace_after_turn after;
    bool more;

    pthread_mutex_lock(&t->lock);
    while (t->turn != w->number && !t->done)
        pthread_cond_wait(&t->turned, &t->lock);
    if (!t->done && w->round == t->round) {
        bool end;
        int result;

        pthread_mutex_unlock(&t->lock);
        result = visit(w, &end);
        learn(w);
        pthread_mutex_lock(&t->lock);
        t->result = result;
        t->done = end || result != 0;
        if (w->kind == UNKNOWN || t->scan->file.position != w->chunk.offset + w->chunk.bytes) {
            t->offset = t->scan->file.position;
            t->ahead = t->next;
            t->round++;
        }
    }
    after = t->scan->after_turn;
    t->turn++;
    more = !t->done;
    pthread_cond_broadcast(&t->turned);
    pthread_mutex_unlock(&t->lock);
    if (after.work != NULL)
        after.work(after.context, w->ahead.thread);
    return more;
}

static void *work(void *argument)
{
    struct worker *w = argument;

    do
        prepare(w);
    while (take_turn(w));
    return NULL;
}

/* Without memory the worker makes no digests. */
static void open_digest(struct worker *w)
{
    const struct trace_visitor *visitor = w->team->visitor;

    if (visitor->digest == NULL || trace_scan_share(&w->scan, w->team->scan) != 0)
        return;
    w->shared = true;
    w->known = 1;
    w->digest = visitor->digest->join(visitor->context, &w->scan);
}

static void close_worker(struct worker *w)
{
    if (w->digest != NULL)
        w->team->visitor->digest->leave(w->digest);
    if (w->shared)
        trace_scan_unshare(&w->scan);
    free(w->ahead.runs);
    free(w->ahead.slots);
    if (w->opened)
        trace_file_close(&w->file);
}

static int open_worker(struct worker *w, struct team *t)
{
    int error = trace_file_share(&w->file, &t->scan->file);

    if (error != 0)
        return error;
    w->file.read_ahead = 0;
    w->opened = true;
    w->team = t;
    w->ahead.runs = malloc(TRACE_AHEAD_RUNS * sizeof w->ahead.runs[0]);
    w->ahead.slots = malloc(TRACE_AHEAD_SLOTS * sizeof w->ahead.slots[0]);
    open_digest(w);
    return w->ahead.runs != NULL && w->ahead.slots != NULL ? 0 : -ENOMEM;
}

/* The calling thread is the first worker, and the only one where no other can be started. */
static int run_workers(struct team *t, struct worker *workers, unsigned int jobs)
{
    int error = 0;

    for (unsigned int i = 0; i < jobs && error == 0; i++) {
        workers[i].ahead.thread = i;
        error = open_worker(&workers[i], t);
    }
    for (unsigned int i = 1; i < jobs && error == 0; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    if (error == 0)
        work(&workers[0]);
    for (unsigned int i = 0; i < jobs; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        close_worker(&workers[i]);
    }
    return error != 0 ? error : t->result;
}

int trace_ahead_run(struct trace_scan *scan, const struct trace_visitor *visitor,
                    const struct trace_index *index, unsigned int jobs)
{
    struct worker workers[TRACE_PARALLEL_JOBS_MAX] = {0};
    struct team team = {.scan = scan,
                        .visitor = visitor,
                        .index = index,
                        .metadata = PTHREAD_RWLOCK_INITIALIZER,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .turned = PTHREAD_COND_INITIALIZER,
                        .offset = scan->file.position};

    return run_workers(&team, workers, jobs);
}
