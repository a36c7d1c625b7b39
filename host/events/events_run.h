/* The events of one run, encoded together for one CPU. */
#pragma once

#include "host/events/events.h"

/* Encodes every wanted event, and gives off-core events with different values different registers
 * where the CPU has two.  Returns 0, or -1 with the failure filled. */
int events_run_encode(const struct events_cpu *cpu, const struct events_wanted *wanted,
                      struct events_encoding encodings[HR_EVENTS_MAX], struct run_failure *failure);

/* Gives encoded events of one run their registers and general counters: off-core events with
 * different values different registers where the CPU has two. */
void events_run_settle(const struct events_cpu *cpu, struct events_encoding *encodings,
                       size_t count);

/* Names on stderr the events that an erratum of the CPU makes doubtful. */
void events_run_warn(const struct events_cpu *cpu, const struct events_wanted *wanted,
                     const struct events_encoding encodings[HR_EVENTS_MAX]);
