/* The tables of `hr export sqlite` that hold records other than samples. */
#pragma once

#include "host/export/sqlite/database.h"
#include "host/trace/trace_file.h"
#include "host/trace/trace_info.h"

#define SQLITE_RECORDS_TABLES 10u

struct sqlite_records {
    struct database *db;
    const struct trace_info *info;
    sqlite3_stmt *inserts[SQLITE_RECORDS_TABLES];
};

/* After the tables were made. */
void sqlite_records_init(struct sqlite_records *records, struct database *db,
                         const struct trace_info *info);

/* Inserts a record of a DATA chunk, if there is a table for its type. */
void sqlite_records_take(struct sqlite_records *records, const struct trace_chunk *chunk,
                         const struct trace_record *record);
