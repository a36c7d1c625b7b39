/* Under an emulator: its translations of addresses.
 *
 * QEMU's TCG keeps translations in a table of 256 entries at first.  The table grows only when it
 * is flushed while most of it is in use (accel/tcg/cputlb.c, tlb_mmu_resize_locked).  Other kernels
 * flush it with each switch of processes; a run of one process never would, and a working set of
 * more pages would miss in it all the time.  So in virtual time the kernel flushes it: often at
 * first, rarely later, because each flush may double the table, and what is in use grows with the
 * program's time.  The workload clock stands still while it does, and no count changes.
 *
 * Context: workload CPU, interrupts off.
 */
#pragma once

#include <stdint.h>

struct cpu;

/* When the program starts: sets when the first flush is due, cpu->schedule.flush_due, in virtual
 * time. */
void translations_start(struct cpu *cpu);

/* Flushes if that is due at `now` of the workload clock. */
void translations_attend(struct cpu *cpu, uint64_t now);
