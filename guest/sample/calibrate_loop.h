/* A loop in ring 3 that the calibration runs with and without sampling. */
#ifndef GUEST_SAMPLE_CALIBRATE_LOOP_H
#define GUEST_SAMPLE_CALIBRATE_LOOP_H

#include "guest/cpu/cpu.h"
#include "guest/sample/ring.h"
#include "guest/vm/vm.h"

#define CALIBRATE_ROUNDS 9 /* odd: the median is one of them */

/* Maps a page for the loop into an empty space.  On hardware, calibrate_rounds ends one second
 * after this call. */
void calibrate_begin(struct vm_space *space);

/* Writes the loop: `iterations` times two instructions. */
void calibrate_load(struct vm_space *space, uint32_t iterations);

/* Runs the loop once.  Returns the ticks from entering ring 3 to the system call that ends the
 * loop. */
uint64_t calibrate_run(struct cpu *cpu, bool sampled);

/* Returns the number of samples that the last loop left in the ring. */
uint32_t calibrate_samples(const struct ring *ring);

/* Sorts the values and returns the one to trust: the median in virtual time, the least on real
 * hardware, where a disturbance can only add to a round. */
uint64_t calibrate_settled(uint64_t *values, unsigned count);

/* Fills sampling.calibration from rounds with and without samples.  Returns the part of a sample's
 * cost that guest/sample/share.h sees, in ticks.  `stacks`: samples have call stacks; the loop's
 * are empty. */
uint64_t calibrate_rounds(struct cpu *cpu, bool stacks);

#endif
