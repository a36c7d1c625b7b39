/* Privileged and special x86-64 instructions as inline functions.  Freestanding. */
#ifndef LIB_X86_H /* a unit test has its own */
#define LIB_X86_H

#include <stdint.h>

/* Intel SDM volume 4, "Architectural MSRs" */
#define X86_MSR_EFER 0xc0000080u
#define X86_MSR_FS_BASE 0xc0000100u
#define X86_MSR_GS_BASE 0xc0000101u
#define X86_MSR_KERNEL_GS_BASE 0xc0000102u /* the program's GS base while the kernel runs */

struct cpuid_result {
    uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid_result r;
    __asm__ volatile("cpuid"
                     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                     : "a"(leaf), "c"(subleaf));
    return r;
}

static inline uint64_t x86_rdtsc(void)
{
    uint64_t low, high; /* whose upper halves it clears */

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return low | high << 32;
}

/* Returns the low half, for differences that are known to be short. */
static inline uint32_t x86_rdtsc_low(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return low;
}

static inline void x86_write_cr2(uint64_t value)
{
    __asm__ volatile("mov %0, %%cr2" : : "r"(value));
}

static inline uint64_t x86_rdmsr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
    return (uint64_t)high << 32 | low;
}

/* Reads a performance counter of the calling CPU: n, or 2^30 + n for Intel's fixed ones. */
static inline uint64_t x86_rdpmc(uint32_t counter)
{
    uint64_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter) : "memory");
    return low | high << 32;
}

static inline void x86_wrmsr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
}

/* A register's value as RDMSR gives it and WRMSR takes it. */
struct x86_halves {
    uint32_t low;
    uint32_t high;
};

static inline struct x86_halves x86_halves(uint64_t value)
{
    return (struct x86_halves){(uint32_t)value, (uint32_t)(value >> 32)};
}

static inline void x86_wrmsr_halves(uint32_t msr, const struct x86_halves *value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"(value->low), "d"(value->high) : "memory");
}

static inline struct x86_halves x86_rdmsr_halves(uint32_t msr)
{
    struct x86_halves value;

    __asm__ volatile("rdmsr" : "=a"(value.low), "=d"(value.high) : "c"(msr) : "memory");
    return value;
}

static inline uint8_t x86_in8(uint16_t port)
{
    uint8_t v;
    __asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
    return v;
}

static inline uint16_t x86_in16(uint16_t port)
{
    uint16_t v;
    __asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
    return v;
}

static inline uint32_t x86_in32(uint16_t port)
{
    uint32_t v;
    __asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port) : "memory");
    return v;
}

static inline void x86_out8(uint16_t port, uint8_t v)
{
    __asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void x86_out16(uint16_t port, uint16_t v)
{
    __asm__ volatile("outw %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void x86_out32(uint16_t port, uint32_t v)
{
    __asm__ volatile("outl %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline uint64_t x86_read_cr2(void)
{
    uint64_t v;
    __asm__ volatile("mov %%cr2, %0" : "=r"(v)::"memory");
    return v;
}

static inline uint64_t x86_read_cr3(void)
{
    uint64_t v;
    __asm__ volatile("mov %%cr3, %0" : "=r"(v)::"memory");
    return v;
}

static inline void x86_write_cr3(uint64_t v)
{
    __asm__ volatile("mov %0, %%cr3" ::"r"(v) : "memory");
}

static inline uint64_t x86_read_cr0(void)
{
    uint64_t v;
    __asm__ volatile("mov %%cr0, %0" : "=r"(v)::"memory");
    return v;
}

static inline void x86_write_cr0(uint64_t v)
{
    __asm__ volatile("mov %0, %%cr0" ::"r"(v) : "memory");
}

static inline uint64_t x86_read_cr4(void)
{
    uint64_t v;
    __asm__ volatile("mov %%cr4, %0" : "=r"(v)::"memory");
    return v;
}

static inline void x86_write_cr4(uint64_t v)
{
    __asm__ volatile("mov %0, %%cr4" ::"r"(v) : "memory");
}

static inline uint64_t x86_xgetbv(uint32_t index)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

static inline void x86_invlpg(uint64_t address)
{
    __asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
}

/* Turns a loop of two instructions.  An emulator executes thousands of them in the time that it
 * takes for one RDTSC, PAUSE or access to a device. */
static inline void x86_spin(uint64_t rounds)
{
    __asm__ volatile("1: dec %0\n\t"
                     "jnz 1b"
                     : "+r"(rounds)
                     :
                     : "cc");
}

static inline void x86_pause(void)
{
    __asm__ volatile("pause" ::: "memory");
}

/* Takes pending interrupts: STI's shadow covers the NOP only. */
static inline void x86_take_interrupts(void)
{
    __asm__ volatile("sti; nop; cli" ::: "memory");
}

/* Halts with interrupts off, until NMI, SMI or INIT. */
static inline void x86_halt(void)
{
    __asm__ volatile("cli; hlt" ::: "memory");
}

/* Enables interrupts and halts until one arrives, then disables them again.  STI's one-instruction
 * shadow makes the pair atomic, so that a wake-up between a check and the halt is not lost.  Where
 * the shadow is lost, the interrupt entry continues after the HLT
 * (guest/syscall/entry_interrupt.S).
 */
static inline void x86_wait_for_interrupt(void)
{
    __asm__ volatile("sti; hlt; cli" ::: "memory");
}

#endif
