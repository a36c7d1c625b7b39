/* hr export sqlite: a database with everything that a trace holds; docs/sqlite.md describes it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/common/export.h"
#include "host/export/sqlite/database_rows.h"
#include "host/export/sqlite/sqlite_accesses.h"
#include "host/export/sqlite/sqlite_allocations.h"
#include "host/export/sqlite/sqlite_probes.h"
#include "host/export/sqlite/sqlite_records.h"
#include "host/export/sqlite/sqlite_schema.h"
#include "include/version.h"

/* One row of the table run. */
static void put_fact(struct database *db, const char *key, const char *value)
{
    sqlite3_stmt *insert = database_prepare(db, "INSERT OR IGNORE INTO run VALUES (?,?)");

    database_row(db, insert, "%s,%s", key, value);
    sqlite3_finalize(insert);
}

static void put_number(struct database *db, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put_fact(db, key, text);
}

static void put_sampling(struct database *db, const struct trace_info *info)
{
    if (!info->has_sampling)
        return;
    put_fact(db, "mode", trace_info_mode(info->sampling.mode));
    put_number(db, "interval_ns", trace_info_interval_ns(info));
    put_number(db, "period", info->sampling.period_events);
    put_number(db, "frequency_hz", info->sampling.frequency_hz);
    put_number(db, "cpus", info->sampling.cpu_count);
    put_number(db, "emulated", (info->sampling.flags & HR_SAMPLING_EMULATED) != 0);
    put_number(db, "inexact", (info->sampling.flags & HR_SAMPLING_INEXACT) != 0);
}

static void put_run(struct database *db, const struct trace_info *info)
{
    static const char *const kinds[] = {"unknown", "status", "signal", "stopped", "refused"};

    put_fact(db, "hr.version", VERSION_TEXT);
    put_number(db, "schema", SQLITE_SCHEMA_VERSION);
    put_sampling(db, info);
    put_number(db, "ticks_per_second", info->clock.ticks_per_second);
    put_fact(db, "clock", trace_info_clock_method(info->clock.method));
    if (info->clock.start_unix_ns != 0)
        put_number(db, "start_unix_ns", info->clock.start_unix_ns);
    if (info->has_calibration) {
        put_number(db, "sample_cost_ns", trace_info_ns(info, info->calibration.sample_ticks));
        put_number(db, "rdpmc_ns", trace_info_ns(info, info->calibration.rdpmc_ticks));
    }
    if (info->has_exit) {
        put_fact(db, "exit.kind", kinds[info->exit.kind <= 4 ? info->exit.kind : 0]);
        put_number(db, "exit.code", info->exit.code);
        put_number(db, "duration_ns", trace_info_time_ns(info, info->exit.time));
        put_number(db, "user_ns", trace_info_ns(info, info->exit.user_ticks));
        put_number(db, "peak_memory_bytes", info->exit.peak_memory_bytes);
    }
    for (size_t i = 0; i < info->text_count; i++)
        put_fact(db, info->texts[i].key, info->texts[i].value);
}

static void put_events(const struct sqlite_schema *schema)
{
    const struct trace_info *info = schema->info;
    sqlite3_stmt *insert = database_prepare(schema->db, "INSERT INTO events VALUES (?,?,?,?,?,?)");
    char room[16];

    for (uint32_t i = 0; i < info->event_count; i++) {
        const struct trace_event *event = &info->events[i];

        if (event->has_total)
            database_bind(insert, 5, event->total);
        else
            database_bind_text(insert, 5, NULL);
        database_row(schema->db, insert, "%u,%s,%s,%s,=,%lu", i,
                     trace_info_event_name(info, i, room), schema->columns[i],
                     trace_info_source(event->meta.source), event->meta.encoding);
    }
}

static void build_id_text(size_t bytes, const uint8_t *build_id, char *text)
{
    text[0] = 0;
    for (size_t n = 0; n < bytes && n < TRACE_INFO_BUILD_ID_MAX; n++)
        sprintf(text + 2 * n, "%02x", build_id[n]);
}

static void put_maps(struct database *db, const struct trace_info *info)
{
    sqlite3_stmt *insert = database_prepare(db, "INSERT INTO maps VALUES (?,?,?,?,?,?,?,?)");

    for (size_t i = 0; i < info->map_count; i++) {
        const struct trace_map *map = &info->maps[i];
        char build_id[2 * TRACE_INFO_BUILD_ID_MAX + 1];

        bool kernel = (map->meta.flags & HR_MAP_KERNEL) != 0; /* which every process has */

        build_id_text(map->meta.build_id_bytes, map->build_id, build_id);
        if (kernel)
            database_bind_text(insert, 7, NULL);
        else
            database_bind(insert, 7, HR_FIRST_PID);
        database_row(db, insert, "%lu,%lu,%lu,%s,%s,%d,=,-", map->meta.start, map->meta.end,
                     map->meta.file_offset, map->path, build_id, kernel);
    }
}

