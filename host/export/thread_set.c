/* Remembers thread numbers. */
#include "host/export/thread_set.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS (THREAD_SET_MAX * 2ul)

int thread_set_init(struct thread_set *set)
{
    *set = (struct thread_set){.slots = calloc(SLOTS, sizeof set->slots[0])};
    return set->slots != NULL ? 0 : -ENOMEM;
}

void thread_set_free(struct thread_set *set)
{
    free(set->slots);
    *set = (struct thread_set){0};
}

bool thread_set_add(struct thread_set *set, uint32_t tid)
{
    /* The high half of the product: its low bits depend on the low bits of tid alone. */
    uint32_t i = (uint32_t)((tid * 0x9e3779b97f4a7c15ul >> 32) % SLOTS);

    for (; set->slots[i] != 0; i = (i + 1) % SLOTS)
        if (set->slots[i] == tid)
            return false;
    if (tid == 0 || set->count == THREAD_SET_MAX)
        return false;
    set->slots[i] = tid;
    set->count++;
    return true;
}
