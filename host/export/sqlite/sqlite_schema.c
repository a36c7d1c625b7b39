/* Makes the tables and views of the database. */
#include "host/export/sqlite/sqlite_schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/output_kind.h"

static const char fixed_tables[] =
    "CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT, \"column\" TEXT, source TEXT,"
    " total INTEGER, encoding INTEGER);"
    "CREATE TABLE maps (start INTEGER, \"end\" INTEGER, file_offset INTEGER, path TEXT,"
    " build_id TEXT, kernel INTEGER, pid INTEGER, time_ns INTEGER);"
    "CREATE TABLE processes (pid INTEGER, name TEXT, path TEXT, parent_pid INTEGER,"
    " parent_tid INTEGER, start_ns INTEGER, end_ns INTEGER, status INTEGER, ending TEXT);"
    "CREATE TABLE execs (time_ns INTEGER, pid INTEGER, path TEXT);"
    "CREATE TABLE threads (tid INTEGER, pid INTEGER, start_ns INTEGER);"
    "CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, label TEXT, object TEXT,"
    " start INTEGER, \"end\" INTEGER, kernel INTEGER);"
    "CREATE TABLE stacks (id INTEGER PRIMARY KEY, parent INTEGER, function INTEGER,"
    " address INTEGER, depth INTEGER, ending TEXT);"
    "CREATE TABLE switches (time_ns INTEGER, cpu INTEGER, from_tid INTEGER, to_tid INTEGER,"
    " reason TEXT, waker_tid INTEGER);"
    "CREATE TABLE gaps (start_ns INTEGER, end_ns INTEGER, cpu INTEGER, tid INTEGER, reason TEXT);"
    "CREATE TABLE syscalls (time_ns INTEGER, cpu INTEGER, tid INTEGER, number INTEGER, name TEXT,"
    " result INTEGER, duration_ns INTEGER);"
    "CREATE TABLE marks (time_ns INTEGER, cpu INTEGER, tid INTEGER, text TEXT);"
    "CREATE TABLE outputs (time_ns INTEGER, cpu INTEGER, stream INTEGER, offset INTEGER,"
    " bytes INTEGER);"
    "CREATE TABLE losses (start_ns INTEGER, end_ns INTEGER, cpu INTEGER, count INTEGER);"
    "CREATE TABLE periods (time_ns INTEGER, cpu INTEGER, period INTEGER);"
    "CREATE TABLE pages (time_ns INTEGER, pid INTEGER, address INTEGER, pages INTEGER,"
    " written INTEGER, large INTEGER);"
    "CREATE TABLE allocations (time_ns INTEGER, freed_ns INTEGER, tid INTEGER, pid INTEGER,"
    " size INTEGER, address INTEGER, allocator TEXT, function INTEGER, site TEXT, stack INTEGER);"
    "CREATE TABLE mappings (time_ns INTEGER, tid INTEGER, kind TEXT, address INTEGER,"
    " bytes INTEGER, old_address INTEGER, old_bytes INTEGER, flags INTEGER, protection INTEGER);"
    "CREATE TABLE page_faults (time_ns INTEGER, cpu INTEGER, tid INTEGER, address INTEGER,"
    " ip INTEGER, bytes INTEGER, written INTEGER, called INTEGER);"
    "CREATE TABLE accesses (time_ns INTEGER, cpu INTEGER, tid INTEGER, pid INTEGER, ip INTEGER,"
    " function INTEGER, address INTEGER, object INTEGER, source TEXT, latency INTEGER,"
    " events INTEGER, is_write INTEGER);"
    "CREATE TABLE objects (id INTEGER PRIMARY KEY, name TEXT, kind TEXT);"
    "CREATE TABLE regions (name TEXT, event INTEGER, passes INTEGER, sum INTEGER, min INTEGER,"
    " max INTEGER, threads INTEGER);"
    "CREATE TABLE probes (id INTEGER PRIMARY KEY, name TEXT, label TEXT, object TEXT, kind TEXT,"
    " address INTEGER);"
    "CREATE TABLE waits (tid INTEGER, pid INTEGER, start_ns INTEGER, end_ns INTEGER,"
    " waited_ns INTEGER, kind TEXT, syscall TEXT, address INTEGER, lock TEXT, waker_tid INTEGER,"
    " invocation INTEGER, request INTEGER, for_cpu_ns INTEGER);"
    "CREATE TABLE requests (id INTEGER PRIMARY KEY, number INTEGER, start_ns INTEGER,"
    " end_ns INTEGER, tid INTEGER, end_tid INTEGER, worked_ns INTEGER, blocked_ns INTEGER);"
    "CREATE TABLE request_spans (request INTEGER, tid INTEGER, start_ns INTEGER, end_ns INTEGER,"
    " kind TEXT);";

