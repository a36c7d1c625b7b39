/* Measures what a sample costs before the program starts. */
#ifndef GUEST_SAMPLE_CALIBRATE_H
#define GUEST_SAMPLE_CALIBRATE_H

#include "guest/cpu/cpu.h"

/* Samples an empty loop in ring 3 on this workload CPU: fills sampling.calibration and, in virtual
 * time, trims the timer so that samples fall exactly on the grid.  Leaves the ring empty.  Context:
 * before the program's address space is loaded. */
void calibrate(struct cpu *cpu);

#endif
