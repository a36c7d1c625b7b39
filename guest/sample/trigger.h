/* What makes samples: the timer, counter overflow, another CPU, the program itself.
 *
 * A mode is one row of a table in trigger.c.  Its functions are called on the CPU that they
 * concern. The interrupt handlers of timer and overflow are called directly, not through this
 * table.
 */
#ifndef GUEST_SAMPLE_TRIGGER_H
#define GUEST_SAMPLE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "include/hr_format.h"
#include "lib/trace/trace_slot.h"

struct trigger {
    bool timer; /* the local APIC's timer makes samples, at the points of a grid */
    bool nmi; /* an NMI makes samples, which hold the first event's whole count */
    /* Context: interrupts off.  prepare is called before the counters start; resume begins
     * sampling, also after a pause, at workload clock `now`. */
    void (*prepare)(struct cpu *cpu);
    void (*stop)(void);
    void (*pause)(struct cpu *cpu);
    void (*resume)(struct cpu *cpu, uint64_t now);
    /* Context: thread.  read stores every event's current value.  poll takes a sample of the last
     * entry from ring 3 with these HR_SAMPLE_* flags.  open makes room for a slot in the ring and
     * returns it; close publishes it once it is filled. */
    void (*read)(struct cpu *cpu, uint64_t *values);
    void (*poll)(struct cpu *cpu, uint64_t ip, uint32_t flags);
    struct trace_slot *(*open)(struct cpu *cpu);
    void (*close)(struct cpu *cpu);
};

const struct trigger *trigger_of(enum hr_mode mode);

/* Rows of the table: overflow sampling (guest/sample/trigger_overflow.c), precise
 * sampling (guest/sample/trigger_pebs.c), and the modes whose
 * samples are asked for or that take none. */
extern const struct trigger trigger_overflow, trigger_pebs, trigger_asked;

/* open and close of the rows whose slots no NMI fills. */
struct trace_slot *trigger_open(struct cpu *cpu);
void trigger_close(struct cpu *cpu);

#endif
