/* Which threads were seen: a set of their numbers, bounded whatever a trace holds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define THREAD_SET_MAX 65536u

struct thread_set {
    uint32_t *slots; /* hash table of numbers, 0: free; owned */
    uint32_t count;
};

/* 0 or -ENOMEM. */
int thread_set_init(struct thread_set *set);
void thread_set_free(struct thread_set *set);

/* True when the thread, whose number is not 0, is new and found room. */
bool thread_set_add(struct thread_set *set, uint32_t tid);
