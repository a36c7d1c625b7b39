/* Entries into the kernel and returns to ring 3.
 *
 * Every entry from ring 3 reads the TSC after a fixed number of instructions, and every return
 * reads it a fixed number of instructions before its end.  Under virtual time (one instruction =
 * one tick) subtracting those constants makes user_ticks the exact number of instructions executed
 * in ring 3.  Comments at the code count them, and they must change with it; the spin workload
 * checks them.
 *
 * Field offsets of struct cpu and struct trap_frame: see the assertions in guest/cpu/cpu.h. */
#include "guest/base/layout.h"

#define CPU_KERNEL_STACK 8
#define CPU_USER_RSP 16
#define CPU_THREAD 24
#define CPU_ENTER_TICKS 32
#define CPU_EXIT_TICKS 40
#define CPU_USER_TICKS 48
#define CPU_CLOCK_OFFSET 56
#define CPU_STOP_MASK 64
#define CPU_LEAVE_RSP 88
#define CPU_STOPPED_AT 72
#define FRAME_RBP 32
#define FRAME_R10 56
#define FRAME_R9 64
#define FRAME_R8 72
#define FRAME_RAX 80
#define FRAME_RDX 96
#define FRAME_RSI 104
#define FRAME_RDI 112
#define FRAME_ERROR 128
#define FRAME_RIP 136
#define FRAME_RFLAGS 152
#define FRAME_RSP 160
#define MSR_GS_BASE 0xc0000101

    .text

.macro SAVE_CALLER_SAVED /* 9 instructions */
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %rax
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
.endm

.macro SAVE_ALL /* 15 instructions */
    SAVE_CALLER_SAVED
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
.endm

.macro RESTORE_CALLEE_SAVED /* 6 instructions */
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
.endm

.macro RESTORE_CALLER_SAVED /* 9 instructions */
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rax
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
.endm

/* enter_ticks = now - before; user_ticks += enter_ticks - exit_ticks.
 * before: instructions from the entry point to the RDTSC, not counting it.
 */
.macro CLOCK_ENTER before
    rdtsc
    shlq $32, %rdx
    leaq -\before(%rax, %rdx), %rax
    movq %rax, %gs:CPU_ENTER_TICKS
    subq %gs:CPU_EXIT_TICKS, %rax
    addq %rax, %gs:CPU_USER_TICKS
.endm

/* exit_ticks = now + after.  after: instructions from the RDTSC, inclusive, to the return to ring
 * 3, inclusive.  3 instructions after the RDTSC. */
.macro CLOCK_EXIT after
    rdtsc
    shlq $32, %rdx
    leaq \after(%rax, %rdx), %rax
    movq %rax, %gs:CPU_EXIT_TICKS
.endm

/* CLOCK_EXIT, with the workload clock stopped since the entry (in shared mode).  8 instructions
 * after the RDTSC. */
.macro CLOCK_EXIT_STOPPED after
    CLOCK_EXIT \after
    subq %gs:CPU_ENTER_TICKS, %rax
    andq %gs:CPU_STOP_MASK, %rax
    movq %gs:CPU_CLOCK_OFFSET, %rdx
    addq %rax, (%rdx)
    movq $0, %gs:CPU_STOPPED_AT /* it runs: see clock_stop */
.endm

/* With precise sampling, after SAVE_ALL and CLOCK_ENTER: pebs_entered, which takes no time of the
 * workload clock, as if the entry had been that much later. */
.macro DRAIN more=0
    rdtsc          /* from here 9 instructions and those between the RDTSCs; and `more` later */
    shlq $32, %rdx
    leaq -9-\more(%rax, %rdx), %rbx
    cld
    call pebs_entered
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    subq %rbx, %rax
    andq %gs:CPU_STOP_MASK, %rax
    addq %rax, %gs:CPU_ENTER_TICKS
    movq %gs:CPU_CLOCK_OFFSET, %rdx
    addq %rax, (%rdx)
    movq 40(%rsp), %rbx /* which C is to preserve */
.endm

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
    jmp return_restore

/* ---- exceptions ---- */
.macro EXCEPTION number error_code name=exception entry=entry_exception
    .balign 16
\name\()_\number:
    .if \error_code
    nop
    .else
    pushq $0
    .endif
    pushq $\number
    jmp \entry
.endm

entry_exception: /* 3 instructions so far */
    testb $3, 24(%rsp)
    jz exception_in_kernel
    swapgs
    SAVE_ALL
    CLOCK_ENTER 21 /* 3 + 3 + 15 */
    cld
exception_call:
    movq %rsp, %rdi
    call trap_exception
    CLOCK_EXIT 22
return_restore:
    RESTORE_CALLEE_SAVED
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    swapgs
    iretq          /* after: 1 + 3 + 15 + 3 */

