/* Shared by the boot paths: the first page tables, on which the other CPUs start, too
 * (guest/memory/vm_kernel.c), segments and a stack.
 */
#include "include/kernel_layout.h"

    .data
    .globl boot_gdt, boot_gdt_limit
    .align 8
boot_gdt:
    .quad 0
    .quad 0x00af9b000000ffff /* 64-bit code */
    .quad 0x00cf93000000ffff /* data */
boot_gdt_end:
    .set boot_gdt_limit, boot_gdt_end - boot_gdt - 1

    .bss
    .globl boot_pml4, boot_pdpt_low, boot_pdpt_high, boot_pd, boot_pd_kernel
    .align 4096
boot_pml4:
    .skip 4096
boot_pdpt_low: /* 4 GiB, for both the identity and the direct map */
    .skip 4096
boot_pdpt_high:
    .skip 4096
boot_pd:
    .skip 4 * 4096
boot_pd_kernel: /* for an image that is not at 2 MiB */
    .skip 4096
    .globl boot_stack_top
boot_stack:
    .skip KERNEL_STACK_BYTES
boot_stack_top:

    .section .note.GNU-stack, "", @progbits
