/* Interrupts and NMIs. */
#include "guest/syscall/entry.inc"

    .text

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
    LEAVE_INTERRUPT
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
    .if \all
    subq $16, %rsp
    SAVE_ALL
    CLOCK_ENTER 19 /* 3 + 1 + 15 */
    .else
    SAVE_FRAMED
    CLOCK_ENTER 15 /* 3 + 12 */
    .endif
    cld
    .if \drain
    call pebs_entered
    .endif
    movq %rsp, %rdi
    call \handler
    LEAVE_SAVED
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
    .globl entry_nmi
entry_nmi:
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

    .section .note.GNU-stack, "", @progbits
