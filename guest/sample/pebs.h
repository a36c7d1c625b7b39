/* Precise sampling: the processor writes records (drivers/pmu/pmu_precise.h), which become samples
 * when the buffer is emptied.
 *
 * Each entry from ring 3 empties it before anything else (guest/syscall/entry_*.S, the entries
 * named _drained), and so does the interrupt of a buffer that is nearly full.  Only ring 3 makes
 * records. So they are all of the CPU's current thread, older than whatever this entry puts into
 * the ring, and of a time in which the workload clock had one distance to the TSC.
 *
 * Context of all functions: the CPU itself, interrupts off, unless they say otherwise.
 */
#ifndef GUEST_SAMPLE_PEBS_H
#define GUEST_SAMPLE_PEBS_H

#include "drivers/pmu/pmu_precise.h"
#include "guest/cpu/cpu.h"
#include "lib/trace/trace_accesses.h"
#include "lib/trace/trace_slot.h"

struct pebs { /* of one CPU */
    struct pmu_precise area;
    uint64_t records[64]; /* of each counter, in the buffer that is being emptied */
    uint64_t emptied; /* TSC of the last time: no record is older */
    uint64_t
        whole[HR_EVENTS_MAX]; /* what each event had counted when its last record was written */
    uint64_t armed[HR_EVENTS_MAX]; /* its count from there to the record that comes next */
    uint64_t next[HR_EVENTS_MAX]; /* and between those after that */
    uint64_t random; /* of the periods */
};

/* Boot: makes a CPU's state, and its ring's slots large enough; 0 or -ENOMEM.  Without mode pebs
 * does nothing. */
int pebs_add_cpu(struct cpu *cpu);

/* Boot: the memory that the CPU's trace needs for accesses. */
struct trace_accesses *pebs_accesses(const struct cpu *cpu);

/* Turns what is in the buffer into samples. */
void pebs_empty(struct cpu *cpu);

/* Makes a sample of a slot that holds a record.  `counters`: those of the CPU's last sample, which
 * rise.  Context: service. */
void pebs_complete(const struct pebs *pebs, struct trace_slot *slot, uint64_t *counters);

/* For assembly: pebs_empty for the calling CPU. */
void pebs_entered(void);

/* The interrupt of a full buffer; in ring 0 it comes too late for that. */
struct irq_frame;
void pebs_interrupt(struct irq_frame *frame);
void pebs_interrupt_in_kernel(struct irq_frame *frame);

/* Boot, on a workload CPU: writes all registers once.  0 or -EIO as pmu_driver.start. */
int pebs_try(void);

#endif
