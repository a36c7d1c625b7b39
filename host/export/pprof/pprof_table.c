/* Adds up samples for a pprof profile. */
#include "host/export/pprof/pprof_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

int pprof_table_init(struct pprof_table *t, const struct trace_info *info, uint32_t rows)
{
    t->info = info;
    t->first_ns = UINT64_MAX;
    t->value_count = 2 + info->event_count;
    t->rows = array_long(rows, sizeof(struct pprof_row) + t->value_count * sizeof(uint64_t));
    return t->rows == NULL || numbers_init(&t->keys, rows) != 0 ||
                   sample_time_init(&t->time, info) != 0
               ? -ENOMEM
               : 0;
}

void pprof_table_free(struct pprof_table *t)
{
    sample_time_free(&t->time);
    numbers_free(&t->keys);
    free(t->rows);
}

/* The row of a sample by a key that says its place and CPU. */
static struct pprof_row *row_of(struct pprof_table *t, uint64_t key, uint64_t place,
                                const struct trace_samples *samples, uint32_t n)
{
    const struct trace_slot *sample = &samples->slots[n];
    uint32_t stack = trace_samples_stack(samples, n, HR_STACK_WHOLE);
    bool added;
    uint64_t number = numbers_of(&t->keys, key, (uint64_t)stack << 32 | sample->tid, &added);
    struct pprof_row *row = pprof_table_row(t, number - t->keys.first);

    if (!added)
        return row;
    *row = (struct pprof_row){
        .place = place,
        .stack = stack,
        .tid = sample->tid,
        .process = trace_processes_of(&t->info->processes, sample->tid,
                                      t->info->has_exact ? UINT64_MAX : sample->time),
        .cpu = samples->chunk->cpu,
    };
    memset(row->values, 0, t->value_count * sizeof row->values[0]);
    return row;
}

void pprof_table_span(struct pprof_table *t, uint64_t first_ns, uint64_t last_ns)
{
    if (first_ns < t->first_ns)
        t->first_ns = first_ns;
    if (last_ns > t->last_ns)
        t->last_ns = last_ns;
}

void pprof_table_add(struct pprof_table *t, uint64_t key, uint64_t place,
                     const struct trace_samples *samples, uint32_t n)
{
    const struct trace_slot *sample = &samples->slots[n];
    const struct trace_slot *previous = trace_samples_before(samples, n);
    uint64_t ns = trace_info_time_ns(t->info, sample->time);
    struct pprof_row *row = row_of(t, key, place, samples, n);

    row->values[0] += trace_samples_weight(samples, n);
    row->values[1] += samples->weights != NULL /* an instruction is a nanosecond there */
                          ? samples->weights[n]
                          : sample_time_ns(&t->time, row->cpu, sample, previous);
    for (uint32_t i = 0; i < t->info->event_count; i++)
        row->values[2 + i] += export_increment(sample, previous, i);
    pprof_table_span(t, ns, ns);
}

void pprof_table_add_row(struct pprof_table *t, uint64_t key, const struct pprof_row *from)
{
    bool added;
    uint64_t number = numbers_of(&t->keys, key, (uint64_t)from->stack << 32 | from->tid, &added);
    struct pprof_row *row = pprof_table_row(t, number - t->keys.first);

    if (added)
        memcpy(row, from, sizeof *row + t->value_count * sizeof row->values[0]);
    for (uint32_t i = 0; !added && i < t->value_count; i++)
        row->values[i] += from->values[i];
}

static int begin(void *context, const struct trace_chunk *chunk, bool /* continues */)
{
    struct pprof_digest *d = context;

    d->cpu = chunk->header.cpu;
    d->table.first_ns = UINT64_MAX;
    d->table.last_ns = 0;
    numbers_forget(&d->table.keys);
    sample_time_begin(&d->table.time, d->cpu);
    return 0;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct pprof_table *t = &((struct pprof_digest *)context)->table;

    for (uint32_t n = 0; n < samples->count; n++) {
        if (numbers_full(&t->keys))
            return -ENOSPC;
        pprof_table_add(t, samples->slots[n].ip, samples->slots[n].ip, samples, n);
    }
    return 0;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    sample_time_record(&((struct pprof_digest *)context)->table.time, chunk, record);
    return 0;
}

const struct trace_visitor pprof_digest_visitor = {
    .stacks = TRACE_SCAN_STACKS,
    .names = true,
    .chunk = begin,
    .samples = take_samples,
    .record = take_record,
};

void pprof_digest_free(void *digest)
{
    struct pprof_digest *d = digest;

    pprof_table_free(&d->table);
    free(d->nodes.all);
    free(d);
}

struct pprof_digest *pprof_digest_new(const struct trace_info *info, const struct trace_scan *scan)
{
    struct pprof_digest *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    d->scan = scan;
    if (pprof_table_init(&d->table, info, EXPORT_DIGEST_ROWS) == 0)
        return d;
    pprof_digest_free(d);
    return NULL;
}
