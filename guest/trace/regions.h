/* Regions of code that the program measures (hr_region_begin): where it keeps its sums, and the
 * records made of them.  The sums are in the program's memory, which is hostile. */
#pragma once

#include "guest/cpu/cpu.h"
#include "include/hr_abi.h"
#include "lib/trace/trace_writer.h"

#define REGIONS_PLACES_MAX 4096u /* a place is one region in one thread */

/* Registers the place where the program's current thread adds up a region.  Returns 0, -EINVAL,
 * -EFAULT, or -ENOSPC if there are too many, which is reported once.  Context: thread, one CPU at a
 * time. */
int regions_register(struct cpu *cpu, const struct hr_abi_region *region);

/* A process gives up this memory: keeps the sums that are in it.  Context: thread, with the kernel
 * lock held. */
struct vm_space;
void regions_space_ends(const struct vm_space *space);

/* Returns whether there is any region. */
bool regions_any(void);

/* Adds the HR_REC_REGION records to an open chunk.  If they do not fit, drops histograms first,
 * then whole records, and reports either.  Called when the program has stopped. */
void regions_write(struct trace_writer *w);
