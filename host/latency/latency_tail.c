/* Adds up the waits of the longest calls. */
#include "host/latency/latency_tail.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"

void latency_tail_free(struct latency_tail *tail)
{
    free(tail->blames);
    *tail = (struct latency_tail){0};
}

struct latency_blame latency_tail_take_longest(struct latency_tail *tail)
{
    struct latency_blame longest = {0};

    for (uint32_t i = 0; i < tail->blame_count; i++)
        if (tail->blames[i].ticks > longest.ticks)
            longest = tail->blames[i];
    latency_tail_free(tail);
    return longest;
}

void latency_tail_begin(struct latency_tail *tail, struct latency_values *ticks)
{
    *tail = (struct latency_tail){.above = latency_values_at(ticks, 0.99)};
    if (tail->above >= ticks->largest && ticks->largest != 0) {
        tail->above = ticks->largest - 1;
        tail->longest = true;
    }
}

void latency_tail_call(struct latency_tail *tail, uint64_t ticks,
                       const uint64_t spent[LATENCY_SPENT])
{
    tail->calls++;
    latency_values_sum(&tail->ticks, ticks);
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        latency_values_sum(&tail->spent[i], spent[i]);
}

static bool is_same(const struct latency_wait *a, const struct latency_wait *b)
{
    return a->spent == b->spent && a->number == b->number && a->address == b->address &&
           a->joins == b->joins && a->holder.tid == b->holder.tid &&
           a->holder.function == b->holder.function;
}

int latency_tail_wait(struct latency_tail *tail, const struct latency_wait *wait, uint64_t ticks)
{
    struct latency_blame *blame;

    for (uint32_t i = 0; i < tail->blame_count; i++) {
        blame = &tail->blames[i];
        if (!is_same(&blame->wait, wait))
            continue;
        latency_values_sum(&blame->ticks, ticks);
        if (wait->ticks > blame->wait.ticks)
            blame->wait = *wait;
        return 0;
    }
    if (tail->blame_count == LATENCY_BLAMES_MAX)
        return 0;
    if (array_grow(&tail->blames, tail->blame_count, sizeof *blame) != 0)
        return -ENOMEM;
    tail->blames[tail->blame_count++] = (struct latency_blame){*wait, ticks};
    return 0;
}

void latency_functions_add(struct latency_functions *functions, uint32_t function, uint64_t ticks)
{
    uint32_t i = 0;

    while (i < functions->count && functions->all[i].function != function)
        i++;
    if (i == LATENCY_FUNCTIONS_MAX)
        return;
    if (i == functions->count)
        functions->all[functions->count++] = (struct latency_function){.function = function};
    latency_values_sum(&functions->all[i].ticks, ticks);
}
