/* How CPUs wait for each other while the kernel starts: they halt, so that an emulator or a
 * hypervisor with fewer CPUs gives its time to the one that works.  Context: boot, interrupts off.
 */
#pragma once

#include <stdint.h>

/* Waits until *word is `value`.  Who sets it for the boot CPU wakes that with VECTOR_WAKE. */
void turn_wait(const uint32_t *word, uint32_t value);

/* Sets *word and wakes the CPUs first .. cpu_count-1, which may wait for it. */
void turn_set(uint32_t *word, uint32_t value, uint32_t first);
