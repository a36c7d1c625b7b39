/* The table of objects that a program allocated. */
#pragma once

#include "host/export/common/export.h"
#include "host/export/sqlite/database.h"
#include "host/heap/memory_heap.h"
#include "host/memory/allocations/memory_where.h"

struct sqlite_allocations {
    struct export *e;
    struct database *db;
    struct memory_heap heap; /* takes what the walk sees */
    sqlite3_stmt *insert;
    struct memory_where *of_site; /* by its number; owned */
    uint32_t site_count;
    uint64_t rows;
};

void sqlite_allocations_init(struct sqlite_allocations *a, struct export *e, struct database *db);
void sqlite_allocations_free(struct sqlite_allocations *a);

/* After the walk: what is live has no end.  0 or -errno. */
int sqlite_allocations_finish(struct sqlite_allocations *a);
