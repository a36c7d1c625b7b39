/* The brief way of a counter's NMI, with a service CPU: a sample that is like the one before.
 *
 * It is taken here from end to end, so that it saves only the registers that it changes, and calls
 * nothing but the reader of counters and the walk of the stack.  What it has to know is in struct
 * cpu_brief.  Whatever makes a sample unlike the one before sets cpu->brief.room to 0, or is found
 * by one of four questions: has the program had its share, was time stolen, is there room in the
 * ring, has the counter overflowed?  Otherwise the handler of guest/sample/overflow.c takes the
 * sample, as if it had been called at once.
 *
 * The workload clock is the TSC here, so times of samples grow, and nothing asks whether they do.
 * In ring 3 no slot of the ring is open. */
#include "drivers/apic/apic_nmi.h"
#include "guest/cpu/cpu_offsets.h"
#include "guest/syscall/entry.inc"

    .text

#define SLOT_TIME -24 /* from a slot's counters */
#define SLOT_IP -16
#define SLOT_TID -8
#define SLOT_COST -4
#define COST_MAX 0xffff

.macro SAVE_BRIEF stacks /* 4 or 6 instructions */
    pushq %rdi
    pushq %rdx
    pushq %rcx
    pushq %rax
    .if \stacks
    pushq %rsi
    pushq %r8
    .endif
.endm

.macro RESTORE_BRIEF stacks /* likewise */
    .if \stacks
    popq %r8
    popq %rsi
    .endif
    popq %rax
    popq %rcx
    popq %rdx
    popq %rdi
.endm

/* rax: ticks that the program had since the last exit, which is that of the last sample or a later
 * one: so its share may look too small, but not too large. */
.macro QUESTIONS full
    movq %gs:CPU_SHARE_SEEN, %rcx
    imulq %gs:CPU_BRIEF_SHARE_FACTOR, %rcx
    shrq $SHARE_SHIFT, %rcx
    cmpq %rcx, %rax
    jb \full
    movq %gs:CPU_STEAL, %rcx
    jrcxz 1f
    movq (%rcx), %rax
    subq %gs:CPU_STEAL_SEEN, %rax
    cmpq $STEAL_LEAST_NS, %rax
    ja \full
1:  movq %gs:CPU_RING, %rcx
    movq RING_RESERVED(%rcx), %rdi
    cmpq %gs:CPU_BRIEF_ROOM, %rdi
    jae \full
    movl pmu_overflow + PMU_COUNTER(%rip), %ecx
    rdpmc
    testl %edx, %edx /* it starts below 0 */
    jnz \full
.endm

/* rax: what the first event's counter holds; rdi: the ring's position. */
.macro TAKE stacks
    andq %gs:CPU_BRIEF_MASK, %rdi
    imulq %gs:CPU_BRIEF_SLOT_BYTES, %rdi
    addq %gs:CPU_BRIEF_COUNTERS, %rdi
    incq %gs:CPU_SAMPLES
    addq %gs:CPU_PERIOD, %rax
    addq %gs:CPU_BASE, %rax
    movq %rax, %gs:CPU_BASE
    movnti %rax, (%rdi)
    movq %gs:CPU_ENTER_TICKS, %rax
    movnti %rax, SLOT_TIME(%rdi)
    movq 32+16*\stacks(%rsp), %rax
    movnti %rax, SLOT_IP(%rdi)
    movl %gs:CPU_TID, %eax
    movnti %eax, SLOT_TID(%rdi)
    call *%gs:CPU_BRIEF_READER
    rdtsc
    subl %gs:CPU_ENTER_TICKS, %eax
    cmpl $COST_MAX, %eax
    ja 3f
2:  movnti %eax, SLOT_COST(%rdi)
    .if \stacks
    addq %gs:CPU_BRIEF_STACK, %rdi
    movq %rbp, %rsi
    movq %gs:0, %rdx
    call stack_frames
    jne 4f
    .endif
