/* Registers as entries into the kernel push them: guest/syscall/entry.inc. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trap_frame { /* as pushed by guest/syscall/entry.inc; the last five by the CPU */
    uint64_t r15, r14, r13, r12, rbp, rbx;
    uint64_t r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
    uint64_t vector; /* exception or interrupt number; for a system call its number */
    uint64_t error; /* for a system call its start on the workload clock */
    uint64_t rip, cs, rflags, rsp, ss;
};
_Static_assert(sizeof(struct trap_frame) == 22 * 8, "trap_frame");
_Static_assert(offsetof(struct trap_frame, rbp) == 32 && offsetof(struct trap_frame, r10) == 56 &&
                   offsetof(struct trap_frame, rax) == 80 &&
                   offsetof(struct trap_frame, rdi) == 112 &&
                   offsetof(struct trap_frame, error) == 128 &&
                   offsetof(struct trap_frame, rip) == 136 &&
                   offsetof(struct trap_frame, rsp) == 160,
               "entry.inc");

struct irq_frame { /* as pushed for an interrupt from ring 3: caller-saved registers only */
    uint64_t r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
    uint64_t rip, cs, rflags, rsp, ss;
};
_Static_assert(sizeof(struct irq_frame) == 14 * 8, "irq_frame");
