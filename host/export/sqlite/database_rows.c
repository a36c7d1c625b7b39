/* A virtual table of the rows that were gathered. */
#include "host/export/sqlite/database_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "gathered_rows"

struct table {
    sqlite3_vtab base;
    const struct database_rows *rows;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct database_rows *rows;
    uint32_t row;
};

static int connect_table(sqlite3 *handle, void *aux, int /*argc*/, const char *const * /*argv*/,
                         sqlite3_vtab **made, char ** /*message*/)
{
    const struct database_rows *rows = aux;
    char sql[64 * sizeof ",c63" + 32] = "CREATE TABLE x(c0";
    size_t used = strlen(sql);
    struct table *table;
    int code;

    for (uint32_t i = 1; i < rows->columns; i++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, ",c%u", i);
    snprintf(sql + used, sizeof sql - used, ")");
    code = sqlite3_declare_vtab(handle, sql);
    if (code != SQLITE_OK)
        return code;
    table = calloc(1, sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    table->rows = rows;
    *made = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
    free(base);
    return SQLITE_OK;
}

static int choose_index(sqlite3_vtab * /*base*/, sqlite3_index_info * /*info*/)
{
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct cursor *cursor = calloc(1, sizeof *cursor);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    cursor->rows = ((struct table *)base)->rows;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    free(base);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int /*index*/, const char * /*name*/, int /*argc*/,
                  sqlite3_value ** /*argv*/)
{
    ((struct cursor *)base)->row = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->row >= cursor->rows->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct database_rows *rows = cursor->rows;

    if ((rows->nulls >> number & 1) == 0)
        sqlite3_result_int64(context,
                             rows->values[(size_t)cursor->row * rows->columns + (size_t)number]);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    /* it is there without being created */
    .xConnect = connect_table,
    .xBestIndex = choose_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

int database_rows_open(struct database_rows *rows, struct database *db, const char *table,
                       uint32_t columns)
{
    char sql[128];

    *rows = (struct database_rows){.db = db, .columns = columns};
    rows->values = malloc((size_t)DATABASE_ROWS_MAX * columns * sizeof rows->values[0]);
    if (rows->values == NULL)
        return -ENOMEM;
    if (sqlite3_create_module(db->handle, MODULE, &module, rows) != SQLITE_OK)
        return -ENOMEM;
    snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM " MODULE, table);
    rows->insert = database_prepare(db, sql);
    return 0;
}

void database_rows_close(struct database_rows *rows)
{
    sqlite3_finalize(rows->insert);
    free(rows->values);
    *rows = (struct database_rows){0};
}

void database_rows_flush(struct database_rows *rows)
{
    if (rows->count != 0)
        database_put(rows->db, rows->insert);
    rows->count = 0;
}

sqlite3_int64 *database_rows_add(struct database_rows *rows, uint64_t nulls)
{
    if (rows->count == DATABASE_ROWS_MAX || nulls != rows->nulls)
        database_rows_flush(rows);
    rows->nulls = nulls;
    return rows->values + (size_t)rows->count++ * rows->columns;
}
