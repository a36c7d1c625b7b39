/* What threads waited for and for whom, in words. */
#pragma once

#include "host/base/text.h"
#include "host/latency/latency_print.h"
#include "host/latency/latency_tail.h"
#include "host/symbols/wait_name.h"

#define LATENCY_READY_BYTES (TEXT_QUANTITY_BYTES + 24u)
#define LATENCY_HOLDER_BYTES 320u

/* Writes "; then 1.2 us for a CPU", or nothing. */
const char *latency_print_ready(const struct latency_print *p, const struct latency_wait *wait,
                                char room[LATENCY_READY_BYTES]);

/* Writes "for cache_lock", "for a CPU", "in read", "asleep"...: what follows "waiting" or "waited".
 */
const char *latency_print_wait(const struct latency_print *p, const struct latency_wait *wait,
                               char room[WAIT_NAME_BYTES]);

/* Writes ", held by thread 1004 in evict, for request 5", or "woken by" where what is waited for is
 * no lock that a thread holds.  Empty if it is not known.  Safe for a terminal. */
const char *latency_print_holder(const struct latency_print *p, const struct latency_wait *wait,
                                 char room[LATENCY_HOLDER_BYTES]);

/* Writes ', "name": ..., "holder": {...}': members of a wait. */
void latency_print_wait_json(struct output *out, const struct latency_print *p,
                             const struct latency_wait *wait);

/* What the longest do, as a note below a table and as a JSON object; `what`, safe for a terminal,
 * says whose calls, or whatever the noun is, they are; `own` is their function. */
void latency_print_tail(FILE *out, const struct latency_print *p, const struct latency_tail *tail,
                        uint32_t own, const char *what, const char *noun);
void latency_print_tail_json(struct output *out, const struct latency_print *p,
                             const struct latency_tail *tail);
