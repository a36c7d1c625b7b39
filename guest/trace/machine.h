/* Describes the machine for the trace: what it is, how it is set up, and what happened to its CPUs
 * while the program ran.  docs/format.md has the keys machine.* and HR_REC_MACHINE_CPU.
 *
 * Everything here is off the workload clock.
 */
#pragma once

#include "guest/cpu/cpu.h"
#include "include/hr_format.h"

/* Calls `say` with each key and value that does not change.  Called on the boot CPU, once the
 * workload CPUs have called machine_prepare. */
typedef void machine_say(void *context, const char *key, const char *value);
void machine_describe(machine_say *say, void *context);

/* Called on a workload CPU with interrupts off: at boot (spins for a millisecond if that tells
 * anything), just before the program starts, and when this CPU has stopped counting. */
void machine_prepare(const struct cpu *cpu);
void machine_start(const struct cpu *cpu);
void machine_stop(const struct cpu *cpu);

/* Returns the CPU's record; only after machine_stop. */
const struct hr_rec_machine_cpu *machine_record(const struct cpu *cpu);
