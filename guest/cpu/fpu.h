/* The CPU's XSAVE area: its size in bytes, and its features (XCR0). */
#ifndef GUEST_CPU_FPU_H
#define GUEST_CPU_FPU_H

#include <stdint.h>

uint32_t fpu_area_bytes(void);
uint64_t fpu_features(void);

#endif
