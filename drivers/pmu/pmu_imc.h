/* The memory controller's own counters of Intel's client processors: cache lines that it read and
 * wrote for anybody, cores, graphics and devices alike.  They run freely and are the machine's, not
 * a CPU's: the CPU that starts first tells them, on all others they are 0.  Nothing is touched in a
 * virtual machine, or with a host bridge that is not in the driver's list.
 *
 * probe: boot.  start: on the CPU concerned, by one at a time.  read: any context, NMI included.
 */
#ifndef DRIVERS_PMU_PMU_IMC_H
#define DRIVERS_PMU_PMU_IMC_H

#include <stdbool.h>
#include <stdint.h>

#define PMU_IMC_BITS 32u

/* Returns whether the machine has the counters; maps them. */
bool pmu_imc_probe(void);

void pmu_imc_start(void);

/* Returns lines of 64 bytes, PMU_IMC_BITS wide: written ones, or read ones.  After start. */
uint32_t pmu_imc_read(bool writes);

#endif
