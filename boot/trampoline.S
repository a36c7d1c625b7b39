/* The start of the other CPUs, copied to a page below 1 MiB: from real mode to
 * cpu_secondary_main().  The copy's `trampoline_data` says where it is: struct trampoline_data in
 * guest/cpu/entry.h.
 */
#include "boot/long_mode.inc"
#include "include/kernel_layout.h"

#define HERE(label) (label - trampoline_start)
#define SELECTOR_32_BIT_CODE 0x18

    .section .rodata
    .globl trampoline_start, trampoline_data, trampoline_end
    .align 16
    .code16
trampoline_start:
    cli
    movw %cs, %ax /* STARTUP: the page is CS:0 (SDM volume 3, "MP Initialization Protocol") */
    movw %ax, %ds
    xorl %ebx, %ebx
    movw %ax, %bx
    shll $4, %ebx
    lgdtl HERE(trampoline_gdt_pointer)
    movl %cr0, %eax
    orl $1, %eax
    movl %eax, %cr0
    ljmpl *HERE(trampoline_far_32)
    .code32
trampoline_32:
    movl $SELECTOR_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl HERE(trampoline_root)(%ebx), %eax
    LONG_MODE_ON
    ljmpl *HERE(trampoline_far_64)(%ebx)
    .code64
trampoline_64:
    movabs $trampoline_stack, %rax
    movq (%rax), %rsp
    xorl %ebp, %ebp
    movabs $cpu_secondary_main, %rax
    call *%rax
    .align 8
trampoline_gdt:
    .quad 0
    .quad 0x00af9b000000ffff /* 64-bit code */
    .quad 0x00cf93000000ffff /* data */
    .quad 0x00cf9b000000ffff /* 32-bit code */
trampoline_data: /* offsets in the page, until its address is added */
trampoline_root:
    .long 0
trampoline_far_32:
    .long HERE(trampoline_32)
    .word SELECTOR_32_BIT_CODE
trampoline_far_64:
    .long HERE(trampoline_64)
    .word SELECTOR_KERNEL_CODE
trampoline_gdt_pointer:
    .word 31
    .long HERE(trampoline_gdt)
trampoline_end:

    .data
    .globl trampoline_stack
    .align 8
trampoline_stack: /* stack top for the CPU being started */
    .quad 0

    .section .note.GNU-stack, "", @progbits
