/* Measures what a sample costs before the program starts. */
#ifndef GUEST_SAMPLE_CALIBRATE_H
#define GUEST_SAMPLE_CALIBRATE_H

#include "guest/cpu/cpu.h"

/* Takes null samples of a loop in ring 3 on this workload CPU: fills sampling.calibration and, in
 * virtual time, trims the timer so that samples fall exactly on the grid.  Before the program's
 * address space is loaded; the ring is empty again afterwards.
 */
void calibrate(struct cpu *cpu);

#endif
