/* Inserts accesses and the objects that they are to. */
#include "host/export/sqlite/sqlite_accesses.h"

#include <errno.h>
#include <stdlib.h>

#include "host/scan/access_source.h"

#define OBJECTS_BITS 18u

/* The parameters of an access's columns. */
enum { TIME = 1, CPU, TID, PID, IP, FUNCTION, ADDRESS, OBJECT, SOURCE, LATENCY, EVENTS, IS_WRITE };

int sqlite_accesses_open(struct sqlite_accesses *accesses, struct export *e, struct database *db,
                         const struct memory_heap *heap)
{
    int error;

    *accesses = (struct sqlite_accesses){.e = e, .db = db};
    if (!e->info.has_accesses)
        return 0;
    memory_table_init(&accesses->objects, OBJECTS_BITS);
    error = memory_names_open(&accesses->names, &e->info, e->symbols);
    if (error == 0 && heap != NULL)
        memory_names_heap(&accesses->names, heap, &e->scan.stacks);
    memory_names_begin(&accesses->names, &accesses->cursor);
    accesses->insert =
        database_prepare(db, "INSERT INTO accesses VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    return error;
}

void sqlite_accesses_close(struct sqlite_accesses *accesses)
{
    sqlite3_finalize(accesses->insert);
    memory_table_free(&accesses->objects);
    memory_names_close(&accesses->names);
}

int sqlite_accesses_take(struct sqlite_accesses *accesses, const struct trace_samples *samples,
                         uint32_t n, uint32_t function)
{
    const struct trace_info *info = &accesses->e->info;
    const struct trace_slot *slot = &samples->slots[n];
    const struct hr_access *access = &samples->accesses[n];
    char source[ACCESS_SOURCE_BYTES];
    struct memory_thing thing;

    if (access->address == 0 || accesses->insert == NULL)
        return 0;
    if (memory_table_reserve(&accesses->objects, 1) != 0)
        return -ENOMEM;
    memory_names_at(&accesses->cursor, slot->tid, slot->time);
    thing = memory_names_find(&accesses->cursor, access->address, slot->time);
    memory_table_at(&accesses->objects, thing.key, 0)->reads++;
    database_bind(accesses->insert, TIME, trace_info_time_ns(info, slot->time));
    database_bind(accesses->insert, CPU, samples->chunk->cpu);
    database_bind(accesses->insert, TID, slot->tid);
    database_bind(accesses->insert, PID, accesses->cursor.pid);
    database_bind(accesses->insert, IP, trace_samples_ip(samples, n));
    database_bind(accesses->insert, FUNCTION, function);
    database_bind(accesses->insert, ADDRESS, access->address);
    database_bind(accesses->insert, OBJECT, thing.key);
    database_bind_text(accesses->insert, SOURCE, access_source_text(info, access, source));
    if (access->latency != 0)
        database_bind(accesses->insert, LATENCY, access->latency);
    else
        database_bind_text(accesses->insert, LATENCY, NULL);
    database_bind(accesses->insert, EVENTS, access->events);
    database_bind(accesses->insert, IS_WRITE, access_source(info, access).store);
    database_put(accesses->db, accesses->insert);
    return 0;
}

int sqlite_accesses_objects(struct sqlite_accesses *accesses)
{
    static const char *const kinds[] = {
        [MEMORY_NOWHERE] = "unknown", [MEMORY_VARIABLE] = "variable", [MEMORY_IN_FILE] = "file",
        [MEMORY_SITE] = "heap",       [MEMORY_STACK] = "stack",       [MEMORY_BREAK] = "break",
        [MEMORY_OTHER] = "mapping",   [MEMORY_KERNEL] = "kernel",
    };
    char text[MEMORY_NAME_BYTES];
    struct memory_entry *entries;
    sqlite3_stmt *insert;
    size_t count;

    if (accesses->insert == NULL)
        return 0;
    entries = memory_table_sorted(&accesses->objects, &count);
    if (entries == NULL)
        return -ENOMEM;
    insert = database_prepare(accesses->db, "INSERT INTO objects VALUES (?,?,?)");
    for (size_t i = 0; i < count; i++)
        database_row(accesses->db, insert, "%lu,%s,%s", entries[i].first,
                     memory_names_text(&accesses->names, entries[i].first, text),
                     kinds[memory_names_kind(entries[i].first) % 8]);
    sqlite3_finalize(insert);
    free(entries);
    return 0;
}
