/* The requests that a program serves: which are open, and what threads and queues did for them.
 *
 * A request is known by its number and the process that began it; a thread of another process that
 * has none of that number means the one that began last. */
#pragma once

#include "host/follow/follow_threads.h"

#define FOLLOW_SERVED_MAX (1u << 20) /* open requests */

struct follow_open { /* a request that has not ended; serial 0: a free place */
    struct follow_request request;
    uint64_t blocked_since;
    uint32_t first; /* tid of a thread that works for it; 0: none */
    uint32_t pid;
    bool blocked;
};

struct follow_served { /* all zero but the first three */
    const struct follow_visitor *visitor;
    const struct trace_info *info;
    struct follow_threads *threads;
    struct follow_open *open; /* hash table by the program's number; owned */
    uint32_t count, bits;
    uint64_t serials; /* given so far */
    uint64_t refused;
    int result; /* of the visitor's functions, or -ENOMEM */
};

void follow_served_free(struct follow_served *s);

/* Takes a record. */
void follow_served_take(struct follow_served *s, const struct hr_rec_request *record);

/* A thread works for nothing from now on. */
void follow_served_leave(struct follow_served *s, struct follow_thread *thread, uint64_t time);

/* After the last one: what is open has no end. */
void follow_served_finish(struct follow_served *s, uint64_t time);
