/* Inserts a row for each object when it ends. */
#include "host/export/sqlite/sqlite_allocations.h"

#include <errno.h>
#include <stdlib.h>

/* The parameters of a row's columns. */
enum { TIME = 1, FREED, TID, PID, SIZE, ADDRESS, ALLOCATOR, FUNCTION, SITE, STACK };

/* Returns the place of a site, which is looked up once; NULL without memory. */
static const struct memory_where *where_of(struct sqlite_allocations *a, uint32_t site)
{
    if (site >= a->site_count) {
        uint32_t count = site + 1 + site / 2;
        struct memory_where *grown = realloc(a->of_site, count * sizeof *grown);

        if (grown == NULL)
            return NULL;
        for (uint32_t i = a->site_count; i < count; i++)
            grown[i] = (struct memory_where){.address = UINT64_MAX}; /* not looked up yet */
        a->of_site = grown;
        a->site_count = count;
    }
    if (a->of_site[site].address == UINT64_MAX)
        memory_where_find(&a->of_site[site], a->e->symbols, &a->e->scan.stacks,
                          memory_sites_at(&a->heap.sites, site));
    return &a->of_site[site];
}

static int put(struct sqlite_allocations *a, uint32_t pid, const struct memory_object *object)
{
    const struct trace_info *info = &a->e->info;
    const struct memory_where *where = where_of(a, object->site);
    const struct memory_site *site = memory_sites_at(&a->heap.sites, object->site);
    bool known = object->site != MEMORY_SITES_NONE;
    char text[MEMORY_WHERE_BYTES], room[24];

    if (where == NULL)
        return -ENOMEM;
    memory_where_text(where, text);
    database_bind(a->insert, TIME, trace_info_time_ns(info, object->time));
    database_bind(a->insert, TID, object->tid);
    database_bind(a->insert, PID, pid);
    database_bind(a->insert, SIZE, object->bytes);
    database_bind(a->insert, ADDRESS, object->address);
    database_bind_text(a->insert, ALLOCATOR,
                       known ? trace_points_name(&info->points, site->function, room) : NULL);
    database_bind_text(a->insert, SITE, text);
    database_bind_text(a->insert, FUNCTION, NULL);
    database_bind_text(a->insert, STACK, NULL);
    if (site->caller != 0)
        database_bind(a->insert, FUNCTION, functions_at(&a->e->functions, site->caller - 1));
    if (known && info->has_stacks)
        database_bind(a->insert, STACK, site->stack);
    database_put(a->db, a->insert);
    a->rows++;
    return a->db->error;
}

static int freed(void *context, uint32_t pid, const struct memory_object *object, uint64_t time)
{
    struct sqlite_allocations *a = context;

    database_bind(a->insert, FREED, trace_info_time_ns(&a->e->info, time));
    return put(a, pid, object);
}

static void left(void *context, uint32_t pid, const struct memory_object *object)
{
    struct sqlite_allocations *a = context;

    database_bind_text(a->insert, FREED, NULL);
    (void)put(a, pid, object);
}

void sqlite_allocations_init(struct sqlite_allocations *a, struct export *e, struct database *db)
{
    *a = (struct sqlite_allocations){.e = e, .db = db};
    memory_heap_init(&a->heap, &e->scan);
    a->heap.sink = (struct memory_heap_sink){.context = a, .freed = freed, .left = left};
    a->heap.gathers = e->info.sampling.cpu_count > 1;
    a->insert = database_prepare(db, "INSERT INTO allocations VALUES (?,?,?,?,?,?,?,?,?,?)");
}

void sqlite_allocations_free(struct sqlite_allocations *a)
{
    memory_heap_free(&a->heap);
    free(a->of_site);
}

int sqlite_allocations_finish(struct sqlite_allocations *a)
{
    int error = memory_heap_finish(&a->heap);

    sqlite3_finalize(a->insert);
    a->e->followed += a->rows;
    return a->db->error != 0 ? 0 : error;
}