.endm

/* Sets the counter and lets it interrupt again, in the order of pmu_overflow_arm. */
.macro PUBLISH_AND_ARM
5:  sfence
    movq %gs:CPU_RING, %rcx
    incq RING_RESERVED(%rcx)
    incq RING_HEAD(%rcx)
    movl pmu_overflow + PMU_COUNTER_MSR(%rip), %ecx
    movl pmu_overflow + PMU_PRESET(%rip), %eax
    movl pmu_overflow + PMU_PRESET + 4(%rip), %edx
    wrmsr
    movl pmu_overflow + PMU_CLEAR_MSR(%rip), %ecx
    jrcxz 6f
    movl pmu_overflow + PMU_CLEARED(%rip), %eax
    movl pmu_overflow + PMU_CLEARED + 4(%rip), %edx
    wrmsr
6:  movq %gs:CPU_BRIEF_UNMASK, %rcx
    jrcxz 8f
    movl $APIC_LVT_NMI, (%rcx)
7:
.endm

.macro LEAVE_BRIEF stacks
    RESTORE_BRIEF \stacks
    swapgs
    iretq
.endm

/* share_handled, whose end of the handler is that of the entry here. */
.macro RETURN stacks
    CLOCK_EXIT 19+2*\stacks /* 13 + 4 or 6 + 2 */
    movq %rax, %gs:CPU_SHARE_RETURNED
    subq %gs:CPU_ENTER_TICKS, %rax
    movq %gs:CPU_SHARE_SEEN, %rcx
    movq %rcx, %rdx
    cmpq %rcx, %rax
    ja 9f
    shrq $SHARE_FALL_SHIFT, %rdx
    subq %rdx, %rcx
    movq %rcx, %gs:CPU_SHARE_SEEN
    LEAVE_BRIEF \stacks
8:  movl $APIC_MSR_LVT_PMI, %ecx
    movl $APIC_LVT_NMI, %eax
    xorl %edx, %edx
    wrmsr
    jmp 7b
9:  shrq $SHARE_RISE_SHIFT, %rdx /* as many instructions */
    leaq 1(%rcx, %rdx), %rcx
    movq %rcx, %gs:CPU_SHARE_SEEN
    LEAVE_BRIEF \stacks
.endm

/* What is rare. */
.macro OTHERWISE stacks
3:  movl $COST_MAX, %eax
    jmp 2b
    .if \stacks
4:  pushq %r9
    pushq %r10
    pushq %r11
    subq $STACK_HEAD, %rdi
    movq %rax, %rcx
    movq %rdx, %r8
    movq %rbp, %rsi
    movq %gs:0, %rdx
    cld
    call stack_walk_rest
    popq %r11
    popq %r10
    popq %r9
    jmp 5b
    .endif
.endm

.macro NMI_BRIEF name full stacks
    .balign 16
    .globl \name
\name:
    testb $3, 8(%rsp)
    jz \full
    swapgs
    SAVE_BRIEF \stacks
    CLOCK_ENTER 7+2*\stacks /* 3 + 4 or 6 */
    QUESTIONS \name\()_full
    TAKE \stacks
    PUBLISH_AND_ARM
    RETURN \stacks
    OTHERWISE \stacks
.endm

    NMI_BRIEF entry_nmi_brief entry_nmi 0
entry_nmi_brief_full:
    RESTORE_BRIEF 0
    SAVE_CALLER_SAVED
    cld
    movq %rsp, %rdi
    call overflow_nmi
    LEAVE_INTERRUPT

    NMI_BRIEF entry_nmi_brief_stack entry_nmi_framed 1
entry_nmi_brief_stack_full:
    RESTORE_BRIEF 1
    SAVE_FRAMED
    cld
    movq %rsp, %rdi
    call overflow_nmi_saved
    LEAVE_SAVED

    .section .note.GNU-stack, "", @progbits