static void put_process(struct database *db, sqlite3_stmt *insert, const struct trace_info *info,
                        uint32_t number)
{
    const struct trace_processes *processes = &info->processes;
    const struct trace_process *process = &processes->all[number];
    const char *path = trace_processes_path(processes, number, UINT64_MAX);
    char ending[TRACE_INFO_STATUS_BYTES];

    if (path == NULL)
        path = number == 0 ? trace_info_text(info, "program.path", NULL) : NULL;
    database_bind_text(insert, 4, NULL);
    database_bind_text(insert, 5, NULL);
    database_bind_text(insert, 7, NULL);
    database_bind_text(insert, 8, NULL);
    database_bind_text(insert, 9, NULL);
    if (process->parent != TRACE_PROCESS_NONE)
        database_bind(insert, 4, processes->all[process->parent].pid);
    if (process->parent_tid != 0)
        database_bind(insert, 5, process->parent_tid);
    if (process->ended) {
        database_bind(insert, 7, trace_info_time_ns(info, process->end));
        database_bind(insert, 8, process->status);
        database_bind_text(insert, 9, trace_info_status(process->status, ending));
    }
    database_row(db, insert, "%u,%s,%s,=,=,%lu,=,=,=", process->pid,
                 trace_info_process_name(info, number, UINT64_MAX), path,
                 trace_info_time_ns(info, process->start));
}

static void put_processes(struct database *db, const struct trace_info *info)
{
    const struct trace_processes *p = &info->processes;
    sqlite3_stmt *insert = database_prepare(db, "INSERT INTO processes VALUES (?,?,?,?,?,?,?,?,?)");
    sqlite3_stmt *exec = database_prepare(db, "INSERT INTO execs VALUES (?,?,?)");
    sqlite3_stmt *thread = database_prepare(db, "INSERT INTO threads VALUES (?,?,?)");

    if (!trace_processes_any(p)) /* there is the first one */
        database_row(db, insert, "%u,%s,%s,-,-,%lu,-,-,-", HR_FIRST_PID,
                     trace_info_process_name(info, 0, UINT64_MAX),
                     trace_info_text(info, "program.path", NULL), 0ul);
    for (uint32_t i = 0; i < p->count; i++) {
        put_process(db, insert, info, i);
        for (uint32_t n = p->all[i].first_path; n != TRACE_PROCESS_NONE; n = p->paths[n].next)
            if (p->paths[n].exec)
                database_row(db, exec, "%lu,%u,%s", trace_info_time_ns(info, p->paths[n].time),
                             p->all[i].pid, p->paths[n].path);
    }
    for (uint32_t i = 0; i < p->thread_count; i++)
        database_row(db, thread, "%u,%u,%lu", p->threads[i].tid, p->all[p->threads[i].process].pid,
                     trace_info_time_ns(info, p->threads[i].time));
    sqlite3_finalize(insert);
    sqlite3_finalize(exec);
    sqlite3_finalize(thread);
}

static void put_figures(struct database *db, sqlite3_stmt *insert, const struct trace_info *info,
                        const struct trace_region *region, uint32_t event)
{
    const struct trace_region_figures *f = &region->figures[event];

    if (f->records == 0)
        return;
    if (event == TRACE_REGION_TIME)
        database_row(db, insert, "%s,-,%lu,%lu,%lu,%lu,%u", region->name, f->passes,
                     trace_info_ns(info, f->sum), trace_info_ns(info, f->min),
                     trace_info_ns(info, f->max), region->threads);
    else
        database_row(db, insert, "%s,%u,%lu,%lu,%lu,%lu,%u", region->name, event, f->passes, f->sum,
                     f->min, f->max, region->threads);
}

static void put_regions(struct database *db, const struct trace_info *info)
{
    sqlite3_stmt *insert = database_prepare(db, "INSERT INTO regions VALUES (?,?,?,?,?,?,?)");

    for (size_t i = 0; i < info->regions.count; i++)
        for (uint32_t event = 0; event < TRACE_REGION_FIGURES; event++)
            put_figures(db, insert, info, &info->regions.all[i], event);
}

/* After the tables were made. */
static void put_about(const struct sqlite_schema *schema)
{
    put_run(schema->db, schema->info);
    put_events(schema);
    put_maps(schema->db, schema->info);
    put_processes(schema->db, schema->info);
    put_regions(schema->db, schema->info);
}

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
    build_id_text(body.map.build_id_bytes, tail, build_id);
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
    put_about(&s->schema);
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
    put_number(&s->db, "samples", s->e->samples);
    put_number(&s->db, "complete", !s->e->scan.partial && trace_audit_complete(&s->e->scan.audit));
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
