/* The tables of precise accesses in `hr export sqlite`. */
#pragma once

#include "host/export/common/export.h"
#include "host/export/sqlite/database.h"
#include "host/memory/accesses/memory_names.h"
#include "host/memory/accesses/memory_table.h"

struct sqlite_accesses {
    struct export *e;
    struct database *db;
    struct memory_names names;
    struct memory_cursor cursor;
    struct memory_table objects; /* those that rows name, by key */
    sqlite3_stmt *insert; /* NULL: the trace has no accesses */
};

/* `heap` is told what the walk finds before the access that follows it; NULL: it is not.  0 or
 * -ENOMEM. */
int sqlite_accesses_open(struct sqlite_accesses *accesses, struct export *e, struct database *db,
                         const struct memory_heap *heap);
void sqlite_accesses_close(struct sqlite_accesses *accesses);

/* The access of sample `n` of a run; `function` is the sample's.  0 or -ENOMEM. */
int sqlite_accesses_take(struct sqlite_accesses *accesses, const struct trace_samples *samples,
                         uint32_t n, uint32_t function);

/* What the rows name.  0 or -ENOMEM. */
int sqlite_accesses_objects(struct sqlite_accesses *accesses);
