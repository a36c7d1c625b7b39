/* Formats rows in batches: see host/scan/row_team.h. */
#include "host/scan/row_team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host/scan/trace_parallel.h"

#define BATCHES 32u /* of a thread: a turn is some 25 of them where chunks have 64 KiB */
#define TEXT_MAX (OUTPUT_BYTES - OUTPUT_NUMBER_MAX) /* a number is put where it may be so long */
#define BYTES_MAX (64u << 10)
#define PART_BYTES (BYTES_MAX / 2) /* of what is longer, at a time */
#define AS_IT_IS UINT64_MAX /* in place of a number of words: two, where bytes are and how many */

enum state { FREE, FILLED, TAKEN, FORMATTED };

struct batch {
    uint64_t *words; /* ROW_TEAM_WORDS_MAX: how many a row has, and these; owned */
    char *bytes; /* BYTES_MAX; owned */
    struct output *text; /* owned */
    uint32_t words_used;
    uint32_t bytes_used;
    size_t text_bound; /* bytes that it has at most */
    pthread_t filler;
    enum state state;
};

struct row_team {
    struct output *out;
    struct trace_scan *scan;
    row_team_format *format;
    void *owner;
    struct batch *batches; /* owned */
    unsigned int batch_count;
    struct batch *open; /* the one that is being filled */
    int known_error; /* of `out` */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed; /* `written`, or a batch is FORMATTED */
    pthread_cond_t wanted; /* `helping` or `ended` */
    uint64_t filled; /* batches */
    uint64_t written; /* likewise */
    unsigned int waiting; /* batches that are FILLED */
    bool writing;
    bool helping; /* threads of the team may take batches */
    bool ended;
    int error; /* of `out` */
    unsigned int threads;
    pthread_t thread[TRACE_PARALLEL_JOBS_MAX];
};

static struct batch *numbered(const struct row_team *t, uint64_t number)
{
    return &t->batches[number % t->batch_count];
}

static void format_batch(const struct row_team *t, const struct batch *batch, struct output *out)
{
    const uint64_t *word = batch->words, *end = word + batch->words_used;

    for (const uint64_t *line = word; line < end; line += 8)
        __builtin_prefetch(line); /* they are in another CPU's cache, far away one by one */
    while (word < end) {
        uint64_t count = *word++;

        if (count == AS_IT_IS) {
            count = 2;
            output_bytes(out, batch->bytes + word[0], word[1]);
        } else {
            t->format(t->owner, out, word, batch->bytes);
        }
        word += count;
    }
}

static void empty(struct batch *batch)
{
    batch->state = FREE;
    batch->words_used = batch->bytes_used = 0;
    batch->text_bound = 0;
}

/* Writes what is next, unless another thread does. */
static void write_formatted(struct row_team *t)
{
    while (!t->writing && t->written < t->filled && numbered(t, t->written)->state == FORMATTED) {
        struct batch *batch = numbered(t, t->written);

        t->writing = true;
        pthread_mutex_unlock(&t->lock);
        output_bytes(t->out, batch->text->buffer, batch->text->used);
        empty(batch);
        pthread_mutex_lock(&t->lock);
        t->error = t->out->error;
        t->written++;
        t->writing = false;
        pthread_cond_broadcast(&t->changed);
    }
}

/* The first batch in a state: one that this thread filled, which its cache holds, or any.  NULL if
 * there is none. */
static struct batch *find(const struct row_team *t, enum state state, bool own)
{
    for (uint64_t i = t->written; i < t->filled; i++) {
        struct batch *batch = numbered(t, i);

        if (batch->state == state && (!own || pthread_equal(batch->filler, pthread_self())))
            return batch;
    }
    return NULL;
}

static void format_taken(struct row_team *t, struct batch *batch)
{
    batch->state = TAKEN;
    t->waiting--;
    pthread_mutex_unlock(&t->lock);
    output_init(batch->text, -1);
    format_batch(t, batch, batch->text);
    pthread_mutex_lock(&t->lock);
    batch->state = FORMATTED;
    pthread_cond_broadcast(&t->changed);
    write_formatted(t);
}

/* Formats a batch, or waits for a change if there is none. */
static void format_or_wait(struct row_team *t)
{
    struct batch *batch = find(t, FILLED, true);

    if (batch == NULL)
        batch = find(t, FILLED, false);
    if (batch != NULL)
        format_taken(t, batch);
    else
        pthread_cond_wait(&t->changed, &t->lock);
}

