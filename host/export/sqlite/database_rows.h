/* Inserts many rows of numbers into a table of a SQLite database, in a third of the time.
 *
 * Rows are gathered, and a virtual table hands them to one statement: nothing is bound, and no
 * statement begins and ends for each row.
 */
#pragma once

#include "host/export/sqlite/database.h"

struct database_rows {
    struct database *db;
    sqlite3_stmt *insert;
    sqlite3_int64 *values; /* DATABASE_ROWS_MAX rows; owned */
    uint32_t columns;
    uint32_t count; /* of rows that are not in the table yet */
    uint64_t nulls; /* a bit for each column that is NULL in all of these */
};

#define DATABASE_ROWS_MAX 1024u

/* The table has `columns` columns, at most 64; one object for each database.  0 or -ENOMEM;
 * database_rows_close in any case, before the database is closed. */
int database_rows_open(struct database_rows *rows, struct database *db, const char *table,
                       uint32_t columns);
void database_rows_close(struct database_rows *rows);

/* Adds a row, whose values are to be filled in but for those that are NULL. */
sqlite3_int64 *database_rows_add(struct database_rows *rows, uint64_t nulls);

/* Puts what was gathered into the table. */
void database_rows_flush(struct database_rows *rows);