/* With probes or looks at pages: what probe_before does takes no time of the workload clock, and
 * neither does what trap_after does.  So the clock shows what entry_exception would show. */
.macro EXCEPTION_WATCHED name drain=0
\name: /* 3 instructions so far */
    testb $3, 24(%rsp)
    jz exception_in_kernel
    swapgs
    SAVE_ALL
    CLOCK_ENTER 21
    cld
    .if \drain
    DRAIN
    .endif
    rdtsc          /* from here 7 instructions that entry_exception has not, and those between the RDTSCs */
    shlq $32, %rdx
    leaq -7(%rax, %rdx), %rbx
    movq %rsp, %rdi
    call probe_before
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    subq %rbx, %rax
    andq %gs:CPU_STOP_MASK, %rax
    movq %gs:CPU_CLOCK_OFFSET, %rdx
    addq %rax, (%rdx)
\name\()_call:
    movq %rsp, %rdi
    call trap_exception
    rdtsc
    shlq $32, %rdx
    leaq 22(%rax, %rdx), %rax /* where the clock would stand in ring 3 */
    movq %rax, %gs:CPU_ENTER_TICKS
    movq %rax, %gs:CPU_STOPPED_AT
    movq %rsp, %rdi
    call trap_after
    CLOCK_EXIT_STOPPED 28
    jmp return_restore
.endm

    EXCEPTION_WATCHED entry_exception_watched
    EXCEPTION_WATCHED entry_exception_watched_drained 1

entry_exception_drained: /* 3 instructions so far */
    testb $3, 24(%rsp)
    jz exception_in_kernel
    swapgs
    SAVE_ALL
    CLOCK_ENTER 21
    cld
    DRAIN 1        /* the jump */
    jmp exception_call

.macro FRAME_FROM_USER vector error=0
    pushq $\error
    pushq $\vector
    testb $3, 24(%rsp)
    jz exception_in_kernel
    swapgs
    SAVE_ALL
    CLOCK_ENTER 20 /* 2 + 3 + 15 */
    cld
    movq %rsp, %rdi
.endm

.macro BREAKPOINT name drain=0
    .balign 16
    .globl \name
\name:
    FRAME_FROM_USER 3
    .if \drain
    DRAIN
    movq %rsp, %rdi
    .endif
    call probe_hit
    testb %al, %al
    jz 1f
    CLOCK_EXIT_STOPPED 28 /* 1 + 8 + 1 + 15 + 3 */
    jmp return_restore
1:  rdtsc          /* the program's own: the clock shows what entry_exception would show */
    shlq $32, %rdx
    leaq -20(%rax, %rdx), %rax /* 8 instructions from the RDTSC to where entry_exception has 28 */
    subq %gs:CPU_ENTER_TICKS, %rax
    andq %gs:CPU_STOP_MASK, %rax
    movq %gs:CPU_CLOCK_OFFSET, %rdx
    addq %rax, (%rdx)
    jmp entry_exception_watched_call /* a page fault of the instruction at the breakpoint, too */
.endm

    BREAKPOINT entry_breakpoint
    BREAKPOINT entry_breakpoint_drained 1

/* Attention may deliver a signal or switch to another thread, which needs all registers; in shared
 * mode it is off the workload clock. */
.macro ATTENTION name drain=0 error=0
    .balign 16
    .globl \name
\name:
    FRAME_FROM_USER VECTOR_ATTENTION \error
    .if \drain
    call pebs_entered
    movq %rsp, %rdi
    .endif
    call trap_attention
    CLOCK_EXIT_STOPPED 28 /* 1 + 8 + 1 + 15 + 3 */
    jmp return_restore
.endm

    ATTENTION entry_attention
    ATTENTION entry_attention_drained 1
    ATTENTION entry_attention_after 0 ATTENTION_BY_TIMER

/* Where the timer's handlers return to when attention is due: it comes before the program's next
 * instruction, as an interrupt would.  JMP counts in IRETQ's place. */
    .globl entry_attend
entry_attend:
    CLOCK_EXIT_STOPPED 20
    RESTORE_CALLER_SAVED
    swapgs
    jmp entry_attention_after

    .globl entry_attend_saved
entry_attend_saved:
    CLOCK_EXIT_STOPPED 22
    addq $48, %rsp
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    swapgs
    jmp entry_attention_after

/* A thread's first entry into ring 3, on its own kernel stack: guest/thread/schedule.c. */
    .balign 16
    .globl entry_thread
entry_thread:
    movq %rsp, %rdi
    call trap_begin
    CLOCK_EXIT_STOPPED 28
    jmp return_restore

exception_in_kernel:
    SAVE_ALL
    cld
    movq %rsp, %rdi
    call trap_in_kernel
    RESTORE_CALLEE_SAVED
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    iretq

