/* Writes a SQLite database. */
#include "host/export/sqlite/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "host/base/text.h"

#define TEXT_BYTES_MAX 8192u

static void note(struct database *db, int code)
{
    int number = sqlite3_system_errno(db->handle);

    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW || db->error != 0)
        return;
    if (code == SQLITE_NOMEM)
        db->error = -ENOMEM;
    else
        db->error = number != 0 ? -number : code == SQLITE_FULL ? -ENOSPC : -EIO;
}

void database_open(struct database *db, const char *path)
{
    db->error = 0;
    note(db,
         sqlite3_open_v2(path, &db->handle,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    database_run(db, "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                     "PRAGMA locking_mode=EXCLUSIVE;"
                     "PRAGMA cache_size=-16384; PRAGMA temp_store=FILE; BEGIN;");
}

int database_close(struct database *db)
{
    database_run(db, "COMMIT;");
    for (sqlite3_stmt *s; (s = sqlite3_next_stmt(db->handle, NULL)) != NULL;)
        sqlite3_finalize(s);
    note(db, sqlite3_close(db->handle));
    db->handle = NULL;
    return db->error;
}

void database_run(struct database *db, const char *sql)
{
    if (db->error == 0)
        note(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

sqlite3_stmt *database_prepare(struct database *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (db->error == 0)
        note(db, sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL));
    return statement;
}

void database_put(struct database *db, sqlite3_stmt *statement)
{
    if (db->error != 0)
        return;
    note(db, sqlite3_step(statement));
    sqlite3_reset(statement);
}

void database_bind(sqlite3_stmt *statement, int parameter, uint64_t value)
{
    if (statement != NULL)
        sqlite3_bind_int64(statement, parameter, (sqlite3_int64)value);
}

void database_bind_real(sqlite3_stmt *statement, int parameter, double value)
{
    if (statement != NULL)
        sqlite3_bind_double(statement, parameter, value);
}

void database_bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
    char safe[TEXT_BYTES_MAX];

    if (statement == NULL)
        return;
    if (text == NULL)
        sqlite3_bind_null(statement, parameter);
    else
        sqlite3_bind_text(statement, parameter, text_escape(safe, sizeof safe, text), -1,
                          SQLITE_TRANSIENT);
}

void database_row(struct database *db, sqlite3_stmt *statement, const char *format, ...)
{
    int parameter = 1;
    va_list values;

    va_start(values, format);
    for (const char *c = format; *c != 0; c++)
        if (*c == 's')
            database_bind_text(statement, parameter, va_arg(values, const char *));
        else if (*c == 'u' && c[-1] == 'l')
            database_bind(statement, parameter, va_arg(values, uint64_t));
        else if (*c == 'u')
            database_bind(statement, parameter, va_arg(values, unsigned int));
        else if (*c == 'd')
            database_bind(statement, parameter, (uint64_t)va_arg(values, int));
        else if (*c == '-')
            database_bind_text(statement, parameter, NULL);
        else if (*c == ',')
            parameter++;
    va_end(values);
    database_put(db, statement);
}