/* The columns of invocations before those of the events. */
static const char invocations[] =
    "id INTEGER PRIMARY KEY, function INTEGER, tid INTEGER, pid INTEGER, cpu INTEGER,"
    " start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER, own_ns INTEGER, parent INTEGER,"
    " depth INTEGER, ending TEXT, request INTEGER, result INTEGER, argument1 INTEGER,"
    " argument2 INTEGER, argument3 INTEGER, argument4 INTEGER, argument5 INTEGER,"
    " argument6 INTEGER, on_cpu_ns INTEGER, locks_ns INTEGER, conditions_ns INTEGER,"
    " joins_ns INTEGER, io_ns INTEGER, pages_ns INTEGER, for_cpu_ns INTEGER, sleep_ns INTEGER,"
    " other_ns INTEGER";
#define INVOCATIONS_COLUMNS 29u

/* The views of every trace; those with a column for each event are added to them. */
static const char fixed_views[] =
    "CREATE INDEX samples_time ON samples (time_ns);"
    "CREATE INDEX stacks_parent ON stacks (parent);"
    "CREATE INDEX invocations_function ON invocations (function, duration_ns);"
    "CREATE INDEX invocations_time ON invocations (start_ns);"
    "CREATE INDEX waits_time ON waits (start_ns);"
    "CREATE INDEX request_spans_request ON request_spans (request);"
    "CREATE INDEX accesses_address ON accesses (address);"
    "CREATE VIEW object_totals AS SELECT o.name AS object, o.kind, count(*) AS accesses,"
    " sum(NOT is_write) AS reads, sum(is_write) AS writes, sum(latency) AS latency,"
    " avg(latency) AS mean_latency FROM accesses JOIN objects o ON o.id = object"
    " GROUP BY o.id ORDER BY latency DESC, accesses DESC;"
    /* the schema of Heimdallr PMU */
    "CREATE VIEW runs AS SELECT 1 AS id, max(CASE key WHEN 'program.args' THEN value END) AS prog,"
    " max(CASE key WHEN 'mode' THEN value END) AS mode, 1 AS run,"
    " CAST(max(CASE key WHEN 'user_ns' THEN value END) AS INTEGER) AS utime_ns, 0 AS stime_ns,"
    " CAST(max(CASE key WHEN 'duration_ns' THEN value END) AS INTEGER) AS wtime_ns,"
    " CAST(max(CASE key WHEN 'peak_memory_bytes' THEN value END) AS INTEGER) / 1024 AS max_rss"
    " FROM run;"
    "CREATE VIEW allocs AS SELECT rowid AS id, 1 AS run_id, time_ns AS from_ns,"
    " freed_ns AS to_ns, address AS base, size FROM allocations;"
    "CREATE VIEW access AS SELECT 1 AS run_id, time_ns AS at_ns, address AS addr, is_write"
    " FROM accesses;"
    "CREATE VIEW latency AS SELECT label AS function, object, n AS calls,"
    " max(CASE rank WHEN (n + 1) / 2 THEN duration_ns END) AS median_ns,"
    " max(CASE rank WHEN (n * 90 + 99) / 100 THEN duration_ns END) AS p90_ns,"
    " max(CASE rank WHEN (n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,"
    " max(CASE rank WHEN (n * 999 + 999) / 1000 THEN duration_ns END) AS p999_ns,"
    " max(duration_ns) AS max_ns, sum(duration_ns) AS total_ns, sum(own_ns) AS own_ns"
    " FROM (SELECT function, duration_ns, own_ns,"
    "  row_number() OVER (PARTITION BY function ORDER BY duration_ns) AS rank,"
    "  count(*) OVER (PARTITION BY function) AS n"
    "  FROM invocations WHERE ending = 'returned') JOIN probes ON probes.id = function"
    " GROUP BY probes.id ORDER BY p999_ns - median_ns DESC, 1;"
    "CREATE VIEW stack_text AS WITH RECURSIVE t (id, text) AS ("
    " SELECT id, CASE ending WHEN 'whole' THEN '' ELSE '[' || ending || ']' END"
    "  FROM stacks WHERE parent IS NULL"
    " UNION ALL SELECT s.id, CASE t.text WHEN '' THEN f.label ELSE t.text || ';' || f.label END"
    "  FROM t JOIN stacks s ON s.parent = t.id JOIN functions f ON f.id = s.function)"
    " SELECT id, text FROM t;"
    "CREATE VIEW folded AS SELECT"
    " CASE coalesce(t.text, '') WHEN '' THEN f.label ELSE t.text || ';' || f.label END AS stack,"
    " sum(n) AS samples FROM"
    " (SELECT stack, function, count(*) AS n FROM samples GROUP BY stack, function) s"
    " JOIN functions f ON f.id = s.function LEFT JOIN stack_text t ON t.id = s.stack"
    " GROUP BY 1 ORDER BY 2 DESC;";

