/* hr export sqlite: a database with everything that a trace holds; docs/sqlite.md describes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/common/export.h"
#include "host/export/sqlite/database_rows.h"
#include "host/export/sqlite/sqlite_about.h"
#include "host/export/sqlite/sqlite_accesses.h"
#include "host/export/sqlite/sqlite_allocations.h"
#include "host/export/sqlite/sqlite_probes.h"
#include "host/export/sqlite/sqlite_records.h"
#include "host/export/sqlite/sqlite_schema.h"

struct sqlite {
    struct export *e;
    struct database db;
    struct sqlite_schema schema;
    struct sqlite_records records;
    struct sqlite_allocations allocations;
    struct sqlite_accesses accesses;
    bool follows; /* there are requests or waits */
    struct database_rows rows; /* samples */
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

/* A sample's columns; the events follow. */
enum { TIME, CPU, TID, PID, IP, FUNCTION, STACK, FLAGS, COST, EVENTS };

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct sqlite *s = context;
    struct trace_info *info = &s->e->info;
    const struct trace_slot *previous = samples->previous;
    uint32_t tid = samples->slots[0].tid; /* a run is one thread's, and the flags are the same */
    uint32_t pid = trace_processes_pid(&info->processes, tid, samples->slots[0].time);

    for (uint32_t n = 0; n < samples->count && samples->event_count == info->event_count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint32_t function = functions_at(&s->e->functions, sample->ip);
        sqlite3_int64 *row = database_rows_add(&s->rows, samples->stacks != NULL ? 0 : 1u << STACK);

        add_sample(s, function, sample, previous);
        row[TIME] = (sqlite3_int64)trace_info_time_ns(info, sample->time);
        row[CPU] = samples->chunk->cpu;
        row[TID] = tid;
        row[PID] = pid;
        row[IP] = (sqlite3_int64)trace_samples_ip(samples, n);
        row[FUNCTION] = function;
        if (samples->stacks != NULL)
            row[STACK] = samples->stacks[n];
        row[FLAGS] = sample->flags;
        row[COST] = (sqlite3_int64)trace_info_ns(info, sample->cost_ticks);
        for (uint32_t i = 0; i < samples->event_count; i++)
            row[EVENTS + i] = (sqlite3_int64)(sample->counters[i] - previous->counters[i]);
        if (samples->accesses != NULL &&
            sqlite_accesses_take(&s->accesses, samples, n, function) != 0)
            return -ENOMEM;
        previous = sample;
    }
    return s->db.error;
}

static int take_allocations(void *context, const struct trace_hits *hits)
{
    struct sqlite *s = context;

    return memory_heap_take_hits(&s->allocations.heap, hits);
}

static int take_called(void *context, const struct trace_samples *samples)
{
    struct sqlite *s = context;

    return memory_heap_take_called(&s->allocations.heap, samples);
}

static void put_process_map(struct sqlite *s, const struct trace_record *record)
{
    char build_id[2 * TRACE_INFO_BUILD_ID_MAX + 1];
    struct hr_rec_process_map body;
    const uint8_t *tail;
    sqlite3_stmt *insert;
    size_t bytes;
    char *path;

    if (!trace_body(record, &body, sizeof body, &tail, &bytes) ||
        (size_t)body.map.build_id_bytes + body.map.path_bytes > bytes)
        return;
    path = strndup((const char *)tail + body.map.build_id_bytes, body.map.path_bytes);
    sqlite_build_id(body.map.build_id_bytes, tail, build_id);
    insert = database_prepare(&s->db, "INSERT INTO maps VALUES (?,?,?,?,?,?,?,?)");
    database_row(&s->db, insert, "%lu,%lu,%lu,%s,%s,%d,%u,%lu", body.map.start, body.map.end,
                 body.map.file_offset, path, build_id, 0, body.pid,
                 trace_info_time_ns(&s->e->info, body.time));
    sqlite3_finalize(insert);
    free(path);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct sqlite *s = context;
    int error = memory_heap_take_record(&s->allocations.heap, chunk, record);

    if (error != 0)
        return error;
    if (chunk->header.type == HR_CHUNK_META && record->type == HR_REC_PROCESS_MAP)
        put_process_map(s, record);
    if (chunk->header.type != HR_CHUNK_DATA)
        return s->db.error;
    sqlite_records_take(&s->records, chunk, record);
    s->follows |= record->type == HR_REC_REQUEST || record->type == HR_REC_WAIT;
    return s->db.error;
}

static void put_functions(struct sqlite *s)
{
    sqlite3_stmt *insert = database_prepare(&s->db, "INSERT INTO functions VALUES (?,?,?,?,?,?,?)");
    char label[FUNCTIONS_LABEL_BYTES];

    for (uint32_t i = 0; i < s->e->functions.count; i++) {
        const struct function *function = &s->e->functions.rows[i];

        database_row(&s->db, insert, "%u,%s,%s,%s,%lu,%lu,%d", i, function->name,
                     functions_label(function, label), function->object,
                     trace_spaces_shown(function->start), trace_spaces_shown(function->end),
                     function->kernel);
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
    uint32_t *depths = calloc(stacks->count, sizeof *depths);

    if (depths == NULL)
        s->db.error = -ENOMEM;
    for (uint32_t i = 0; s->e->info.has_stacks && i < stacks->count && s->db.error == 0; i++) {
        const struct stacks_node *node = &stacks->nodes[i];

        depths[i] = i < HR_STACK_ROOTS ? 0 : depths[node->parent] + 1;
        if (i < HR_STACK_ROOTS)
            database_row(&s->db, insert, "%u,-,-,-,0,%s", i, endings[i]);
        else
            database_row(&s->db, insert, "%u,%u,%u,%lu,%u,-", i, node->parent,
                         functions_at(&s->e->functions, node->address - 1),
                         trace_spaces_shown(node->address), depths[i]);
    }
    free(depths);
}

static int fill(struct sqlite *s)
{
    const struct trace_visitor visitor = {.context = s,
                                          .names = true,
                                          .accesses = true,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .samples = take_samples,
                                          .allocations = take_allocations,
                                          .called = take_called,
                                          .record = take_record};
    int error = sqlite_schema_tables(&s->schema);

    if (error != 0)
        return error;
    sqlite_put_about(&s->schema);
    sqlite_records_init(&s->records, &s->db, &s->e->info);
    sqlite_allocations_init(&s->allocations, s->e, &s->db);
    error = database_rows_open(&s->rows, &s->db, "samples", EVENTS + s->e->info.event_count);
    if (error == 0)
        error = sqlite_accesses_open(&s->accesses, s->e, &s->db,
                                     memory_heap_any(&s->e->info) && !s->allocations.heap.gathers
                                         ? &s->allocations.heap
                                         : NULL);
    if (error == 0)
        error = export_walk(s->e, &visitor);
    database_rows_flush(&s->rows);
    if (error == 0)
        error = sqlite_accesses_objects(&s->accesses);
    if (error == 0)
        error = sqlite_allocations_finish(&s->allocations);
    if (error != 0)
        return error;
    sqlite_put_number(&s->db, "samples", s->e->samples);
    sqlite_put_number(&s->db, "complete",
                      !s->e->scan.partial && trace_audit_complete(&s->e->scan.audit));
    put_stacks(s);
    error = sqlite_probes_fill(s->e, &s->schema, s->follows);
    if (error != 0)
        return error;
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
    sqlite_accesses_close(&s->accesses);
    database_rows_close(&s->rows);
    e->output.error = database_close(&s->db);
    sqlite_allocations_free(&s->allocations);
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
