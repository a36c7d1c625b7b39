/* The tables and views of `hr export sqlite`; docs/sqlite.md describes them for their users. */
#pragma once

#include "host/export/sqlite/database.h"
#include "host/trace/trace_info.h"

#define SQLITE_SCHEMA_VERSION 2 /* PRAGMA user_version */
#define SQLITE_SCHEMA_COLUMN_BYTES 72

struct sqlite_schema {
    struct database *db;
    const struct trace_info *info;
    char columns[HR_EVENTS_MAX][SQLITE_SCHEMA_COLUMN_BYTES]; /* of the events in samples */
};

/* Chooses the events' columns, makes the tables; -ENOMEM or 0, other failures are the database's.
 */
int sqlite_schema_tables(struct sqlite_schema *schema);

/* The statement that inserts a function's sums: its number, samples, and one column for each event.
 */
sqlite3_stmt *sqlite_schema_sums(struct sqlite_schema *schema);

/* The one that inserts an invocation: 26 columns, then one for each event. */
sqlite3_stmt *sqlite_schema_invocations(struct sqlite_schema *schema);

/* Indices and views, when the tables are full.  As sqlite_schema_tables. */
int sqlite_schema_views(struct sqlite_schema *schema);
