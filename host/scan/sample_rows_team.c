/* Formats rows in batches: see host/scan/sample_rows_team.h. */
#include "host/scan/sample_rows_team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BATCHES 16u /* twice as many as threads */
#define ROWS_MAX 256u /* so that batches stay in the cache */
#define FIELDS_MAX 32u
#define NAMES_BYTES (16u << 10)
#define NAME_FIELD 4u

struct batch {
    uint64_t *fields; /* ROWS_MAX rows; owned */
    char *names; /* NAMES_BYTES; owned */
    struct output *text; /* owned */
    uint32_t rows;
    uint32_t row_fields;
    uint32_t names_used;
    size_t text_bound; /* bytes that it has at most */
    bool formatted;
};

struct sample_rows_team {
    struct output *out;
    struct batch batches[BATCHES];
    struct batch *open; /* the one that is being filled */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    uint64_t filled; /* batches, and likewise below */
    uint64_t taken;
    uint64_t written;
    bool writing;
    bool ended;
    int error; /* of `out` */
    unsigned int threads;
    pthread_t thread[SAMPLE_ROWS_TEAM_MAX];
};

static void format(struct batch *batch)
{
    const uint64_t *field = batch->fields;
    struct output *out = batch->text;

    output_init(out, -1);
    for (uint32_t n = 0; n < batch->rows; n++) {
        for (uint32_t i = 0; i < batch->row_fields; i++) {
            if (i != 0)
                output_char(out, ',');
            if (i == NAME_FIELD)
                output_csv(out, batch->names + field[i]);
            else if (i == NAME_FIELD - 1)
                output_hex(out, field[i]);
            else
                output_decimal(out, field[i]);
        }
        output_char(out, '\n');
        field += batch->row_fields;
    }
}

/* Writes what is next, unless another thread does. */
static void write_formatted(struct sample_rows_team *t)
{
    while (!t->writing && t->written < t->taken && t->batches[t->written % BATCHES].formatted) {
        struct batch *batch = &t->batches[t->written % BATCHES];

        t->writing = true;
        pthread_mutex_unlock(&t->lock);
        output_bytes(t->out, batch->text->buffer, batch->text->used);
        pthread_mutex_lock(&t->lock);
        t->error = t->out->error;
        batch->formatted = false;
        batch->rows = batch->names_used = 0;
        batch->text_bound = 0;
        t->written++;
        t->writing = false;
        pthread_cond_broadcast(&t->changed);
    }
}

/* Formats a batch, or waits for a change if there is none. */
static void format_or_wait(struct sample_rows_team *t)
{
    struct batch *batch = &t->batches[t->taken % BATCHES];

    if (t->taken == t->filled) {
        pthread_cond_wait(&t->changed, &t->lock);
        return;
    }
    t->taken++;
    pthread_mutex_unlock(&t->lock);
    format(batch);
    pthread_mutex_lock(&t->lock);
    batch->formatted = true;
    write_formatted(t);
}

static void *work(void *argument)
{
    struct sample_rows_team *t = argument;

    pthread_mutex_lock(&t->lock);
    while (!t->ended)
        format_or_wait(t);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Hands over the open batch, and waits until at most `left` are not written. */
static int hand_over(struct sample_rows_team *t, uint64_t left)
{
    int error;

    pthread_mutex_lock(&t->lock);
    if (t->open->rows != 0) {
        t->filled++;
        pthread_cond_broadcast(&t->changed);
    }
    while (t->filled - t->written > left)
        format_or_wait(t);
    t->open = &t->batches[t->filled % BATCHES];
    error = t->error;
    pthread_mutex_unlock(&t->lock);
    return error;
}

uint64_t sample_rows_team_batch(struct sample_rows_team *t, uint32_t fields, size_t name_bytes,
                                int *error)
{
    size_t most = fields * (size_t)OUTPUT_NUMBER_MAX + 2 * name_bytes + 4;

    *error = 0;
    if (t->open->rows == ROWS_MAX || t->open->row_fields != fields ||
        t->open->names_used + name_bytes >= NAMES_BYTES ||
        t->open->text_bound + most > OUTPUT_BYTES)
        *error = hand_over(t, BATCHES - 1);
    t->open->row_fields = fields;
    t->open->text_bound += most;
    return t->filled;
}

uint32_t sample_rows_team_name(struct sample_rows_team *t, const char *name)
{
    uint32_t at = t->open->names_used;
    size_t bytes = strlen(name) + 1;

    memcpy(t->open->names + at, name, bytes);
    t->open->names_used += (uint32_t)bytes;
    return at;
}

uint64_t *sample_rows_team_row(struct sample_rows_team *t)
{
    return t->open->fields + (size_t)t->open->rows++ * t->open->row_fields;
}

void sample_rows_team_drain(struct sample_rows_team *t)
{
    hand_over(t, 0);
}

static bool allocate(struct sample_rows_team *t)
{
    for (unsigned int i = 0; i < BATCHES; i++) {
        struct batch *batch = &t->batches[i];

        batch->fields = malloc(sizeof batch->fields[0] * ROWS_MAX * FIELDS_MAX);
        batch->names = malloc(NAMES_BYTES);
        batch->text = malloc(sizeof *batch->text);
        if (batch->fields == NULL || batch->names == NULL || batch->text == NULL)
            return false;
    }
    return true;
}

struct sample_rows_team *sample_rows_team_new(struct output *out, unsigned int threads)
{
    struct sample_rows_team *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->out = out;
    t->open = &t->batches[0];
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    for (unsigned int i = 0; allocate(t) && i < threads && i < SAMPLE_ROWS_TEAM_MAX; i++)
        t->threads += pthread_create(&t->thread[t->threads], NULL, work, t) == 0;
    if (t->threads != 0)
        return t;
    sample_rows_team_free(t);
    return NULL;
}

void sample_rows_team_free(struct sample_rows_team *t)
{
    if (t->threads != 0)
        sample_rows_team_drain(t);
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    for (unsigned int i = 0; i < t->threads; i++)
        pthread_join(t->thread[i], NULL);
    for (unsigned int i = 0; i < BATCHES; i++) {
        free(t->batches[i].fields);
        free(t->batches[i].names);
        free(t->batches[i].text);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}
