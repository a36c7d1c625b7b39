/* Which functions touched pages first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/memory/pages/memory.h"

static int by_ip(const void *a, const void *b)
{
    const struct memory_fault *x = a, *y = b;

    return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static int by_address(const void *a, const void *b)
{
    const struct memory_fault *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Appends the function at an address. */
static int add_toucher(struct memory *memory, const struct symbols_place *place, uint64_t ip)
{
    struct memory_toucher *t;

    if (array_grow(&memory->touchers, memory->toucher_count, sizeof *t) != 0)
        return -ENOMEM;
    t = &memory->touchers[memory->toucher_count++];
    *t = (struct memory_toucher){.first_ns = UINT64_MAX};
    if (place->name != NULL)
        snprintf(t->name, sizeof t->name, "%s", place->name);
    else
        snprintf(t->name, sizeof t->name, "0x%lx", trace_spaces_shown(ip));
    if (place->object != NULL)
        snprintf(t->object, sizeof t->object, "%s", place->object);
    return 0;
}

static void count(struct memory_toucher *t, const struct memory_fault *fault)
{
    t->faults++;
    t->bytes += fault->bytes;
    t->written += fault->written ? fault->bytes : 0;
    t->first_ns = fault->ns < t->first_ns ? fault->ns : t->first_ns;
    t->last_ns = fault->ns > t->last_ns ? fault->ns : t->last_ns;
}

/* Gives each fault its function; faults come in the order of instructions. */
static int name_all(struct memory *memory, struct symbols *symbols)
{
    struct symbols_place place = {0};
    uint64_t end = 0; /* of the last function */

    for (size_t i = 0; i < memory->fault_count; i++) {
        struct memory_fault *fault = &memory->faults[i];

        if (i == 0 || fault->ip >= end) {
            symbols_find(symbols, fault->ip, &place);
            end = place.end > fault->ip ? place.end : fault->ip + 1;
            if (add_toucher(memory, &place, fault->ip) != 0)
                return -ENOMEM;
        }
        fault->toucher = (uint32_t)(memory->toucher_count - 1);
        count(&memory->touchers[fault->toucher], fault);
    }
    return 0;
}

struct pair { /* what a function touched first of a range */
    uint64_t bytes;
    uint32_t toucher;
    uint32_t range;
};

static int by_toucher(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->toucher != y->toucher)
        return x->toucher < y->toucher ? -1 : 1;
    return x->range < y->range ? -1 : x->range > y->range;
}

/* Adds up the bytes of equal pairs, which are neighbours.  Returns how many are left. */
static size_t add_up(struct pair *pairs, size_t pair_count)
{
    size_t kept = 0;

    for (size_t i = 0; i < pair_count; i++) {
        if (kept != 0 && by_toucher(&pairs[kept - 1], &pairs[i]) == 0)
            pairs[kept - 1].bytes += pairs[i].bytes;
        else
            pairs[kept++] = pairs[i];
    }
    return kept;
}

/* Faults and ranges come in the order of processes and addresses. */
static size_t make_pairs(const struct memory *memory, struct pair *pairs)
{
    size_t pair_count = 0, r = 0;

    for (size_t i = 0; i < memory->fault_count; i++) {
        const struct memory_fault *fault = &memory->faults[i];
        const struct memory_range *range;

        while (r < memory->range_count &&
               (memory->ranges[r].pid < fault->pid ||
                (memory->ranges[r].pid == fault->pid && memory->ranges[r].end <= fault->address)))
            r++;
        range = r < memory->range_count ? &memory->ranges[r] : NULL;
        if (range != NULL && range->pid == fault->pid && range->start <= fault->address)
            pairs[pair_count++] = (struct pair){
                .bytes = fault->bytes, .toucher = fault->toucher, .range = (uint32_t)r};
    }
    qsort(pairs, pair_count, sizeof *pairs, by_toucher);
    return add_up(pairs, pair_count);
}

/* Finds the function that touched most of each range, and the range that each function touched most
 * of. */
static int join(struct memory *memory)
{
    struct pair *pairs = malloc((memory->fault_count + 1) * sizeof *pairs);
    uint64_t *most = calloc(memory->range_count + memory->toucher_count + 1, sizeof *most);
    uint64_t *most_of = most != NULL ? most + memory->range_count : NULL; /* by function */
    size_t pair_count = pairs != NULL && most != NULL ? make_pairs(memory, pairs) : 0;

    for (size_t i = 0; i < pair_count; i++) {
        const struct pair *p = &pairs[i];

        if (p->bytes > most[p->range]) {
            most[p->range] = p->bytes;
            memory->ranges[p->range].toucher = p->toucher;
        }
        if (p->bytes > most_of[p->toucher]) {
            most_of[p->toucher] = p->bytes;
            memory->touchers[p->toucher].range = &memory->ranges[p->range];
        }
    }
    free(pairs);
    free(most);
    return pairs != NULL && most != NULL ? 0 : -ENOMEM;
}

int memory_touchers_make(struct memory *memory, struct symbols *symbols)
{
    int error;

    for (size_t i = 0; i < memory->range_count; i++)
        memory->ranges[i].toucher = MEMORY_NO_TOUCHER;
    if (memory->fault_count == 0)
        return 0;
    qsort(memory->faults, memory->fault_count, sizeof memory->faults[0], by_ip);
    error = name_all(memory, symbols);
    qsort(memory->faults, memory->fault_count, sizeof memory->faults[0], by_address);
    return error != 0 ? error : join(memory);
}
