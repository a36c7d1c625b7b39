/* PVH entry (Xen's "PVH" boot ABI): 32-bit protected mode, paging off, EBX = hvm_start_info.
 * Builds the boot page tables and enters pvh_boot() in long mode.
 */
#include "boot/long_mode.inc"
#include "include/kernel_layout.h"

#define PHYS(symbol) (symbol - KERNEL_BASE)
#define PAGE_PRESENT_WRITE 0x003
#define PAGE_LARGE_WRITE 0x083

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

    movl $PHYS(boot_pml4), %eax
    LONG_MODE_ON
    lgdt PHYS(pvh_gdt_pointer)
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
    call pvh_boot
1:  hlt
    jmp 1b

    .data
    .align 8
pvh_gdt_pointer:
    .word boot_gdt_limit
    .long PHYS(boot_gdt)

    .section .note.GNU-stack, "", @progbits
