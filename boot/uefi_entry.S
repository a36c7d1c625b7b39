/* UEFI entry and return: uint64_t uefi_entry(struct boot_info *), System V calling convention,
 * called at its physical address in the firmware's identity mapping, with interrupts off
 * (docs/architecture/bare-metal.md; UEFI 2.10, 2.3.4 "x64 Platforms").
 *
 * uefi_saved keeps all CPU state that the kernel changes, and uefi_leave restores it, except what
 * guest/transport/uefi.c and the drivers keep themselves: local APIC, counters, serial port.
 */
#include "include/kernel_layout.h"

/* offsets in uefi_saved */
#define SAVED_VECTORS 0 /* FXSAVE's 512 bytes, aligned */
#define SAVED_RSP 512
#define SAVED_CR0 520
#define SAVED_CR3 528
#define SAVED_CR4 536
#define SAVED_XCR0 544
#define SAVED_DELTA 552 /* physical address minus address of the image */
#define SAVED_GDTR 560
#define SAVED_IDTR 576
#define SAVED_LDT 592
#define SAVED_TR 594
#define SAVED_CS 596
#define SAVED_DS 598
#define SAVED_ES 600
#define SAVED_SS 602
#define SAVED_FS 604
#define SAVED_GS 606
#define SAVED_MSRS 608
#define SAVED_MSR_COUNT 8
#define SAVED_BYTES 672

/* offsets from boot/uefi_layout.h */
#define LAYOUT_KERNEL_PHYSICAL uefi_layout
#define LAYOUT_END uefi_layout + 4
#define LAYOUT_REPORT_BYTES uefi_layout + 8
#define LAYOUT_REPORT uefi_layout + 12
#define LAYOUT_REFUSED uefi_layout + 16

#define PAGE_PRESENT_WRITE 0x003
#define PAGE_LARGE_WRITE 0x083

#define CR0_WP_BIT 16
#define CR0_PE_MP_NE_WP_PG 0x80010023
#define CR4_PAE_OSFXSR_OSXMMEXCPT 0x620
#define CR4_MCE_VMXE_SMXE 0x6040 /* unchanged, because VMXE may not be cleared in VMX operation */
#define CR4_PGE_BIT 7
#define CR4_LA57_BIT 12
#define CR4_OSXSAVE_BIT 18
#define CPUID_1_ECX_XSAVE_BIT 26
#define CPUID_EXTENDED_EDX_NX_BIT 20
#define MSR_GS_BASE 0xc0000101
#define MSR_PAT 0x277
#define PAT_DEFAULT 0x00070406 /* both halves: WB, WT, UC-, UC (SDM volume 3, "IA32_PAT MSR") */

    .section .note.microtome, "a", @note
    .align 4
    .long 10, 8, 1 /* name bytes, descriptor bytes, type: the entry's virtual address */
    .asciz "Microtome"
    .align 4
    .quad uefi_entry

    .text
    .globl uefi_entry
    .balign 16
uefi_entry: /* runs at any address: addresses are relative until uefi_high */
    endbr64
    pushfq
    cli
    cld
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    leaq uefi_saved(%rip), %r12
    movq %rdi, %r13
    call save_registers
    call save_msrs
    leaq text_place(%rip), %rsi
    leaq kernel_start(%rip), %rax
    movl LAYOUT_KERNEL_PHYSICAL(%rip), %ecx
    cmpq %rax, (%r13, %rcx)
    jne refuse
    testl $LARGE_PAGE_BYTES - 1, %eax
    jnz refuse
    orq %r13, %rax
    shrq $32, %rax
    jnz refuse
    leaq text_levels(%rip), %rsi
    btl $CR4_LA57_BIT, SAVED_CR4(%r12)
    jc refuse
    movl $0x80000001, %eax
    cpuid
    leaq text_nx(%rip), %rsi
    btl $CPUID_EXTENDED_EDX_NX_BIT, %edx
    jnc refuse
    call make_tables

    /* CR4 before CR0: WP may not be cleared while CET is on. */
    movq SAVED_CR4(%r12), %rax
    andl $CR4_MCE_VMXE_SMXE, %eax
    orl $CR4_PAE_OSFXSR_OSXMMEXCPT, %eax
    movq %rax, %cr4
    movl $CR0_PE_MP_NE_WP_PG, %eax
    movq %rax, %cr0
    movl $MSR_PAT, %ecx
    movl $PAT_DEFAULT, %eax
    movl %eax, %edx
    wrmsr
    call save_xcr0
    leaq boot_pml4(%rip), %rax
    movq %rax, %cr3
    movabs $uefi_high, %rax
    jmp *%rax
uefi_high:
    movq $boot_stack_top, %rsp
    subq $16, %rsp
    movw $boot_gdt_limit, (%rsp)
    movq $boot_gdt, 2(%rsp)
    lgdt (%rsp)
    movq $boot_stack_top, %rsp
    movl $SELECTOR_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    xorl %eax, %eax
    movl %eax, %fs
    movl %eax, %gs
    pushq $SELECTOR_KERNEL_CODE
    pushq $uefi_kernel
    lretq
