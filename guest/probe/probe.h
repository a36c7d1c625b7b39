/* Probes: breakpoints of the kernel in the program's code (docs/architecture/probes.md).
 *
 * Where they are to be is in the archive (include/run_probes.h).  Without that file nothing here
 * does anything, and the entries from ring 3 are those without probes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"

struct vm_space;

/* Reads the table from the archive; panics with one line if it is damaged.  Context: boot, before
 * the rings are made. */
void probe_read(void);

/* Places probes in the first program, and puts what the table says into the trace.  Context: boot,
 * when the program is loaded. */
void probe_start(struct vm_space *space);

/* After a system call that mapped code, with the workload clock stopped: places probes in files
 * that have just been mapped.  Context: thread, with the kernel lock. */
void probe_look(void);

/* What guest/syscall/entry_exception.S calls, if there are probes.
 *
 * probe_hit: a breakpoint of ring 3; returns false if it is the program's own.
 * probe_before: an exception of ring 3; puts a thread that is in a copy of an instruction back to
 * the place that the copy stands for.
 * trap_after (guest/syscall/traps.c) calls probe_shown when a page fault at `address` was served,
 * with the workload clock stopped: places probes in the pages that it showed. */
bool probe_hit(struct trap_frame *frame);
void probe_before(struct trap_frame *frame);
void probe_shown(struct vm_space *space, uint64_t address);

/* Puts a thread that is in a copy back, as probe_before does; does nothing for other addresses. */
void probe_leave_copy(struct trap_frame *frame);
