/* Which general counters of a CPU model may count an event, and what is known to be wrong with it.
 */
#ifndef HOST_EVENTS_EVENTS_CONSTRAINTS_H
#define HOST_EVENTS_EVENTS_CONSTRAINTS_H

#include <stdint.h>

#include "host/events/events_cpu.h"

/* A bit each; 0: all of them, as far as is known. */
uint32_t events_constraints_counters(const struct events_cpu *cpu, uint64_t select);

/* The same off-core response event with the other of its two companion registers, so that two
 * events with different values can be counted at once; 0 when the CPU has no other. */
uint64_t events_constraints_alternative(const struct events_cpu *cpu, uint64_t select);

/* "erratum BJ122: ..." when one makes the event's counts doubtful; NULL otherwise. */
const char *events_constraints_erratum(const struct events_cpu *cpu, uint64_t select);

#endif
