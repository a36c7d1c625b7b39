/* What a signal handler finds on its stack, and what rt_sigreturn takes back: Linux's x86-64
 * layout.  Pure; what comes back from the program is hostile.
 */
#ifndef GUEST_SIGNAL_SIGNAL_FRAME_H
#define GUEST_SIGNAL_SIGNAL_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

struct signal_registers { /* struct sigcontext */
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
    uint16_t cs, gs, fs, ss;
    uint64_t error, vector, old_mask, cr2;
    uint64_t fpu; /* user address of the XSAVE area */
    uint64_t reserved[8];
};
_Static_assert(sizeof(struct signal_registers) == 256, "sigcontext");

struct signal_stack { /* stack_t */
    uint64_t address;
    uint32_t flags;
    uint32_t reserved;
    uint64_t bytes;
};
_Static_assert(sizeof(struct signal_stack) == 24, "stack_t");

struct signal_context { /* struct ucontext */
    uint64_t flags;
    uint64_t link;
    struct signal_stack stack;
    struct signal_registers registers;
    uint64_t mask;
};
_Static_assert(offsetof(struct signal_context, registers) == 40, "ucontext");
_Static_assert(sizeof(struct signal_context) == 304, "ucontext");

struct signal_info { /* siginfo_t */
    int32_t signal;
    int32_t error;
    int32_t code;
    int32_t padding;
    union {
        uint64_t address; /* of a fault */
        struct {
            uint32_t pid;
            uint32_t uid;
        } sender;
        uint64_t words[14];
    } u;
};
_Static_assert(sizeof(struct signal_info) == 128, "siginfo_t");

struct signal_frame { /* struct rt_sigframe */
    uint64_t return_address;
    struct signal_context context;
    struct signal_info info;
};
_Static_assert(sizeof(struct signal_frame) == 440, "rt_sigframe");

/* The XSAVE area's parts that are checked (Intel SDM volume 1, "XSAVE Area"). */
#define SIGNAL_FPU_MXCSR 24u /* offset of MXCSR, then of its mask */
#define SIGNAL_FPU_SOFTWARE 464u /* struct signal_fpu_software */
#define SIGNAL_FPU_HEADER 512u /* XSTATE_BV, XCOMP_BV, zeros */
#define SIGNAL_FPU_MAGIC1 0x46505853u
#define SIGNAL_FPU_MAGIC2 0x46505845u /* follows the area */

struct signal_fpu_software { /* struct _fpx_sw_bytes */
    uint32_t magic;
    uint32_t extended_bytes; /* area and MAGIC2 */
    uint64_t features;
    uint32_t area_bytes;
    uint32_t reserved[7];
};
_Static_assert(sizeof(struct signal_fpu_software) == 48, "_fpx_sw_bytes");

/* The CPU's XSAVE area: its size and the features in it (XCR0). */
uint32_t signal_fpu_bytes(void);
uint64_t signal_fpu_features(void);

/* Most stack that a delivery takes: AT_MINSIGSTKSZ. */
uint64_t signal_frame_bytes_max(void);

/* Where frame and XSAVE area go below stack pointer `sp`: the frame's address, 0 when there is no
 * room; *fpu is the area's, 64-byte aligned.
 */
uint64_t signal_frame_place(uint64_t sp, uint32_t fpu_bytes, uint64_t *fpu);

/* Copies the interrupted registers into the context. */
void signal_frame_save(struct signal_registers *to, const struct trap_frame *from);

/* Takes registers from the program's context: segments are the kernel's choice, of the flags only
 * those that a program may set.  0; -EFAULT when rip or rsp is no user address.
 */
int signal_frame_restore(const struct signal_registers *from, struct trap_frame *to);

/* Adds the software bytes and MAGIC2 to an XSAVE area of signal_fpu_bytes() + 4 bytes. */
void signal_frame_mark_fpu(void *area, uint32_t bytes, uint64_t features);

/* Makes an area from the program fit for XRSTOR: without the marks only x87 and SSE are taken.
 * 0; -EINVAL when XRSTOR would fault.
 */
int signal_frame_check_fpu(void *area, uint32_t bytes, uint64_t features, uint32_t mxcsr_mask);

#endif