/* ---- interrupts: in shared mode the workload clock stops during them ---- */
.macro FROM_USER handler drain=0 /* after testb, jz */
    swapgs
    SAVE_CALLER_SAVED
    CLOCK_ENTER 12 /* 3 + 9 */
    cld
    .if \drain
    call pebs_entered
    .endif
    movq %rsp, %rdi
    call \handler
    CLOCK_EXIT_STOPPED 20
    RESTORE_CALLER_SAVED
    swapgs
    iretq          /* after: 1 + 8 + 9 + 2 */
.endm

/* An interrupt may come between the STI and the HLT of x86_wait_for_interrupt.  What it announces
 * has been served when HLT begins, so HLT must not wait for it.  STI keeps interrupts out for one
 * instruction, but an NMI there may end that, and an emulated SVM forgets it in an exit.  Only
 * there do interrupts come in ring 0, so HLT's opcode (F4) at rip shows the case. */
.macro ENTER_FROM_HALT
    SAVE_CALLER_SAVED
    movq 72(%rsp), %rax /* rip, above 9 registers */
    cmpb $0xf4, (%rax)
    jne 2f
    incq 72(%rsp)
2:
.endm

.macro INTERRUPT name handler drain=0
    .balign 16
    .globl \name
\name:
    testb $3, 8(%rsp)
    jz 1f
    FROM_USER \handler \drain
1:  ENTER_FROM_HALT
    movq %rsp, %rdi
    call \handler\()_in_kernel
    RESTORE_CALLER_SAVED
    iretq
.endm

    INTERRUPT entry_timer sampler_interrupt
    INTERRUPT entry_device service_device_interrupt
    INTERRUPT entry_sample sampler_asked
    INTERRUPT entry_wake service_wake_interrupt
    INTERRUPT entry_stray cpu_stray
    INTERRUPT entry_timer_drained sampler_interrupt 1
    INTERRUPT entry_device_drained service_device_interrupt 1
    INTERRUPT entry_sample_drained sampler_asked 1
    INTERRUPT entry_wake_drained service_wake_interrupt 1
    INTERRUPT entry_precise pebs_interrupt

/* FROM_USER for samples with call stacks: saves the whole struct trap_frame, except vector and
 * error; or of the callee-saved registers, which C preserves, the frame pointer alone. */
.macro FROM_USER_SAVED handler drain=0 all=1 /* after testb, jz */
    swapgs
    subq $16, %rsp
    .if \all
    SAVE_ALL
    CLOCK_ENTER 19 /* 3 + 1 + 15 */
    .else
    SAVE_CALLER_SAVED
    subq $48, %rsp
    movq %rbp, FRAME_RBP(%rsp)
    CLOCK_ENTER 15 /* 3 + 1 + 9 + 2 */
    .endif
    cld
    .if \drain
    call pebs_entered
    .endif
    movq %rsp, %rdi
    call \handler
    CLOCK_EXIT_STOPPED 22
    addq $48, %rsp
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    swapgs
    iretq          /* after: 1 + 8 + 1 + 9 + 3 */
.endm

.macro INTERRUPT_SAVED name handler in_kernel drain=0 all=1
    .balign 16
    .globl \name
\name:
    testb $3, 8(%rsp)
    jz 1f
    FROM_USER_SAVED \handler \drain \all
1:  ENTER_FROM_HALT
    movq %rsp, %rdi
    call \in_kernel
    RESTORE_CALLER_SAVED
    iretq
.endm

    INTERRUPT_SAVED entry_timer_saved sampler_interrupt_saved sampler_interrupt_in_kernel
    INTERRUPT_SAVED entry_timer_framed sampler_interrupt_saved sampler_interrupt_in_kernel 0 0
    INTERRUPT_SAVED entry_device_saved service_device_interrupt service_device_interrupt_in_kernel
    INTERRUPT_SAVED entry_sample_saved sampler_asked_saved sampler_asked_in_kernel
    INTERRUPT_SAVED entry_wake_saved service_wake_interrupt service_wake_interrupt_in_kernel
    INTERRUPT_SAVED entry_timer_saved_drained sampler_interrupt_saved sampler_interrupt_in_kernel 1
    INTERRUPT_SAVED entry_device_saved_drained service_device_interrupt service_device_interrupt_in_kernel 1
    INTERRUPT_SAVED entry_sample_saved_drained sampler_asked_saved sampler_asked_in_kernel 1
    INTERRUPT_SAVED entry_wake_saved_drained service_wake_interrupt service_wake_interrupt_in_kernel 1
    INTERRUPT_SAVED entry_precise_saved pebs_interrupt pebs_interrupt_in_kernel

    .balign 16
    .globl entry_spurious
entry_spurious: /* no EOI (SDM volume 3, "Spurious Interrupt") */
    iretq

