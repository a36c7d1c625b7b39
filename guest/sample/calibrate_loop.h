/* A loop in ring 3 that the calibration runs with and without sampling. */
#ifndef GUEST_SAMPLE_CALIBRATE_LOOP_H
#define GUEST_SAMPLE_CALIBRATE_LOOP_H

#include "guest/cpu/cpu.h"
#include "guest/sample/ring.h"
#include "guest/vm/vm.h"

#define CALIBRATE_ROUNDS 9 /* odd: the median is one of them */

/* Maps a page for the loop into an empty space.  On hardware the rounds end a second from now. */
void calibrate_begin(struct vm_space *space);

/* A loop of so many times two instructions from now on. */
void calibrate_load(struct vm_space *space, uint32_t iterations);

/* Runs the loop once; the ticks from entering ring 3 to the system call that ends it. */
uint64_t calibrate_run(struct cpu *cpu, bool sampled);

/* The samples of the last loop. */
uint32_t calibrate_samples(const struct ring *ring);

/* Sorts the values.  What disturbs a round only adds to it.  So on real hardware, whose rounds
 * differ, the cheapest one is the truth, in virtual time the median. */
uint64_t calibrate_settled(uint64_t *values, unsigned count);

/* Fills sampling.calibration from rounds without samples and with them; what guest/sample/share.h
 * sees of a sample, in ticks.  stacks: samples have call stacks; those of the loop are empty. */
uint64_t calibrate_rounds(struct cpu *cpu, bool stacks);

#endif
