/* Divides the firmware's free memory. */
#include "boot/uefi/plan.h"

#include <string.h>

#include "include/kernel_layout.h"
#include "lib/boot/boot_conf.h"
#include "lib/round.h"

#define LOW_END (1ull << 32) /* the kernel starts with RAM below this */
#define MEMORY_BYTES_USUAL (1ull << 30)

static bool larger(const struct plan_free *a, const struct plan_free *b)
{
    return a->bytes > b->bytes;
}

static bool low_and_larger(const struct plan_free *a, const struct plan_free *b)
{
    bool a_low = a->base < LOW_END, b_low = b->base < LOW_END;

    return a_low == b_low ? larger(a, b) : a_low;
}

/* Insertion sort: a firmware has a few hundred ranges at most. */
static void sort(struct plan_free *free, size_t count,
                 bool (*before)(const struct plan_free *a, const struct plan_free *b))
{
    for (size_t i = 1; i < count; i++) {
        struct plan_free one = free[i];
        size_t at = i;

        for (; at > 0 && before(&one, &free[at - 1]); at--)
            free[at] = free[at - 1];
        free[at] = one;
    }
}

/* Returns the free memory in the allowed number of ranges; a range may be split in two. */
static uint64_t usable(struct plan_free *free, size_t *count)
{
    uint64_t sum = 0;
    size_t used = 0;

    sort(free, *count, larger);
    while (used < *count && used < BOOT_MEMORY_RANGES_MAX - 1 &&
           free[used].bytes >= PLAN_RANGE_BYTES_MIN)
        sum += free[used++].bytes;
    *count = used;
    return sum;
}

static uint64_t reserve(uint64_t free_bytes)
{
    uint64_t bytes = free_bytes / 16 / PAGE_BYTES * PAGE_BYTES;

    if (bytes < PLAN_RESERVE_MIN)
        return PLAN_RESERVE_MIN;
    return bytes < PLAN_RESERVE_MAX ? bytes : PLAN_RESERVE_MAX;
}

static uint64_t whole_pages(uint64_t bytes)
{
    if (bytes > BOOT_CONF_ALL - PAGE_BYTES) /* all, or more than is possible */
        return bytes == BOOT_CONF_ALL ? bytes : BOOT_CONF_ALL / PAGE_BYTES * PAGE_BYTES;
    return round_up(bytes, PAGE_BYTES);
}

static uint64_t usual(uint64_t most)
{
    return most < MEMORY_BYTES_USUAL ? most : MEMORY_BYTES_USUAL;
}

/* Sets the sizes of both kinds, out of `bytes`. */
static bool divide(struct plan *plan, uint64_t bytes, struct plan_wish wish)
{
    uint64_t memory = wish.memory_bytes, buffer = wish.buffer_bytes;

    if (memory == BOOT_CONF_USUAL)
        memory = usual(buffer < bytes ? bytes - buffer : bytes / 2 / PAGE_BYTES * PAGE_BYTES);
    else if (memory == BOOT_CONF_ALL && buffer == BOOT_CONF_ALL)
        memory = bytes / 2 / PAGE_BYTES * PAGE_BYTES;
    else if (memory == BOOT_CONF_ALL && buffer <= bytes)
        memory = bytes - buffer;
    if (memory > bytes)
        return false;
    if (buffer == BOOT_CONF_ALL)
        buffer = bytes - memory;
    plan->memory_bytes = memory;
    plan->buffer_bytes = buffer;
    return buffer <= bytes - memory && buffer >= BOOT_CONF_BUFFER_BYTES_MIN &&
           memory >= BOOT_CONF_MEMORY_BYTES_MIN;
}

/* Some controllers reach no memory above 4 GiB: firmware that writes to a stick needs some below.
 */
static void keep_low(struct plan_free *free, size_t count)
{
    struct plan_free *largest = NULL;

    for (size_t i = 0; i < count; i++)
        if (free[i].base < LOW_END && (largest == NULL || larger(&free[i], largest)))
            largest = &free[i];
    if (largest != NULL)
        largest->bytes -= largest->bytes / 2 < PLAN_RESERVE_MIN
                              ? largest->bytes / 2 / PAGE_BYTES * PAGE_BYTES
                              : PLAN_RESERVE_MIN;
}

/* Takes `bytes` from the free ranges from `free` on, each from its start. */
static void take(struct plan *plan, uint32_t kind, uint64_t bytes, struct plan_free *free)
{
    for (; bytes > 0; free++) {
        uint64_t here = free->bytes < bytes ? free->bytes : bytes;

        if (here == 0)
            continue;
        plan->ranges[plan->range_count++] = (struct boot_memory_range){
            .base = free->base,
            .bytes = here,
            .kind = kind,
        };
        free->base += here;
        free->bytes -= here;
        bytes -= here;
    }
}

bool plan_make(struct plan *plan, struct plan_free *free, size_t count, struct plan_wish wish)
{
    memset(plan, 0, sizeof *plan);
    plan->free_bytes = usable(free, &count);
    plan->reserve_bytes = reserve(plan->free_bytes);
    wish.memory_bytes = whole_pages(wish.memory_bytes);
    wish.buffer_bytes = whole_pages(wish.buffer_bytes);
    if (plan->free_bytes < plan->reserve_bytes ||
        !divide(plan, plan->free_bytes - plan->reserve_bytes, wish))
        return false;
    keep_low(free, count);
    sort(free, count, low_and_larger);
    take(plan, BOOT_MEMORY_RAM, plan->memory_bytes, free);
    sort(free, count, larger);
    take(plan, BOOT_MEMORY_BUFFER, plan->buffer_bytes, free);
    return true;
}
