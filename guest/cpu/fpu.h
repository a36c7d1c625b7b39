/* The CPU's XSAVE area: its size in bytes, and its features (XCR0). */
#pragma once

#include <stdint.h>

uint32_t fpu_area_bytes(void);
uint64_t fpu_features(void);

#define FPU_MXCSR_DEFAULT 0x1f80u

/* Gives the calling CPU's registers their first values, by a thread's area. */
void fpu_reset(uint8_t *area);
