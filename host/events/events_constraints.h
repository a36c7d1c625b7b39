/* The general counters of a CPU model that can count an event, and its known errata. */
#pragma once

#include <stdint.h>

#include "host/events/events_cpu.h"

/* Returns a bit for each counter; 0 means all of them, as far as is known. */
uint32_t events_constraints_counters(const struct events_cpu *cpu, uint64_t select);

/* Returns the select value that encodes an off-core response event with the other of its two
 * companion registers, so that two such events can be counted at once; 0 if the CPU has no other.
 */
uint64_t events_constraints_alternative(const struct events_cpu *cpu, uint64_t select);

/* Returns "erratum BJ122: ..." if an erratum makes the event's counts doubtful, else NULL. */
const char *events_constraints_erratum(const struct events_cpu *cpu, uint64_t select);
