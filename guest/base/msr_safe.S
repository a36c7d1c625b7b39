/* RDMSR and WRMSR whose general-protection fault is an answer; see drivers/platform.h.
 * trap_in_kernel() continues at msr_safe_fault when one of the two instructions faults.
 */
    .text
    .globl platform_msr_read, platform_msr_write
    .globl msr_safe_read, msr_safe_write, msr_safe_fault

platform_msr_read: /* edi: register, rsi: where to store */
    movl %edi, %ecx
msr_safe_read:
    rdmsr
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, (%rsi)
    xorl %eax, %eax
    ret

platform_msr_write: /* edi: register, rsi: value */
    movl %edi, %ecx
    movl %esi, %eax
    movq %rsi, %rdx
    shrq $32, %rdx
msr_safe_write:
    wrmsr
    xorl %eax, %eax
    ret

msr_safe_fault:
    movl $-14, %eax /* -EFAULT */
    ret

    .section .note.GNU-stack, "", @progbits
