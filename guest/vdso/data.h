/* What the vDSO needs from the kernel: one page that the program can read.
 *
 * It is in the kernel's half, so the program can neither unmap nor replace it: the kernel writes to
 * it through its own mapping for the whole run. */
#pragma once

#define VDSO_DATA 0xffffffffff5ff000 /* its user-readable address; 32 signed bits reach it */
#define VDSO_CPU_SELECTOR 0x3b /* its limit is the program's number of the CPU */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct vdso_data {
    uint64_t clock_offset; /* workload clock = TSC - clock_offset; changes in shared mode only */
    uint64_t start_ticks; /* workload clock at which the program's time is 0 */
    uint64_t ticks_per_second;
    uint64_t start_unix_ns; /* wall time at start_ticks */
};
#endif