/* ---- NMI, double fault, machine check: own stacks.  GS may be the program's even in ring 0, and
 * WRGSBASE lets a program put any value there, so the kernel's GS base is found from the stack.
 * The cost of an NMI in ring 0 stays on the workload clock. */
    .balign 16
exception_2:
    testb $3, 8(%rsp)
    jz 1f
    FROM_USER overflow_nmi
1:  SAVE_CALLER_SAVED
    cld
    movq %rsp, %rdi
    movq %rsp, %rsi
    andq $-IST_BYTES, %rsi
    movq (%rsi), %rsi /* the struct cpu, see load_tables in guest/cpu/cpu.c */
    call overflow_nmi_in_kernel
    RESTORE_CALLER_SAVED
    iretq

.macro NMI_SAVED name all
    .balign 16
    .globl \name
\name:
    testb $3, 8(%rsp)
    jz 1f
    FROM_USER_SAVED overflow_nmi_saved 0 \all
1:  SAVE_CALLER_SAVED
    cld
    movq %rsp, %rdi
    movq %rsp, %rsi
    andq $-IST_BYTES, %rsi
    movq (%rsi), %rsi /* the struct cpu */
    movq %rbp, %rdx
    call overflow_nmi_in_kernel_saved
    RESTORE_CALLER_SAVED
    iretq
.endm

    NMI_SAVED entry_nmi_saved 1
    NMI_SAVED entry_nmi_framed 0

.macro PARANOID number error_code
    .balign 16
exception_\number:
    .if \error_code == 0
    pushq $0
    .endif
    pushq $\number
    jmp entry_paranoid
.endm

entry_paranoid:
    SAVE_ALL
    cld
    movl $MSR_GS_BASE, %ecx
    rdmsr
    movl %eax, %ebx
    movl %edx, %ebp
    movq %rsp, %rdi
    andq $-IST_BYTES, %rdi
    movl (%rdi), %eax /* the struct cpu, see load_tables in guest/cpu/cpu.c */
    movl 4(%rdi), %edx
    wrmsr
    movq %rsp, %rdi
    call trap_paranoid
    movl $MSR_GS_BASE, %ecx
    movl %ebx, %eax
    movl %ebp, %edx
    wrmsr
    RESTORE_CALLEE_SAVED
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    iretq

/* ---- entering and leaving ring 3 outside of an entry ---- */
    .globl user_enter
user_enter:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, %gs:CPU_LEAVE_RSP
    movq %rdi, %rsp
    CLOCK_EXIT 27  /* 1 + 3 + 5 + 15 + 3 */
    andq %gs:CPU_STOP_MASK, %rax
    movq %gs:CPU_CLOCK_OFFSET, %rdx
    movq %rax, (%rdx) /* in shared mode the workload clock starts at 0 */
    movq $0, %gs:CPU_STOPPED_AT     /* it runs: see clock_reset */
    jmp return_restore

    .globl user_leave
user_leave:
    movq %gs:CPU_LEAVE_RSP, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret

    .irp number, 0,1,3,4,5,6,7
    EXCEPTION \number 0
    .endr
    PARANOID 8 1
    EXCEPTION 9 0
    .irp number, 10,11,12,13,14
    EXCEPTION \number 1
    .endr
    EXCEPTION 15 0
    EXCEPTION 16 0
    EXCEPTION 17 1
    PARANOID 18 0
    EXCEPTION 19 0
    EXCEPTION 20 0
    EXCEPTION 21 1

/* Other entries of exceptions, but for those that have stacks of their own. */
.macro OTHERS name entry
    .irp number, 0,1,3,4,5,6,7,9
    EXCEPTION \number 0 \name \entry
    .endr
    .irp number, 10,11,12,13,14
    EXCEPTION \number 1 \name \entry
    .endr
    EXCEPTION 15 0 \name \entry
    EXCEPTION 16 0 \name \entry
    EXCEPTION 17 1 \name \entry
    EXCEPTION 19 0 \name \entry
    EXCEPTION 20 0 \name \entry
    EXCEPTION 21 1 \name \entry
.endm
    OTHERS watched entry_exception_watched
    OTHERS drained entry_exception_drained
    OTHERS watched_drained entry_exception_watched_drained

    .section .rodata
    .balign 8
    .globl entry_exceptions
entry_exceptions: /* by vector, 0 to 21 */
    .irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21
    .quad exception_\number
    .endr

.macro OTHERS_TABLE name
    .globl entry_exceptions_\name
entry_exceptions_\name: /* 0 for those that stay as they are */
    .irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21
    .ifdef \name\()_\number
    .quad \name\()_\number
    .else
    .quad 0
    .endif
    .endr
.endm
    OTHERS_TABLE watched
    OTHERS_TABLE drained
    OTHERS_TABLE watched_drained

    .section .note.GNU-stack, "", @progbits
