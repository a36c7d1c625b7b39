/* PVH entry (Xen's "PVH" boot ABI): 32-bit protected mode, paging off, EBX = hvm_start_info.
 * Builds the boot page tables and enters boot_pvh() in long mode.
 */
#include "include/kernel_layout.h"

#define PHYS(symbol) (symbol - KERNEL_BASE)
#define PAGE_PRESENT_WRITE 0x003
#define PAGE_LARGE_WRITE 0x083
#define CR0_PE_MP_NE_WP_PG 0x80010023
#define CR4_PAE 0x20
#define MSR_EFER 0xc0000080
#define EFER_SCE_LME_NXE 0x901

/* From 32-bit protected mode: CR3 = boot_pml4, long mode, paging (Intel SDM volume 3, "Initializing
 * IA-32e Mode").  Needs no stack: PVH gives none.
 */
.macro LONG_MODE_ON
    movl $CR4_PAE, %eax
    movl %eax, %cr4
    movl $PHYS(boot_pml4), %eax
    movl %eax, %cr3
    movl $MSR_EFER, %ecx
    movl $EFER_SCE_LME_NXE, %eax
    xorl %edx, %edx
    wrmsr
    movl $CR0_PE_MP_NE_WP_PG, %eax
    movl %eax, %cr0
.endm

    .section .note.pvh, "a", @note
    .align 4
    .long 4, 8, 18 /* name bytes, descriptor bytes, XEN_ELFNOTE_PHYS32_ENTRY */
    .asciz "Xen"
    .quad PHYS(pvh_entry)

    .section .text.boot, "ax"
    .code32
    .globl pvh_entry
pvh_entry:
    cli
    cld
    movl %ebx, %esi

    /* PML4: identity and direct map share a table of 4 GiB; the kernel sees the first GiB. */
    movl $PHYS(boot_pdpt_low) + PAGE_PRESENT_WRITE, %eax
    movl %eax, PHYS(boot_pml4)
    movl %eax, PHYS(boot_pml4) + 256 * 8
    movl $PHYS(boot_pdpt_high) + PAGE_PRESENT_WRITE, PHYS(boot_pml4) + 511 * 8
    movl $PHYS(boot_pd) + PAGE_PRESENT_WRITE, %eax
    movl %eax, PHYS(boot_pdpt_high) + 510 * 8
    movl $PHYS(boot_pdpt_low), %edi
    movl $4, %ecx
1:  movl %eax, (%edi)
    addl $4096, %eax
    addl $8, %edi
    loop 1b
    movl $PHYS(boot_pd), %edi
    movl $PAGE_LARGE_WRITE, %eax
    movl $2048, %ecx
2:  movl %eax, (%edi)
    addl $LARGE_PAGE_BYTES, %eax
    addl $8, %edi
    loop 2b

    LONG_MODE_ON
    lgdt PHYS(boot_gdt_pointer)
    ljmp $SELECTOR_KERNEL_CODE, $PHYS(pvh_long)

    .code64
pvh_long:
    movabs $pvh_high, %rax
    jmp *%rax
pvh_high:
    movl $SELECTOR_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    xorl %eax, %eax
    movl %eax, %fs
    movl %eax, %gs
    movq $boot_stack_top, %rsp
    xorl %ebp, %ebp
    movl %esi, %edi
    call boot_pvh
1:  hlt
    jmp 1b

/* What the other CPUs run, copied to TRAMPOLINE_PHYSICAL: real mode to cpu_secondary_main(). */
    .section .rodata
    .globl trampoline_start, trampoline_end
    .code16
trampoline_start:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    lgdtl TRAMPOLINE_PHYSICAL + trampoline_gdt_pointer - trampoline_start
    movl %cr0, %eax
    orl $1, %eax
    movl %eax, %cr0
    ljmpl $0x18, $TRAMPOLINE_PHYSICAL + trampoline_32 - trampoline_start
    .code32
trampoline_32:
    movl $SELECTOR_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    LONG_MODE_ON
    ljmpl $SELECTOR_KERNEL_CODE, $TRAMPOLINE_PHYSICAL + trampoline_64 - trampoline_start
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
trampoline_gdt_pointer:
    .word 31
    .long TRAMPOLINE_PHYSICAL + trampoline_gdt - trampoline_start
trampoline_end:

    .data
    .align 8
boot_gdt:
    .quad 0
    .quad 0x00af9b000000ffff
    .quad 0x00cf93000000ffff
boot_gdt_pointer:
    .word 23
    .long PHYS(boot_gdt)
    .globl trampoline_stack
    .align 8
trampoline_stack: /* stack top for the CPU being started */
    .quad 0

    .bss
    .align 4096
boot_pml4:
    .skip 4096
boot_pdpt_low:
    .skip 4096
boot_pdpt_high:
    .skip 4096
boot_pd:
    .skip 4 * 4096
    .globl boot_stack_top
boot_stack:
    .skip KERNEL_STACK_BYTES
boot_stack_top:

    .section .note.GNU-stack, "", @progbits
