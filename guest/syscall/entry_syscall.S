/* System calls, and what enters and leaves ring 3 outside of an entry. */
#include "guest/syscall/entry.inc"

    .text

/* ---- system calls: syscall_trap() moves enter_ticks to the end of the call proper; later work
 * (records, service work) is not on the workload clock ----
 */
.macro SYSCALL name drain=0
    .globl \name
\name:
    swapgs
    movq %rsp, %gs:CPU_USER_RSP
    movq %gs:CPU_KERNEL_STACK, %rsp
    pushq $SELECTOR_USER_DATA
    pushq %gs:CPU_USER_RSP
    pushq %r11
    pushq $SELECTOR_USER_CODE
    pushq %rcx
    pushq $0
    pushq %rax
    SAVE_ALL
    CLOCK_ENTER 25 /* 3 + 7 + 15 */
    .if \drain
    DRAIN
    .endif
    movq FRAME_RAX(%rsp), %rax
    cmpq syscall_limit(%rip), %rax
    jae 2f
    movq %gs:CPU_ENTER_TICKS, %rdi /* the call's start on the workload clock */
    movq %gs:CPU_CLOCK_OFFSET, %rsi
    subq (%rsi), %rdi
    movq %rdi, FRAME_ERROR(%rsp)
    movq %gs:CPU_THREAD, %rdi
    movq %rsp, %rsi
    call *syscall_table(, %rax, 8)
    movq %rsp, %rdi
    movq %rax, %rsi
    call syscall_done
1:  CLOCK_EXIT_STOPPED 21 /* 1 + 8 + 10 + 2; C preserves the others */
    movq FRAME_R10(%rsp), %r10
    movq FRAME_R9(%rsp), %r9
    movq FRAME_R8(%rsp), %r8
    movq FRAME_RAX(%rsp), %rax
    movq FRAME_RDX(%rsp), %rdx
    movq FRAME_RSI(%rsp), %rsi
    movq FRAME_RDI(%rsp), %rdi
    movq FRAME_RIP(%rsp), %rcx
    movq FRAME_RFLAGS(%rsp), %r11
    movq FRAME_RSP(%rsp), %rsp
    swapgs
    sysretq
2:  movq %rsp, %rdi
    call syscall_trap
    jmp 1b
.endm

    SYSCALL entry_syscall
    SYSCALL entry_syscall_drained 1

    .globl entry_return
entry_return:      /* to ring 3, with the frame at rdi */
    movq %rdi, %rsp
    CLOCK_EXIT_STOPPED 28 /* 1 + 8 + 1 + 15 + 3 */
    jmp entry_restore

/* A thread's first entry into ring 3, on its own kernel stack: guest/thread/schedule.c. */
    .balign 16
    .globl entry_thread
entry_thread:
    movq %rsp, %rdi
    call trap_begin
    CLOCK_EXIT_STOPPED 28
    jmp entry_restore

/* ---- entering and leaving ring 3 outside of an entry ---- */
    .globl user_enter
user_enter:
    SAVE_CALLEE_SAVED
    movq %rsp, %gs:CPU_LEAVE_RSP
    movq %rdi, %rsp
    CLOCK_EXIT 27  /* 1 + 3 + 5 + 15 + 3 */
    andq %gs:CPU_STOP_MASK, %rax
    movq %gs:CPU_CLOCK_OFFSET, %rdx
    movq %rax, (%rdx) /* in shared mode the workload clock starts at 0 */
    movq $0, %gs:CPU_STOPPED_AT     /* it runs: see clock_reset */
    jmp entry_restore

    .globl user_leave
user_leave:
    movq %gs:CPU_LEAVE_RSP, %rsp
    RESTORE_CALLEE_SAVED
    ret

    .section .note.GNU-stack, "", @progbits
