/* What a thread waits for in a system call. */
#pragma once

#include "host/latency/latency_threads.h"

enum latency_spent latency_waits_kind(uint32_t number);

/* "on CPU", "locks" ...: for people; and "on_cpu", "locks" ...: names in csv and JSON. */
extern const char *const latency_waits_words[LATENCY_SPENT];
extern const char *const latency_waits_names[LATENCY_SPENT];

/* Whether a wait is for a futex, and whether that is a lock which another thread holds: it is not
 * with a condition variable or a semaphore, as far as the operation tells. */
bool latency_waits_is_futex(const struct latency_wait *wait);
bool latency_waits_is_held(const struct latency_wait *wait);
