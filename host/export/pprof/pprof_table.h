/* The rows of a pprof profile: samples of one address, stack, thread and CPU, added up.
 *
 * A digest has those of a chunk, which a thread adds up before its turn.
 */
#pragma once

#include "host/export/common/export.h"
#include "host/export/common/numbers.h"
#include "host/export/pprof/sample_time.h"

struct pprof_row { /* as long as the trace's events need it */
    uint64_t place; /* its location; of a digest its address */
    uint32_t stack;
    uint32_t tid;
    uint32_t process;
    uint32_t cpu;
    uint64_t values[]; /* samples, nanoseconds, events */
};

struct pprof_table {
    const struct trace_info *info; /* complete */
    struct numbers keys;
    char *rows; /* by number in keys; owned */
    uint32_t value_count;
    struct sample_time time;
    uint64_t first_ns, last_ns; /* of samples; without any the first is the latest time */
};

struct pprof_digest {
    struct pprof_table table;
    const struct trace_scan *scan;
    struct stacks_nodes nodes; /* of the profile */
    uint32_t cpu;
};

static inline struct pprof_row *pprof_table_row(const struct pprof_table *table, uint64_t number)
{
    size_t bytes = sizeof(struct pprof_row) + table->value_count * sizeof(uint64_t);

    return (struct pprof_row *)(table->rows + number * bytes);
}

/* A table that is all zero, for so many rows.  0 or -ENOMEM; to be freed in both cases. */
int pprof_table_init(struct pprof_table *table, const struct trace_info *info, uint32_t rows);
void pprof_table_free(struct pprof_table *table);

/* Adds sample `n` of a run to the row of a key that says its place and CPU; there is room. */
void pprof_table_add(struct pprof_table *table, uint64_t key, uint64_t place,
                     const struct trace_samples *samples, uint32_t n);

/* Adds a digest's row, whose location and stack in the profile are known. */
void pprof_table_add_row(struct pprof_table *table, uint64_t key, const struct pprof_row *row);

/* Notes when samples were taken. */
void pprof_table_span(struct pprof_table *table, uint64_t first_ns, uint64_t last_ns);

/* A digest of what `scan` hands out to a visitor.  NULL: no memory. */
struct pprof_digest *pprof_digest_new(const struct trace_info *info, const struct trace_scan *scan);

/* For a trace_digest. */
extern const struct trace_visitor pprof_digest_visitor;
void pprof_digest_free(void *digest);
