/* The threads of latency_threads: a hash table by tid. */
#pragma once

#include "host/latency/latency_threads.h"

/* Returns a thread, new if it must be; NULL: there is no room. */
struct latency_thread *latency_table_get(struct latency_threads *t, uint32_t tid);

/* Forgets threads: those that have ended, or all. */
void latency_table_forget(struct latency_threads *t, bool all);
