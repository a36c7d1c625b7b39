/* Keeps blocks in a hash table by their start. */
#include "host/latency/latency_heap.h"

#include <stdlib.h>
#include <string.h>

#include "host/trace/trace_points.h"
#include "lib/array.h"
#include "lib/hash.h"

#define FIRST_BITS 10u
#define ALIGNMENT 16u /* of blocks */

static const struct allocator {
    const char *name; /* without "__libc_" before it */
    int8_t bytes, times; /* arguments whose product is the size; -1: none */
} allocators[] = {
    {"malloc", 0, -1},   {"calloc", 0, 1},    {"realloc", 1, -1}, {"aligned_alloc", 1, -1},
    {"memalign", 1, -1}, {"_Znwm", 0, -1},    {"_Znam", 0, -1},   {"free", -1, -1},
    {"_ZdlPv", -1, -1},  {"_ZdlPvm", -1, -1}, {"_ZdaPv", -1, -1},
};

static const struct allocator *allocator_of(const struct trace_points *points, uint32_t function)
{
    const char *name = points->meta.argument_count != 0 ? points->functions[function].name : NULL;

    if (name == NULL)
        return NULL;
    if (strncmp(name, "__libc_", 7) == 0)
        name += 7;
    for (size_t i = 0; i < ARRAY_COUNT(allocators); i++)
        if (strcmp(allocators[i].name, name) == 0)
            return &allocators[i];
    return NULL;
}

void latency_heap_free(struct latency_heap *heap)
{
    free(heap->all);
    *heap = (struct latency_heap){0};
}

static struct latency_block *place_of(const struct latency_heap *heap, uint64_t start)
{
    uint32_t at = hash_place(start, heap->bits);

    while (heap->all[at].start != 0 && heap->all[at].start != start)
        at = (at + 1) & ((1u << heap->bits) - 1);
    return &heap->all[at];
}

/* Makes the table larger, and forgets what was freed.  Returns false if there is no room. */
static bool make_room(struct latency_heap *heap)
{
    struct latency_heap old = *heap;
    uint32_t places = old.all != NULL ? 1u << old.bits : 0;

    if (old.full || (old.all != NULL && 4 * old.count < 3 * places))
        return !old.full;
    heap->bits = old.all == NULL                    ? FIRST_BITS
                 : old.bits < LATENCY_HEAP_BITS_MAX ? old.bits + 1
                                                    : old.bits;
    heap->all = calloc(1u << heap->bits, sizeof heap->all[0]);
    if (heap->all == NULL) {
        *heap = old;
        return false;
    }
    heap->count = 0;
    for (uint32_t i = 0; i < places; i++)
        if (old.all[i].bytes != 0) {
            *place_of(heap, old.all[i].start) = old.all[i];
            heap->count++;
        }
    free(old.all);
    heap->full = 2 * heap->count > 1u << heap->bits; /* that would be again and again */
    return !heap->full;
}

void latency_heap_entered(struct latency_heap *heap, const struct trace_points *points,
                          uint32_t function, const uint64_t *arguments)
{
    const struct allocator *allocator = allocator_of(points, function);

    if (allocator != NULL && heap->all != NULL && arguments[0] != 0 &&
        (allocator->bytes < 0 || strcmp(allocator->name, "realloc") == 0))
        place_of(heap, arguments[0])->bytes = 0;
}

void latency_heap_returned(struct latency_heap *heap, const struct trace_points *points,
                           uint32_t function, uint32_t caller, const uint64_t *arguments,
                           uint64_t result)
{
    const struct allocator *allocator = allocator_of(points, function);
    uint32_t known = points->meta.argument_count;
    struct latency_block block = {.start = result, .function = caller};

    if (allocator == NULL || result == 0 || allocator->bytes < 0 ||
        (uint32_t)allocator->bytes >= known || (allocator->times > 0 && known < 2) ||
        !make_room(heap))
        return;
    block.bytes = arguments[allocator->bytes];
    if (allocator->times > 0)
        block.bytes *= arguments[allocator->times];
    heap->count += place_of(heap, result)->start == 0;
    *place_of(heap, result) = block;
}

struct latency_block latency_heap_find(const struct latency_heap *heap, uint64_t address)
{
    uint64_t start = address / ALIGNMENT * ALIGNMENT;

    for (uint64_t offset = 0; heap->all != NULL && offset <= LATENCY_HEAP_OFFSET_MAX && start != 0;
         offset += ALIGNMENT, start -= ALIGNMENT) {
        const struct latency_block *block = place_of(heap, start);

        if (block->bytes != 0)
            return address - start < block->bytes ? *block : (struct latency_block){0};
    }
    return (struct latency_block){0};
}