/* Lower-case letters, digits and underscores: "cache-misses:u" gives cache_misses. */
static void make_column(char column[SQLITE_SCHEMA_COLUMN_BYTES], const char *event)
{
    size_t used = 0;

    if (!isalpha((unsigned char)*event))
        column[used++] = 'e';
    for (; *event != 0 && strcmp(event, ":u") != 0 && used < 64; event++)
        column[used++] =
            isalnum((unsigned char)*event) ? (char)tolower((unsigned char)*event) : '_';
    column[used] = 0;
}

/* Whether a list of columns with their types has one of that name. */
static bool is_column(const char *columns, const char *name)
{
    size_t bytes = strlen(name);

    for (const char *at = columns; (at = strstr(at, name)) != NULL; at += bytes)
        if ((at == columns || at[-1] == ' ') && at[bytes] == ' ')
            return true;
    return false;
}

static bool taken(const struct sqlite_schema *schema, uint32_t count, const char *column)
{
    static const char *const own[] = {"time_ns", "cpu",      "tid",     "ip",      "function",
                                      "stack",   "flags",    "cost_ns", "samples", "start_ns",
                                      "pid",     "first_ns", "last_ns", "id",      "object"};

    for (uint32_t i = 0; i < count; i++)
        if (strcmp(schema->columns[i], column) == 0)
            return true;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i], column) == 0)
            return true;
    return is_column(invocations, column);
}

static void choose_columns(struct sqlite_schema *schema)
{
    char room[16];

    for (uint32_t i = 0; i < schema->info->event_count; i++) {
        char *column = schema->columns[i];

        make_column(column, trace_info_event_name(schema->info, i, room));
        if (taken(schema, i, column))
            snprintf(column + strlen(column), 8, "_%u", i % 100);
    }
}

/* Writes a text for each event: % in `each` stands for its column. */
static void put_columns(FILE *out, const struct sqlite_schema *schema, const char *each)
{
    for (uint32_t i = 0; i < schema->info->event_count; i++)
        for (const char *c = each; *c != 0; c++)
            if (*c == '%')
                fprintf(out, "\"%s\"", schema->columns[i]);
            else
                fputc(*c, out);
}

/* Sums by function, with misses and the like for every 1000 instructions. */
static void put_function_views(FILE *out, const struct sqlite_schema *schema)
{
    int instructions = trace_info_find_event(schema->info, "instructions");

    fputs("CREATE VIEW function_totals AS SELECT f.label AS function, f.object, s.*"
          " FROM function_sums s JOIN functions f ON f.id = s.function_id ORDER BY samples DESC;",
          out);
    if (instructions < 0)
        return;
    fputs("CREATE VIEW function_rates AS SELECT function, object, samples", out);
    for (uint32_t i = 0; i < schema->info->event_count; i++)
        if (i != (uint32_t)instructions)
            fprintf(out, ", 1000.0 * \"%s\" / \"%s\" AS \"%s_per_1000_instructions\"",
                    schema->columns[i], schema->columns[instructions], schema->columns[i]);
    fputs(" FROM function_totals;", out);
}

