/* Blocks of memory that a program allocated, to say whose a lock is that lies in one: where malloc
 * and its kin are probed with their arguments (hr run --probe malloc --probe free --probe-args 2).
 *
 * Bounded: of blocks beyond the bound nothing is known.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/trace_probes.h"

struct trace_points;

#define LATENCY_HEAP_BITS_MAX 20u /* places of the table, of which three quarters are used */
#define LATENCY_HEAP_OFFSET_MAX 4096u /* of a lock in its block */

struct latency_block {
    uint64_t start;
    uint64_t bytes; /* 0: it was freed, or there is none */
    uint32_t function; /* probed one that allocated it; TRACE_POINTS_NONE: none is known */
};

struct latency_heap { /* all zero at first */
    struct latency_block *all; /* hash table; owned */
    uint32_t count, bits;
    bool full; /* no more are added */
};

void latency_heap_free(struct latency_heap *heap);

/* A function is entered; it returns, with the arguments of its entry; `caller` is the probed
 * function around it. */
void latency_heap_entered(struct latency_heap *heap, const struct trace_points *points,
                          uint32_t function, const uint64_t *arguments);
void latency_heap_returned(struct latency_heap *heap, const struct trace_points *points,
                           uint32_t function, uint32_t caller, const uint64_t *arguments,
                           uint64_t result);

/* Returns the block that holds an address; 0 bytes: none is known. */
struct latency_block latency_heap_find(const struct latency_heap *heap, uint64_t address);
