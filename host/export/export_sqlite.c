/* hr export sqlite: a database with everything that a trace holds; docs/sqlite.md describes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/export.h"
#include "host/export/sqlite_about.h"
#include "host/export/sqlite_records.h"
#include "host/export/sqlite_schema.h"

struct sqlite {
    struct export *e;
    struct database db;
    struct sqlite_schema schema;
    struct sqlite_records records;
    sqlite3_stmt *insert; /* of a sample */
    uint64_t *sums; /* of every function: samples, events; owned */
};

static uint64_t *sums_of(const struct sqlite *s, uint32_t function)
{
    return s->sums + (size_t)function * (1 + s->e->info.event_count);
}

/* What a sample adds to its function. */
static void add_sample(struct sqlite *s, uint32_t function, const struct trace_slot *sample,
                       const struct trace_slot *previous)
{
    uint64_t *sums = sums_of(s, function);

    sums[0]++;
    for (uint32_t i = 0; i < s->e->info.event_count; i++)
        sums[1 + i] += export_increment(sample, previous, i);
}

/* The parameters of a sample's columns; the events follow. */
enum { TIME = 1, CPU, TID, IP, FUNCTION, STACK, FLAGS, COST, EVENTS };

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct sqlite *s = context;
    struct trace_info *info = &s->e->info;
    const struct trace_slot *previous = samples->previous;

    database_bind(s->insert, CPU, samples->chunk->cpu);
    database_bind(s->insert, TID, samples->slots[0].tid); /* a run is one thread's, */
    database_bind(s->insert, FLAGS, samples->slots[0].flags); /* and its flags are the same */
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint32_t function = functions_at(&s->e->functions, sample->ip);

        add_sample(s, function, sample, previous);
        database_bind(s->insert, TIME, trace_info_time_ns(info, sample->time));
        database_bind(s->insert, IP, sample->ip);
        database_bind(s->insert, FUNCTION, function);
        if (samples->stacks != NULL)
            database_bind(s->insert, STACK, samples->stacks[n]);
        database_bind(s->insert, COST, trace_info_ns(info, sample->cost_ticks));
        for (uint32_t i = 0; i < samples->event_count; i++)
            database_bind(s->insert, EVENTS + (int)i, sample->counters[i] - previous->counters[i]);
        database_put(&s->db, s->insert);
        previous = sample;
    }
    return s->db.error;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct sqlite *s = context;

    if (chunk->header.type == HR_CHUNK_DATA)
        sqlite_records_take(&s->records, chunk, record);
    return s->db.error;
}

static void put_functions(struct sqlite *s)
{
    sqlite3_stmt *insert = database_prepare(&s->db, "INSERT INTO functions VALUES (?,?,?,?,?,?,?)");
    char label[FUNCTIONS_LABEL_BYTES];

    for (uint32_t i = 0; i < s->e->functions.count; i++) {
        const struct function *function = &s->e->functions.rows[i];

        database_row(&s->db, insert, "%u,%s,%s,%s,%lu,%lu,%d", i, function->name,
                     functions_label(function, label), function->object, function->start,
                     function->end, function->kernel);
    }
}

static void put_sums(struct sqlite *s)
{
    sqlite3_stmt *insert = sqlite_schema_sums(&s->schema);

    for (uint32_t i = 0; i < s->e->functions.count && s->db.error == 0; i++) {
        const uint64_t *sums = sums_of(s, i);

        if (sums[0] == 0)
            continue;
        database_bind(insert, 1, i);
        for (uint32_t n = 0; n <= s->e->info.event_count; n++)
            database_bind(insert, 2 + (int)n, sums[n]);
        database_put(&s->db, insert);
    }
}

/* Before the functions: those of callers are numbered here. */
static void put_stacks(struct sqlite *s)
{
    static const char *const endings[HR_STACK_ROOTS] = {
        [HR_STACK_NONE] = "none",
        [HR_STACK_WHOLE] = "whole",
        [HR_STACK_CUT] = "truncated",
        [HR_STACK_BROKEN] = "broken",
    };
    const struct stacks *stacks = &s->e->scan.stacks;
    sqlite3_stmt *insert = database_prepare(&s->db, "INSERT INTO stacks VALUES (?,?,?,?,?,?)");

    for (uint32_t i = 0; s->e->info.has_stacks && i < stacks->count && s->db.error == 0; i++) {
        const struct stacks_node *node = &stacks->nodes[i];

        if (i < HR_STACK_ROOTS)
            database_row(&s->db, insert, "%u,-,-,-,%u,%s", i, node->depth, endings[i]);
        else
            database_row(&s->db, insert, "%u,%u,%u,%lu,%u,-", i, node->parent,
                         functions_at(&s->e->functions, node->address - 1), node->address,
                         node->depth);
    }
}

static int fill(struct sqlite *s)
{
    const struct trace_visitor visitor = {
        .context = s, .stacks = TRACE_SCAN_STACKS, .samples = take_samples, .record = take_record};
    int error = sqlite_schema_tables(&s->schema);

    if (error != 0)
        return error;
    sqlite_about_put(&s->schema);
    sqlite_records_init(&s->records, &s->db, &s->e->info);
    s->insert = sqlite_schema_samples(&s->schema);
    error = export_walk(s->e, &visitor);
    if (error != 0)
        return error;
    sqlite_about_number(&s->db, "samples", s->e->samples);
    sqlite_about_number(&s->db, "complete",
                        !s->e->scan.partial && trace_audit_complete(&s->e->scan.audit));
    put_stacks(s);
    put_functions(s);
    put_sums(s);
    return sqlite_schema_views(&s->schema);
}

static int run(struct export *e)
{
    struct sqlite *s = calloc(1, sizeof *s);
    int error = -ENOMEM;

    if (s != NULL)
        s->sums = calloc(FUNCTIONS_MAX, (1 + e->info.event_count) * sizeof s->sums[0]);
    if (s == NULL || s->sums == NULL) {
        free(s);
        return error;
    }
    s->e = e;
    s->schema.db = &s->db;
    s->schema.info = &e->info;
    database_open(&s->db, e->file);
    error = fill(s);
    e->output.error = database_close(&s->db);
    free(s->sums);
    free(s);
    return error;
}

const struct export_format export_sqlite = {
    .name = "sqlite",
    .extension = "sqlite",
    .summary = "SQLite database with tables and views of everything",
    .opener = "sqlite3",
    .needs_file = true,
    .run = run,
};
