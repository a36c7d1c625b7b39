/* The cache monitor (Intel RDT, AMD PQOS): what a CPU has in the last-level cache, and what goes
 * between that and memory.
 *
 * Each CPU that starts gets a monitoring id (RMID) of its own and keeps it.  The hardware counts by
 * id in the domain of a last-level cache, in all rings; its counters have few bits and a unit that
 * is no power of two, so what is told here are 64-bit sums of bytes.  Nothing is touched where
 * CPUID does not offer the monitor.
 *
 * probe: boot.  start: on the CPU concerned, by one at a time.  read: any context, NMI included;
 * one reading may interrupt another.
 */
#pragma once

#include <stdint.h>

#define PMU_RDT_MSR 0xc8fu /* IA32_PQR_ASSOC, which start writes */
#define PMU_RDT_EVENTS 3u /* 1 occupancy, 2 all memory, 3 local memory: IA32_QM_EVTSEL */
#define PMU_RDT_IDS 127u /* that can be handed out; a mask, too */

/* Returns which events the machine has, bit n for event n. */
uint32_t pmu_rdt_probe(void);

/* Gives the CPU an id.  After probe.  Returns 0, or -ENOSPC if there are more CPUs than ids, or
 * -EIO if the register faults. */
int pmu_rdt_start(void);

/* Returns the event's sum on this CPU; right while the counter passes less than half its range from
 * one reading to the next (24 bits of 64 KiB: 512 GiB).  Of occupancy each reading adds what there
 * is at the time. Where the monitor has no data, the sum is as it was.  After start. */
uint64_t pmu_rdt_read(uint8_t event);