/* A thread of the team: takes part while more is filled than threads format after their turns. */
static void *help(void *argument)
{
    struct row_team *t = argument;

    pthread_mutex_lock(&t->lock);
    while (!t->ended) {
        struct batch *batch = t->helping ? find(t, FILLED, false) : NULL;

        t->helping = batch != NULL;
        if (batch != NULL)
            format_taken(t, batch);
        else
            pthread_cond_wait(&t->wanted, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* After a thread's turn: the others fill batches then.  What this one filled may refer to slots
 * that it decodes into next. */
static void format_own(void *context, unsigned int /*thread*/)
{
    struct row_team *t = context;
    struct batch *batch;

    pthread_mutex_lock(&t->lock);
    while ((batch = find(t, FILLED, true)) != NULL)
        format_taken(t, batch);
    while (find(t, TAKEN, true) != NULL)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* Hands over the open batch, and waits until at most `left` are not written. */
static void hand_over(struct row_team *t, uint64_t left)
{
    pthread_mutex_lock(&t->lock);
    if (t->open->words_used != 0) {
        t->open->filler = pthread_self();
        t->open->state = FILLED;
        t->filled++;
        t->waiting++;
    }
    if (t->waiting > t->batch_count / 4 * 3 || (left == 0 && t->waiting != 0)) {
        t->helping = true;
        pthread_cond_broadcast(&t->wanted);
    }
    while (t->filled - t->written > left)
        format_or_wait(t);
    t->open = numbered(t, t->filled);
    t->known_error = t->filled == t->written ? t->out->error : t->error;
    pthread_mutex_unlock(&t->lock);
}

/* A row that finds no room is alone in its batch, while no other one is formatted. */
static void turn_over(struct row_team *t, uint64_t left)
{
    if (t->threads != 0 && t->open->text_bound <= TEXT_MAX) {
        hand_over(t, left);
        return;
    }
    format_batch(t, t->open, t->out);
    empty(t->open);
    pthread_mutex_lock(&t->lock);
    t->written = ++t->filled;
    t->open = numbered(t, t->filled);
    t->error = t->known_error = t->out->error;
    pthread_mutex_unlock(&t->lock);
}

uint64_t row_team_batch(struct row_team *t, uint32_t words, size_t bytes, size_t text)
{
    if (t->open->words_used + words + 1 > ROW_TEAM_WORDS_MAX ||
        t->open->bytes_used + bytes > BYTES_MAX ||
        (t->threads != 0 && t->open->text_bound + text > TEXT_MAX))
        turn_over(t, text > TEXT_MAX ? 0 : t->batch_count - 1);
    t->open->text_bound += text;
    return t->filled + 1;
}

uint32_t row_team_keep(struct row_team *t, const char *bytes, size_t count)
{
    uint32_t at = t->open->bytes_used;

    memcpy(t->open->bytes + at, bytes, count);
    t->open->bytes_used += (uint32_t)count;
    return at;
}

uint64_t *row_team_row(struct row_team *t, uint32_t words)
{
    uint64_t *row = t->open->words + t->open->words_used;

    *row = words;
    t->open->words_used += words + 1;
    return row + 1;
}

void row_team_bytes(struct row_team *t, const void *bytes, size_t count)
{
    for (size_t part; count != 0; count -= part, bytes = (const char *)bytes + part) {
        uint64_t *row;

        part = count < PART_BYTES ? count : PART_BYTES;
        row_team_batch(t, 2, part, part);
        row = row_team_row(t, 2);
        row[-1] = AS_IT_IS;
        row[0] = row_team_keep(t, bytes, part);
        row[1] = part;
    }
}

void row_team_close(struct row_team *t)
{
    turn_over(t, t->batch_count - 1);
}

bool row_team_is_alone(const struct row_team *t)
{
    return t->threads == 0;
}

int row_team_error(const struct row_team *t)
{
    return t->known_error;
}

void row_team_drain(struct row_team *t)
{
    turn_over(t, 0);
}

static bool allocate(struct row_team *t)
{
    t->batches = calloc(t->batch_count, sizeof t->batches[0]);
    for (unsigned int i = 0; t->batches != NULL && i < t->batch_count; i++) {
        struct batch *batch = &t->batches[i];

        batch->words = malloc(sizeof batch->words[0] * ROW_TEAM_WORDS_MAX);
        batch->bytes = malloc(BYTES_MAX);
        batch->text = malloc(sizeof *batch->text);
        if (batch->words == NULL || batch->bytes == NULL || batch->text == NULL)
            return false;
    }
    t->open = t->batches;
    return t->batches != NULL;
}

/* The first thread decodes, too, so that as many as there are CPUs are of use. */
struct row_team *row_team_new(struct output *out, struct trace_scan *scan, row_team_format *format,
                              void *owner)
{
    unsigned int jobs =
        scan->file.growing ? 1 : trace_parallel_jobs(scan->jobs, scan->file.file_bytes);
    struct row_team *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->out = out;
    t->format = format;
    t->owner = owner;
    t->batch_count = jobs > 1 ? jobs * BATCHES : 1;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    pthread_cond_init(&t->wanted, NULL);
    if (!allocate(t)) {
        row_team_free(t);
        return NULL;
    }
    for (unsigned int i = 1; i < jobs; i++)
        t->threads += pthread_create(&t->thread[t->threads], NULL, help, t) == 0;
    t->scan = scan;
    scan->after_turn = (struct trace_after_turn){format_own, t};
    return t;
}

void row_team_free(struct row_team *t)
{
    if (t == NULL)
        return;
    if (t->scan != NULL) {
        row_team_drain(t);
        t->scan->after_turn = (struct trace_after_turn){0};
    }
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_cond_broadcast(&t->wanted);
    pthread_mutex_unlock(&t->lock);
    for (unsigned int i = 0; i < t->threads; i++)
        pthread_join(t->thread[i], NULL);
    for (unsigned int i = 0; t->batches != NULL && i < t->batch_count; i++) {
        free(t->batches[i].words);
        free(t->batches[i].bytes);
        free(t->batches[i].text);
    }
    free(t->batches);
    pthread_cond_destroy(&t->wanted);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}