uefi_kernel:
    xorl %ebp, %ebp
    movabs $DIRECT_MAP, %rdi
    addq %r13, %rdi
    call kernel_main

/* The kernel could not leave the firmware's mode and return to it; rsi says why. */
refuse:
    movl LAYOUT_REFUSED(%rip), %ebp
    movl LAYOUT_END(%rip), %ecx
    movl %ebp, (%r13, %rcx)
    movl LAYOUT_REPORT(%rip), %edi
    addq %r13, %rdi
    xorl %ecx, %ecx
1:  movb (%rsi, %rcx), %al
    movb %al, (%rdi, %rcx)
    incl %ecx
    testb %al, %al
    jnz 1b
    decl %ecx
    movl LAYOUT_REPORT_BYTES(%rip), %edx
    movl %ecx, (%r13, %rdx)
    movl %ebp, %eax
    movq SAVED_CR0(%r12), %rcx
    movq %rcx, %cr0
    jmp return

save_registers: /* also makes FXSAVE possible: CR0.TS */
    leaq 8(%rsp), %rax
    movq %rax, SAVED_RSP(%r12)
    movq %cr0, %rax
    movq %rax, SAVED_CR0(%r12)
    movq %cr3, %rax
    movq %rax, SAVED_CR3(%r12)
    movq %cr4, %rax
    movq %rax, SAVED_CR4(%r12)
    sgdt SAVED_GDTR(%r12)
    sidt SAVED_IDTR(%r12)
    sldt SAVED_LDT(%r12)
    str SAVED_TR(%r12)
    movw %cs, SAVED_CS(%r12)
    movw %ds, SAVED_DS(%r12)
    movw %es, SAVED_ES(%r12)
    movw %ss, SAVED_SS(%r12)
    movw %fs, SAVED_FS(%r12)
    movw %gs, SAVED_GS(%r12)
    movabs $uefi_saved, %rax
    movq %r12, %rdx
    subq %rax, %rdx
    movq %rdx, SAVED_DELTA(%r12)
    clts
    fxsave64 SAVED_VECTORS(%r12)
    ret

save_msrs:
    leaq saved_msrs(%rip), %rsi
    leaq SAVED_MSRS(%r12), %rdi
    movl $SAVED_MSR_COUNT, %ebx
1:  lodsl
    movl %eax, %ecx
    rdmsr
    stosl
    movl %edx, %eax
    stosl
    decl %ebx
    jnz 1b
    ret

/* The kernel needs XSAVE and reports its absence itself. */
save_xcr0:
    movl $1, %eax
    cpuid
    btl $CPUID_1_ECX_XSAVE_BIT, %ecx
    jnc 1f
    movq %cr4, %rax
    btsl $CR4_OSXSAVE_BIT, %eax
    movq %rax, %cr4
    xorl %ecx, %ecx
    xgetbv
    movl %eax, SAVED_XCR0(%r12)
    movl %edx, SAVED_XCR0 + 4(%r12)
1:  ret

/* As boot/pvh_entry.S, but for the actual address of the image. */
make_tables:
    leaq boot_pml4(%rip), %rdi
    leaq boot_pdpt_low + PAGE_PRESENT_WRITE(%rip), %rax
    movq %rax, (%rdi)
    movq %rax, 256 * 8(%rdi)
    leaq boot_pdpt_high + PAGE_PRESENT_WRITE(%rip), %rax
    movq %rax, 511 * 8(%rdi)
    leaq boot_pd_kernel + PAGE_PRESENT_WRITE(%rip), %rax
    movq %rax, boot_pdpt_high + 510 * 8(%rip)
    leaq boot_pdpt_low(%rip), %rdi
    leaq boot_pd + PAGE_PRESENT_WRITE(%rip), %rax
    movl $4, %ecx
1:  stosq
    addq $4096, %rax
    loop 1b
    leaq boot_pd(%rip), %rdi
    movl $PAGE_LARGE_WRITE, %eax
    movl $2048, %ecx
2:  stosq
    addq $LARGE_PAGE_BYTES, %rax
    loop 2b
    leaq boot_pd_kernel + KERNEL_PHYSICAL / LARGE_PAGE_BYTES * 8(%rip), %rdi
    leaq kernel_start(%rip), %rax
    leaq kernel_end(%rip), %rcx
    subq %rax, %rcx
    addq $LARGE_PAGE_BYTES - 1, %rcx
    shrq $21, %rcx
    orq $PAGE_LARGE_WRITE, %rax
3:  stosq
    addq $LARGE_PAGE_BYTES, %rax
    loop 3b
    ret

/* Implements void uefi_leave(uint32_t end): guest/transport/uefi.h. */
    .globl uefi_leave
    .balign 16
