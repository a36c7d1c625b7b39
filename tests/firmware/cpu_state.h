/* The state of the CPU and its local APIC that a call of the kernel must leave as it was. */
#ifndef TESTS_FIRMWARE_CPU_STATE_H
#define TESTS_FIRMWARE_CPU_STATE_H

#include <efi.h>

#include "lib/x86.h"

#define APIC_BASE_X2APIC (1u << 10)

struct cpu_state { /* words, for a comparison one by one */
    UINT64 cr0, cr3, cr4, rflags, gdtr[2], idtr[2];
    UINT64 ldt, tr, cs, ds, es, ss, fs, gs;
    UINT64 efer, pat, star, lstar, fmask, fs_base, gs_base, kernel_gs_base;
    UINT64 xcr0, mxcsr, fcw;
    UINT64 apic_base, tpr, spurious, ldr, lvt[7], divide, initial; /* 27 on */
    UINT64 pic_masks, uart_line, uart_modem, uart_interrupts;
    UINT64 counters_on, fixed_on, counter_select, debug_control; /* of Intel's PMU, version 2 on */
};
#define CPU_STATE_WORDS (sizeof(struct cpu_state) / sizeof(UINT64))

static inline UINT32 apic_register(UINT32 offset)
{
    UINT64 base = x86_rdmsr(0x1b);

    if (base & APIC_BASE_X2APIC)
        return (UINT32)x86_rdmsr(0x800 + offset / 16);
    return *(volatile UINT32 *)((base & 0xffffff000) + offset);
}

static inline void apic_write(UINT32 offset, UINT32 value)
{
    UINT64 base = x86_rdmsr(0x1b);

    if (base & APIC_BASE_X2APIC)
        x86_wrmsr(0x800 + offset / 16, value);
    else
        *(volatile UINT32 *)((base & 0xffffff000) + offset) = value;
}

/* Are there vectors that were delivered and not ended? */
static inline UINTN apic_in_service(void)
{
    UINTN count = 0;

    for (UINT32 i = 0; i < 8; i++)
        count += apic_register(0x100 + i * 0x10) != 0;
    return count;
}

static inline void cpu_state_read_apic(struct cpu_state *s)
{
    static const UINT16 entries[7] = {0x2f0, 0x320, 0x330, 0x340, 0x350, 0x360, 0x370};
    UINT32 last = apic_register(0x30) >> 16 & 0xff;

    s->apic_base = x86_rdmsr(0x1b);
    s->tpr = apic_register(0x80);
    s->spurious = apic_register(0xf0);
    s->ldr = apic_register(0xd0);
    for (UINTN i = 0; i < 7; i++) /* the first is there when there are more than six */
        s->lvt[i] = i || last >= 6 ? apic_register(entries[i]) & ~0x1000u : 0;
    s->divide = apic_register(0x3e0);
    s->initial = apic_register(0x380);
}

/* Intel's, of version 2 or later */
static inline BOOLEAN has_counters(void)
{
    struct cpuid_result vendor = x86_cpuid(0, 0);

    if (vendor.ebx != 0x756e6547 || vendor.eax < 0x0a) /* "Genu" */
        return FALSE;
    return (x86_cpuid(0x0a, 0).eax & 0xff) >= 2;
}

static inline BOOLEAN counters_are_on(void)
{
    return has_counters() && (x86_rdmsr(0x38d) || x86_rdmsr(0x186));
}

static inline void cpu_state_read_counters(struct cpu_state *s)
{
    if (!has_counters())
        return;
    s->counters_on = x86_rdmsr(0x38f);
    s->fixed_on = x86_rdmsr(0x38d);
    s->counter_select = x86_rdmsr(0x186);
    s->debug_control = x86_rdmsr(0x1d9);
}

#define READ_SEGMENT(name) __asm__("mov %%" #name ", %0" : "=r"(s->name))

static inline void cpu_state_read(struct cpu_state *s)
{
    struct __attribute__((packed)) {
        UINT16 limit;
        UINT64 base;
    } table;
    UINT32 mxcsr;
    UINT16 fcw;

    *s = (struct cpu_state){0};
    __asm__ volatile("mov %%cr0, %0" : "=r"(s->cr0));
    __asm__ volatile("mov %%cr3, %0" : "=r"(s->cr3));
    __asm__ volatile("mov %%cr4, %0" : "=r"(s->cr4));
    __asm__ volatile("pushfq; popq %0" : "=r"(s->rflags));
    s->rflags &= 0x300700; /* IF, DF, TF, ID and IOPL's neighbours: no results */
    __asm__ volatile("sgdt %0" : "=m"(table));
    s->gdtr[0] = table.limit;
    s->gdtr[1] = table.base;
    __asm__ volatile("sidt %0" : "=m"(table));
    s->idtr[0] = table.limit;
    s->idtr[1] = table.base;
    __asm__ volatile("sldt %0" : "=r"(s->ldt));
    __asm__ volatile("str %0" : "=r"(s->tr));
    READ_SEGMENT(cs);
    READ_SEGMENT(ds);
    READ_SEGMENT(es);
    READ_SEGMENT(ss);
    READ_SEGMENT(fs);
    READ_SEGMENT(gs);
    s->efer = x86_rdmsr(0xc0000080);
    s->pat = x86_rdmsr(0x277);
    s->star = x86_rdmsr(0xc0000081);
    s->lstar = x86_rdmsr(0xc0000082);
    s->fmask = x86_rdmsr(0xc0000084);
    s->fs_base = x86_rdmsr(0xc0000100);
    s->gs_base = x86_rdmsr(0xc0000101);
    s->kernel_gs_base = x86_rdmsr(0xc0000102);
    if (s->cr4 & 1u << 18)
        s->xcr0 = x86_xgetbv(0);
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(fcw));
    s->mxcsr = mxcsr;
    s->fcw = fcw;
    cpu_state_read_apic(s);
    cpu_state_read_counters(s);
    s->pic_masks = x86_in8(0x21) | (UINT64)x86_in8(0xa1) << 8;
    s->uart_line = x86_in8(0x3fb);
    s->uart_modem = x86_in8(0x3fc);
    s->uart_interrupts = x86_in8(0x3f9);
}

#endif
