/* What a thread waits for.  What tells a lock from other uses of futex is in docs/latency.md, "What
 * threads wait for". */
#pragma once

#include "host/latency/latency_threads.h"

/* Of a system call of which nothing else is known. */
enum latency_spent latency_waits_kind(uint32_t number);

/* Of a wait of which the trace tells; `function` is the innermost probed one that the thread is in,
 * or TRACE_POINTS_NONE. */
enum latency_spent latency_waits_told(const struct hr_rec_wait *wait,
                                      const struct trace_points *points, uint32_t function);

/* "on CPU", "locks" ...: for people; and "on_cpu", "locks" ...: names in csv and JSON. */
extern const char *const latency_waits_words[LATENCY_SPENT];
extern const char *const latency_waits_names[LATENCY_SPENT];

/* "for locks", "asleep" ...: after "waiting"; NULL: on CPU. */
extern const char *const latency_waits_after[LATENCY_SPENT];

/* Whether a wait is for a futex, and whether that is a lock, which another thread holds. */
bool latency_waits_is_futex(const struct latency_wait *wait);
bool latency_waits_is_held(const struct latency_wait *wait);