uefi_leave:
    cli
    cld
    movq $uefi_stack_top, %rsp
    movl $SELECTOR_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $MSR_GS_BASE, %ecx
    movq $cpus, %rax
    movq %rax, %rdx
    shrq $32, %rdx
    wrmsr
    movl %edi, %ebp
    call uefi_restore
    /* This may run in an NMI's handler: IRETQ lets the next NMI in while the kernel's tables can
     * still take it. */
    movq %rsp, %rax
    pushq $SELECTOR_KERNEL_DATA
    pushq %rax
    pushq $2
    pushq $SELECTOR_KERNEL_CODE
    pushq $1f
    iretq
1:  movq uefi_saved + SAVED_DELTA, %r15
    movq $uefi_saved, %r12
    addq %r15, %r12
    movq %cr4, %rax
    btrl $CR4_PGE_BIT, %eax
    movq %rax, %cr4
    movq $boot_pml4, %rax
    addq %r15, %rax
    movq %rax, %cr3
    movq $2f, %rax
    addq %r15, %rax
    jmp *%rax

/* Identity-mapped from here; there is no stack between loading CR3 and SAVED_RSP. */
2:  movq SAVED_RSP(%r12), %r14
    movq %cr4, %rax
    btl $CR4_OSXSAVE_BIT, %eax
    jnc 3f
    movl $~3, %eax /* all but x87 and SSE, which FXRSTOR restores */
    movl $~0, %edx
    leaq uefi_no_state(%rip), %rcx
    xrstor64 (%rcx)
    xorl %ecx, %ecx
    movl SAVED_XCR0(%r12), %eax
    movl SAVED_XCR0 + 4(%r12), %edx
    xsetbv
3:  fxrstor64 SAVED_VECTORS(%r12)
    movq SAVED_CR3(%r12), %rax
    andq $-4096, %rax /* a PCID is there only with CR4.PCIDE */
    movq %rax, %cr3
    /* The TSS's descriptor is busy, which must be cleared to load it, also in a read-only table. */
    movq %cr0, %rax
    btrl $CR0_WP_BIT, %eax
    movq %rax, %cr0
    lgdt SAVED_GDTR(%r12)
    lidt SAVED_IDTR(%r12)
    movzwl SAVED_TR(%r12), %ecx
    andl $0xfff8, %ecx
    jz 4f /* none can be loaded: the kernel's stays, which ring 0 does not use */
    movq SAVED_GDTR + 2(%r12), %rdx
    movb 5(%rdx, %rcx), %al
    andb $0x9d, %al
    cmpb $0x89, %al /* present, system, TSS, busy or not */
    jne 4f
    andb $0xfd, 5(%rdx, %rcx)
    ltr SAVED_TR(%r12)
4:  lldt SAVED_LDT(%r12)
    movw SAVED_DS(%r12), %ds
    movw SAVED_ES(%r12), %es
    movw SAVED_FS(%r12), %fs
    movw SAVED_GS(%r12), %gs
    movw SAVED_SS(%r12), %ss
    movq %r14, %rsp
    movzwl SAVED_CS(%r12), %eax
    pushq %rax
    leaq 5f(%rip), %rax
    pushq %rax
    lretq
5:  leaq saved_msrs(%rip), %rsi
    leaq SAVED_MSRS(%r12), %rdi
    movl $SAVED_MSR_COUNT, %ebx
6:  lodsl
    movl %eax, %ecx
    movl (%rdi), %eax
    movl 4(%rdi), %edx
    wrmsr
    addq $8, %rdi
    decl %ebx
    jnz 6b
    movq SAVED_CR0(%r12), %rax
    movq %rax, %cr0
    movq SAVED_CR4(%r12), %rax
    movq %rax, %cr4
    movq SAVED_CR3(%r12), %rax
    movq %rax, %cr3
    movl %ebp, %eax
return:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    popfq
    ret

    .section .rodata
    .align 4
saved_msrs: /* IA32_PAT, EFER, STAR, LSTAR, FMASK; FS, GS, KERNEL_GS bases */
    .long MSR_PAT, 0xc0000080, 0xc0000081, 0xc0000082, 0xc0000084
    .long 0xc0000100, MSR_GS_BASE, 0xc0000102
text_place:
    .asciz "the kernel is not where boot_info says, at a multiple of 2 MiB, or it or boot_info is above 4 GiB"
text_levels:
    .asciz "5-level paging is on: switch it off in the firmware's settings (LA57, \"5-Level Paging\")"
text_nx:
    .asciz "no-execute pages are off: switch them on in the firmware's settings (\"Execute Disable Bit\", \"NX Mode\")"

    .bss
    .align 64
uefi_saved:
    .skip SAVED_BYTES
    .align 64
uefi_no_state: /* XSAVE area with everything in its initial state */
    .skip 576
    .align 16
uefi_stack:
    .skip 8192
uefi_stack_top:

    .section .note.GNU-stack, "", @progbits
