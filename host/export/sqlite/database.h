/* Writing a SQLite database: the first failure is remembered and the rest is passed over.
 *
 * The file is new and no other process uses it: no journal, one transaction, nothing is synced.
 */
#pragma once

#include <stdint.h>

#include <sqlite3.h>

struct database {
    sqlite3 *handle;
    int error; /* the first one, as -errno */
};

void database_open(struct database *db, const char *path);

/* Ends the transaction.  0 or the first error. */
int database_close(struct database *db);

/* Runs SQL statements that give no rows. */
void database_run(struct database *db, const char *sql);

/* NULL after a failure, which the other functions bear. */
sqlite3_stmt *database_prepare(struct database *db, const char *sql);

/* Inserts one row with what was bound. */
void database_put(struct database *db, sqlite3_stmt *statement);

/* Inserts one row.  The format has a conversion for each column, separated by commas: %u, %lu, %d
 * for a bool, %s as database_bind_text(), - for NULL, and = for what is bound already. */
void database_row(struct database *db, sqlite3_stmt *statement, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Binds a value to the parameter that is numbered from 1.  Text is raw: what is no UTF-8 and
 * control characters are escaped; NULL gives NULL. */
void database_bind(sqlite3_stmt *statement, int parameter, uint64_t value);
void database_bind_real(sqlite3_stmt *statement, int parameter, double value);
void database_bind_text(sqlite3_stmt *statement, int parameter, const char *text);
