/* libhr: what a program that was built with -finstrument-functions calls at each entry of a
 * function and each return: 14 instructions together, but for what is rare
 * (docs/architecture/instrumented.md).
 *
 * Part of libhr.a alone: the linker knows the place of an executable's thread-local storage, and
 * a library's would take two more instructions.  Offsets: include/hr_abi.h.
 */
#define TOP %fs:libhr_thread@tpoff
#define LIMIT %fs:libhr_thread@tpoff+8
#define ENTRY_BYTES 32
#define FUNCTION_AT 8
#define CALL_SITE_AT 16
#define ABI_SYSCALL 0x4872
#define ABI_ENTER 10
#define ABI_LEAVE 11
#define CALLS_IGNORED 1
#define CALLS_TOLD 2

    .text

.macro HOOK name
    .globl \name
    .type \name, @function
\name:
.endm

/* The kernel takes the stack pointer of this system call for the hook's. */
.macro TELL operation
    movq %rsi, %rdx
    movq %rdi, %rsi
    movl $\operation, %edi
    movl $ABI_SYSCALL, %eax
    syscall
    ret
.endm

    HOOK __cyg_profile_func_enter /* rdi: function, rsi: call site */
    movq TOP, %rdx
    cmpq LIMIT, %rdx
    jae enter_rare
    incq (%rdx) /* odd before `top` shows it: who looks never takes an old call for this one */
    addq $ENTRY_BYTES, TOP /* reserved: signal handlers use the entries after it */
    movq %rdi, FUNCTION_AT(%rdx)
    movq %rsi, CALL_SITE_AT(%rdx)
    incq (%rdx)
    ret

    HOOK __cyg_profile_func_exit
    movq TOP, %rdx
    cmpq %rdi, FUNCTION_AT-ENTRY_BYTES(%rdx)
    jne leave_rare
    subq $ENTRY_BYTES, TOP
    ret

enter_rare:
    movl libhr_calls_mode(%rip), %eax
    cmpl $CALLS_IGNORED, %eax
    je done
    cmpl $CALLS_TOLD, %eax
    je enter_tell
    pushq %rdi
    pushq %rsi
    subq $8, %rsp
    call libhr_enter_rare
    addq $8, %rsp
    popq %rsi
    popq %rdi
    cmpl $CALLS_TOLD, %eax
    je enter_tell
done:
    ret
enter_tell:
    TELL ABI_ENTER

leave_rare:
    movl libhr_calls_mode(%rip), %eax
    cmpl $CALLS_IGNORED, %eax
    je done
    cmpl $CALLS_TOLD, %eax
    jne libhr_leave_rare
    TELL ABI_LEAVE

    .section .note.GNU-stack, "", @progbits
