/* The frames of a call stack that are in one page, which is that of the stack before.  This is most
 * of a stack's cost, so it takes five instructions a frame.  One of them, a push, stores a return
 * address: rsp points into the stack's place in the ring until all are there.  Nothing else is
 * pushed there: interrupts are off, NMIs, double faults and machine checks have stacks of their
 * own, and what is read is memory of the kernel's direct map that is known to be there.  Another
 * exception would be a panic, whose frames would be in the ring: they find memory there. */
#include "guest/base/layout.h"
#include "guest/cpu/cpu_offsets.h"

    .text

/* One frame, at `from`; the place of the next one is put into `to`.  Both are words from the page's
 * last one on, so they are negative: one comparison finds that the next frame is above this one and
 * in the page.  One that is not aligned has bits at the top after the rotation, and is outside. */
.macro FRAME from to out
    pushq 8(%rsi, \from, 8)
    rorxq $3, (%rsi, \from, 8), \to
    addq %r8, \to
    cmpq \from, \to
    jbe \out
.endm

/* rdi: the stack plus STACK_HEAD; rsi: the frame pointer; rdx: struct cpu.  Stores the address of
 * the last word that was pushed in the stack's head, or 0 if none was.  ZF: the chain is whole.
 * Otherwise rax is the last frame's address, and rdx what that says of the next one.  Changes rcx,
 * rsi and r8 as well, but no other register: an entry would have to save it. */
9:  movq $0, -STACK_HEAD(%rdi)
    testq %rsp, %rsp
    ret
    .globl stack_frames
stack_frames:
    movq stack_frames_top(%rip), %rcx
    jrcxz 9b
    movq CPU_FRAMES_MINUS_END(%rdx), %r8
    rorxq $3, %rsi, %rax
    addq %r8, %rax
    cmpq CPU_FRAMES_FLOOR(%rdx), %rax
    jbe 9b
    movq CPU_FRAMES_END(%rdx), %rsi
    leaq (%rdi, %rcx), %rcx
    xchgq %rsp, %rcx
1:  .rept STACK_STEP / 2
    FRAME %rax %rdx 2f
    FRAME %rdx %rax 3f
    .endr
    cmpq %rdi, %rsp
    jae 1b
    jmp 4f
2:  cmpq %r8, %rdx /* it is 0 */
    jne 5f
    movnti %rsp, -STACK_HEAD(%rdi)
    movq %rcx, %rsp
    ret
3:  cmpq %r8, %rax
    jne 4f
    movnti %rsp, -STACK_HEAD(%rdi)
    movq %rcx, %rsp
    ret
4:  xchgq %rax, %rdx
5:  movq %rsp, -STACK_HEAD(%rdi)
    movq %rcx, %rsp
    subq %r8, %rax
    subq %r8, %rdx
    rolq $3, %rax
    rolq $3, %rdx
    testq %rsp, %rsp
    ret
/* See guest/sample/stack_walk.h. */
    .globl stack_walk
stack_walk:
    movq %rdx, %r9
    movq %rsi, %r10
    addq $STACK_HEAD, %rdi
    call stack_frames
    jne 1f
    ret
1:  movq %rax, %rcx
    movq %rdx, %r8
    movq %r9, %rdx
    movq %r10, %rsi
    subq $STACK_HEAD, %rdi
    jmp stack_walk_rest

    .section .note.GNU-stack, "", @progbits
