/* Exceptions, breakpoints and attention, and the tables of the entries of exceptions. */
#include "guest/syscall/entry.inc"

    .text

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

/* From ring 3 with error code and vector pushed.  before: instructions so far. */
.macro ENTER_EXCEPTION before
    testb $3, 24(%rsp)
    jz entry_in_kernel
    swapgs
    SAVE_ALL
    CLOCK_ENTER \before+18 /* 3 + 15 */
    cld
.endm

entry_exception:
    ENTER_EXCEPTION 3
exception_call:
    movq %rsp, %rdi
    call trap_exception
    CLOCK_EXIT 22
    .globl entry_restore
entry_restore:
    RESTORE_CALLEE_SAVED
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    swapgs
    iretq          /* after: 1 + 3 + 15 + 3 */

/* With probes or looks at pages: what probe_before does takes no time of the workload clock, and
 * neither does what trap_after does.  So the clock shows what entry_exception would show. */
.macro EXCEPTION_WATCHED name drain=0
\name:
    ENTER_EXCEPTION 3
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
    jmp entry_restore
.endm

    EXCEPTION_WATCHED entry_exception_watched
    EXCEPTION_WATCHED entry_exception_watched_drained 1

entry_exception_drained:
    ENTER_EXCEPTION 3
    DRAIN 1        /* the jump */
    jmp exception_call

.macro FRAME_FROM_USER vector error=0
    pushq $\error
    pushq $\vector
    ENTER_EXCEPTION 2
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
    jmp entry_restore
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
    jmp entry_restore
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

    .globl entry_in_kernel
entry_in_kernel:
    SAVE_ALL
    cld
    movq %rsp, %rdi
    call trap_in_kernel
    RESTORE_CALLEE_SAVED
    RESTORE_CALLER_SAVED
    addq $16, %rsp
    iretq

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

    .set exception_2, entry_nmi

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
