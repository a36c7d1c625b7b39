/* Pools of small objects. */
#include "guest/pool.h"

#include <string.h>

#include "guest/phys.h"

struct unused {
    struct unused *next;
};

static void fill(struct pool *pool)
{
    uint64_t page = phys_alloc(0);
    uint8_t *bytes = phys_pointer(page);

    if (!page)
        return;
    for (uint32_t at = 0; at + pool->bytes <= PAGE_BYTES; at += pool->bytes)
        pool_give(pool, bytes + at);
}

void *pool_take(struct pool *pool)
{
    struct unused *object;

    if (!pool->unused)
        fill(pool);
    object = pool->unused;
    if (!object)
        return NULL;
    pool->unused = object->next;
    memset(object, 0, pool->bytes);
    return object;
}

void pool_give(struct pool *pool, void *object)
{
    struct unused *unused = object;

    unused->next = pool->unused;
    pool->unused = unused;
}
