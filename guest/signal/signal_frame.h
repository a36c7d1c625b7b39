/* The frame that a signal handler finds on its stack and that rt_sigreturn takes back, in Linux's
 * x86-64 layout.  What comes back from the program is hostile.  Context: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "guest/base/frame.h"
#include "guest/base/signal_layout.h"
#include "guest/cpu/fpu.h"

/* Returns the most stack bytes that a delivery takes: AT_MINSIGSTKSZ. */
uint64_t signal_frame_bytes_max(void);

/* Places the frame and the XSAVE area below stack pointer `sp`.  Returns the frame's address, or 0
 * if there is no room; *fpu is the address of the area, 64-byte aligned. */
uint64_t signal_frame_place(uint64_t sp, uint32_t fpu_bytes, uint64_t *fpu);

/* Copies the interrupted registers into the context. */
void signal_frame_save(struct signal_registers *to, const struct trap_frame *from);

/* Restores registers from the program's context.  The kernel chooses the segments; of the flags
 * only those that a program may set are taken.  Returns 0, or -EFAULT if rip or rsp is no user
 * address. */
int signal_frame_restore(const struct signal_registers *from, struct trap_frame *to);

/* Adds the software bytes and MAGIC2 to an XSAVE area of fpu_area_bytes() + 4 bytes. */
void signal_frame_mark_fpu(void *area, uint32_t bytes, uint64_t features);

/* Makes an area from the program fit for XRSTOR: without the marks only x87 and SSE are taken.
 * Returns 0, or -EINVAL if XRSTOR would fault. */
int signal_frame_check_fpu(void *area, uint32_t bytes, uint64_t features, uint32_t mxcsr_mask);
