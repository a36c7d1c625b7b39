/* What a signal handler finds on its stack: Linux's x86-64 layout. */
#pragma once

#include <stddef.h>
#include <stdint.h>

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
