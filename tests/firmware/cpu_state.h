/* The state of the CPU and its local APIC that a call of the kernel must leave as it was. */
#ifndef TESTS_FIRMWARE_CPU_STATE_H
#define TESTS_FIRMWARE_CPU_STATE_H

#include <efi.h>

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

static inline UINT64 read_msr(UINT32 msr)
{
    UINT32 low, high;

    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (UINT64)high << 32 | low;
}

static inline UINT8 read_port(UINT16 port)
{
    UINT8 value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline UINT32 apic_register(UINT32 offset)
{
    UINT64 base = read_msr(0x1b);

    if (base & APIC_BASE_X2APIC)
        return (UINT32)read_msr(0x800 + offset / 16);
    return *(volatile UINT32 *)((base & 0xffffff000) + offset);
}

static inline void apic_write(UINT32 offset, UINT32 value)
{
    UINT64 base = read_msr(0x1b);

    if (base & APIC_BASE_X2APIC)
        __asm__ volatile("wrmsr" ::"c"(0x800 + offset / 16), "a"(value), "d"(0));
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

    s->apic_base = read_msr(0x1b);
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
    UINT32 leaf = 0x0a, low, high, c, d;

    __asm__ volatile("cpuid" : "=a"(low), "=b"(high), "=c"(c), "=d"(d) : "a"(0));
    if (high != 0x756e6547 || low < leaf) /* "Genu" */
        return FALSE;
    __asm__ volatile("cpuid" : "=a"(low), "=b"(high), "=c"(c), "=d"(d) : "a"(leaf));
    return (low & 0xff) >= 2;
}

static inline BOOLEAN counters_are_on(void)
{
    return has_counters() && (read_msr(0x38d) || read_msr(0x186));
}

static inline void cpu_state_read_counters(struct cpu_state *s)
{
    if (!has_counters())
        return;
    s->counters_on = read_msr(0x38f);
    s->fixed_on = read_msr(0x38d);
    s->counter_select = read_msr(0x186);
    s->debug_control = read_msr(0x1d9);
}

#define READ_SEGMENT(name) __asm__("mov %%" #name ", %0" : "=r"(s->name))

static inline void cpu_state_read(struct cpu_state *s)
{
    struct __attribute__((packed)) {
        UINT16 limit;
        UINT64 base;
    } table;
    UINT32 mxcsr, low = 0, high = 0;
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
    s->efer = read_msr(0xc0000080);
    s->pat = read_msr(0x277);
    s->star = read_msr(0xc0000081);
    s->lstar = read_msr(0xc0000082);
    s->fmask = read_msr(0xc0000084);
    s->fs_base = read_msr(0xc0000100);
    s->gs_base = read_msr(0xc0000101);
    s->kernel_gs_base = read_msr(0xc0000102);
    if (s->cr4 & 1u << 18)
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    s->xcr0 = (UINT64)high << 32 | low;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(fcw));
    s->mxcsr = mxcsr;
    s->fcw = fcw;
    cpu_state_read_apic(s);
    cpu_state_read_counters(s);
    s->pic_masks = read_port(0x21) | (UINT64)read_port(0xa1) << 8;
    s->uart_line = read_port(0x3fb);
    s->uart_modem = read_port(0x3fc);
    s->uart_interrupts = read_port(0x3f9);
}

#endif
