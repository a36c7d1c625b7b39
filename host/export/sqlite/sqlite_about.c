/* Inserts what a trace says about its run. */
#include "host/export/sqlite/sqlite_about.h"

#include <inttypes.h>
#include <stdio.h>

#include "include/version.h"

/* One row of the table run. */
static void put_fact(struct database *db, const char *key, const char *value)
{
    sqlite3_stmt *insert = database_prepare(db, "INSERT OR IGNORE INTO run VALUES (?,?)");

    database_row(db, insert, "%s,%s", key, value);
    sqlite3_finalize(insert);
}

void sqlite_put_number(struct database *db, const char *key, uint64_t value)
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
    sqlite_put_number(db, "interval_ns", trace_info_interval_ns(info));
    sqlite_put_number(db, "period", info->sampling.period_events);
    sqlite_put_number(db, "frequency_hz", info->sampling.frequency_hz);
    sqlite_put_number(db, "cpus", info->sampling.cpu_count);
    sqlite_put_number(db, "emulated", (info->sampling.flags & HR_SAMPLING_EMULATED) != 0);
    sqlite_put_number(db, "inexact", (info->sampling.flags & HR_SAMPLING_INEXACT) != 0);
}

static void put_run(struct database *db, const struct trace_info *info)
{
    static const char *const kinds[] = {"unknown", "status", "signal", "stopped", "refused"};

    put_fact(db, "hr.version", VERSION_TEXT);
    sqlite_put_number(db, "schema", SQLITE_SCHEMA_VERSION);
    put_sampling(db, info);
    sqlite_put_number(db, "ticks_per_second", info->clock.ticks_per_second);
    put_fact(db, "clock", trace_info_clock_method(info->clock.method));
    if (info->clock.start_unix_ns != 0)
        sqlite_put_number(db, "start_unix_ns", info->clock.start_unix_ns);
    if (info->has_calibration) {
        sqlite_put_number(db, "sample_cost_ns",
                          trace_info_ns(info, info->calibration.sample_ticks));
        sqlite_put_number(db, "rdpmc_ns", trace_info_ns(info, info->calibration.rdpmc_ticks));
    }
    if (info->has_exit) {
        put_fact(db, "exit.kind", kinds[info->exit.kind <= 4 ? info->exit.kind : 0]);
        sqlite_put_number(db, "exit.code", info->exit.code);
        sqlite_put_number(db, "duration_ns", trace_info_time_ns(info, info->exit.time));
        sqlite_put_number(db, "user_ns", trace_info_ns(info, info->exit.user_ticks));
        sqlite_put_number(db, "peak_memory_bytes", info->exit.peak_memory_bytes);
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

void sqlite_build_id(size_t bytes, const uint8_t *build_id, char *text)
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

        sqlite_build_id(map->meta.build_id_bytes, map->build_id, build_id);
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

void sqlite_put_about(const struct sqlite_schema *schema)
{
    put_run(schema->db, schema->info);
    put_events(schema);
    put_maps(schema->db, schema->info);
    put_processes(schema->db, schema->info);
    put_regions(schema->db, schema->info);
}