static void put_views(FILE *out, const struct sqlite_schema *schema)
{
    static const struct {
        const char *name;
        const char *ns;
    } bins[] = {{"10us", "10000"}, {"100us", "100000"}, {"1ms", "1000000"}, {"1s", "1000000000"}};
    static const char *const totals[] = {"thread", "tid", "cpu", "cpu", "process", "pid"};

    put_function_views(out, schema);
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i += 2) {
        fprintf(out,
                "CREATE VIEW %s_totals AS SELECT %s, count(*) AS samples,"
                " min(time_ns) AS first_ns, max(time_ns) AS last_ns",
                totals[i], totals[i + 1]);
        put_columns(out, schema, ", sum(%) AS %");
        fprintf(out, " FROM samples GROUP BY %s;", totals[i + 1]);
    }
    for (size_t i = 0; i < sizeof bins / sizeof bins[0]; i++) {
        fprintf(out,
                "CREATE VIEW bins_%s AS SELECT time_ns / %s * %s AS start_ns, cpu,"
                " count(*) AS samples",
                bins[i].name, bins[i].ns, bins[i].ns);
        put_columns(out, schema, ", sum(%) AS %");
        fputs(" FROM samples GROUP BY 1, 2;", out);
    }
}

/* Runs what `put` writes. */
static int run_text(struct sqlite_schema *schema,
                    void (*put)(FILE *out, const struct sqlite_schema *schema))
{
    char *sql = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&sql, &bytes);

    if (memory == NULL)
        return -ENOMEM;
    put(memory, schema);
    if (fclose(memory) != 0) {
        free(sql);
        return -ENOMEM;
    }
    database_run(schema->db, sql);
    free(sql);
    return 0;
}

static void put_samples(FILE *out, const struct sqlite_schema *schema)
{
    fputs(
        "CREATE TABLE samples (time_ns INTEGER, cpu INTEGER, tid INTEGER, pid INTEGER, ip INTEGER,"
        " function INTEGER, stack INTEGER, flags INTEGER, cost_ns INTEGER",
        out);
    put_columns(out, schema, ", % INTEGER");
    fputs("); CREATE TABLE function_sums (function_id INTEGER PRIMARY KEY, samples INTEGER", out);
    put_columns(out, schema, ", % INTEGER");
    fprintf(out, "); CREATE TABLE invocations (%s", invocations);
    put_columns(out, schema, ", % INTEGER");
    fprintf(out, "); PRAGMA user_version=%d; PRAGMA application_id=%d;", SQLITE_SCHEMA_VERSION,
            OUTPUT_MARK_SQLITE);
}

int sqlite_schema_tables(struct sqlite_schema *schema)
{
    choose_columns(schema);
    database_run(schema->db, fixed_tables);
    return run_text(schema, put_samples);
}

/* A statement that inserts `columns` values and one for each event. */
static sqlite3_stmt *prepare_insert(struct sqlite_schema *schema, const char *table,
                                    uint32_t columns)
{
    char sql[160];

    snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table);
    for (uint32_t i = 1; i < columns + schema->info->event_count; i++)
        strcat(sql, ",?");
    return database_prepare(schema->db, strcat(sql, ")"));
}

sqlite3_stmt *sqlite_schema_sums(struct sqlite_schema *schema)
{
    return prepare_insert(schema, "function_sums", 2);
}

sqlite3_stmt *sqlite_schema_invocations(struct sqlite_schema *schema)
{
    return prepare_insert(schema, "invocations", INVOCATIONS_COLUMNS);
}

int sqlite_schema_views(struct sqlite_schema *schema)
{
    database_run(schema->db, fixed_views);
    return run_text(schema, put_views);
}
