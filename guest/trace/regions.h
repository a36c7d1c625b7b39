/* Regions of code that the program measures (hr_region_begin): where it adds up, and the records
 * that come of it.  The sums lie in the program's memory, which is hostile.
 */
#ifndef GUEST_TRACE_REGIONS_H
#define GUEST_TRACE_REGIONS_H

#include "guest/cpu/cpu.h"
#include "include/hr_abi.h"
#include "lib/trace_writer.h"

#define REGIONS_PLACES_MAX 4096u /* a place is one region in one thread */

/* The program's current thread adds a region up at a place of its own.  0, -EINVAL, -EFAULT,
 * -ENOSPC: too many, reported once.  Thread context, one CPU at a time. */
int regions_register(struct cpu *cpu, const struct hr_abi_region *region);

/* Any region at all? */
bool regions_any(void);

/* Adds the HR_REC_REGION records to an open chunk.  Where they do not fit, records lose their
 * histograms, and then are left out; either is reported.  The program has stopped. */
void regions_write(struct trace_writer *w);

#endif
