/* Keeps threads by their tid. */
#include "host/latency/latency_table.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BITS 8u

int latency_threads_init(struct latency_threads *t, const struct trace_info *info)
{
    struct latency_follower follower = t->follower;

    *t = (struct latency_threads){.info = info, .follower = follower, .bits = FIRST_BITS};
    t->all = calloc(1u << t->bits, sizeof(void *));
    t->event_count = latency_order_events(info);
    return t->all != NULL ? 0 : -ENOMEM;
}

static uint32_t place_of(uint32_t bits, uint32_t tid)
{
    return tid * 2654435769u >> (32 - bits);
}

static struct latency_thread **find(struct latency_threads *t, uint32_t tid)
{
    uint32_t at = place_of(t->bits, tid);

    while (t->all[at] != NULL && t->all[at]->tid != tid)
        at = (at + 1) & ((1u << t->bits) - 1);
    return &t->all[at];
}

struct latency_thread *latency_threads_find(struct latency_threads *t, uint32_t tid)
{
    return tid != 0 ? *find(t, tid) : NULL;
}

static void free_thread(struct latency_threads *t, struct latency_thread *thread)
{
    t->deep += thread->open.deep;
    t->strays += thread->open.strays;
    free(thread->notes);
    free(thread);
    t->count--;
}

void latency_table_forget(struct latency_threads *t, bool all)
{
    struct latency_thread **old = t->all;
    uint32_t places = old != NULL ? 1u << t->bits : 0;

    t->last = NULL;
    t->all = calloc(places + 1u, sizeof(void *));
    if (t->all == NULL) { /* they stay */
        t->all = old;
        return;
    }
    for (uint32_t i = 0; i < places; i++)
        if (old[i] != NULL && (all || old[i]->ended))
            free_thread(t, old[i]);
        else if (old[i] != NULL)
            *find(t, old[i]->tid) = old[i];
    free(old);
}

void latency_threads_free(struct latency_threads *t)
{
    latency_table_forget(t, true);
    latency_heap_free(&t->heap);
    free(t->all);
    *t = (struct latency_threads){0};
}

static int grow(struct latency_threads *t)
{
    uint32_t bits = t->bits + 1;
    struct latency_thread **all = calloc(1u << bits, sizeof(void *));

    if (all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < 1u << t->bits; i++)
        if (t->all[i] != NULL) {
            uint32_t at = place_of(bits, t->all[i]->tid);

            while (all[at] != NULL)
                at = (at + 1) & ((1u << bits) - 1);
            all[at] = t->all[i];
        }
    free(t->all);
    t->all = all;
    t->bits = bits;
    return 0;
}

struct latency_thread *latency_table_get(struct latency_threads *t, uint32_t tid)
{
    struct latency_thread *thread, **place;

    if (t->last != NULL && t->last->tid == tid)
        return t->last;
    place = find(t, tid);
    if (*place != NULL)
        return t->last = *place;
    if (t->count == LATENCY_THREADS_MAX)
        latency_table_forget(t, false);
    if (t->count == LATENCY_THREADS_MAX || (2 * t->count >= 1u << t->bits && grow(t) != 0))
        return NULL;
    thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    invocations_init(&thread->open);
    *find(t, tid) = thread;
    t->count++;
    return t->last = thread;
}
