/* The truth about the machine, for the trace: what it is, how it is set up, and what happened to
 * its CPUs while the program ran.  docs/format.md, keys machine.* and HR_REC_MACHINE_CPU.
 *
 * Everything here is off the workload clock.
 */
#ifndef GUEST_TRACE_MACHINE_H
#define GUEST_TRACE_MACHINE_H

#include "guest/cpu/cpu.h"
#include "include/hr_format.h"

/* Says everything that does not change, one key and value at a time.  Boot CPU, once the workload
 * CPUs have prepared themselves. */
typedef void machine_say(void *context, const char *key, const char *value);
void machine_describe(machine_say *say, void *context);

/* On a workload CPU, interrupts off: at boot (spins for a millisecond where that says something),
 * just before the program starts, and when this CPU has stopped counting. */
void machine_prepare(const struct cpu *cpu);
void machine_start(const struct cpu *cpu);
void machine_stop(const struct cpu *cpu);

/* What came of it; when the CPU has stopped. */
const struct hr_rec_machine_cpu *machine_record(const struct cpu *cpu);

#endif
