/* Small objects of one size, many to a page.  By the kernel lock's holder. */
#ifndef GUEST_POOL_H
#define GUEST_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool {
    uint32_t bytes; /* of an object; at most a page */
    void *unused; /* a chain of objects; pages never leave the pool */
};

/* A zeroed object, NULL: out of memory. */
void *pool_take(struct pool *pool);
void pool_give(struct pool *pool, void *object);

#endif
