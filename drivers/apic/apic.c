/* The local APIC in xAPIC or x2APIC mode, its timer, and the start of other CPUs. */
#include "drivers/apic/apic.h"

#include <stddef.h>

#include "drivers/platform.h"

/* SDM volume 4, table "IA-32 Architectural MSRs" */
enum {
    MSR_APIC_BASE = 0x1b,
    MSR_X2APIC_ICR = 0x830,
};
#define APIC_BASE_ENABLE (1u << 11)
#define APIC_BASE_X2APIC (1u << 10)
#define APIC_BASE_ADDRESS 0x000ffffffffff000ull

/* registers that only this file touches; SDM volume 3, "Local APIC Register Address Map" */
enum {
    APIC_LVT_CMCI = 0x2f0,
    APIC_LVT_THERMAL = 0x330,
};

enum {
    SPURIOUS_ENABLE = 1 << 8,
    LVT_MASKED = 1 << 16,
    LVT_TSC_DEADLINE = 2 << 17, /* bits 18:17; one-shot is 0 */
    ICR_INIT = 0x4500, /* assert, edge, physical */
    ICR_STARTUP = 0x4600,
    ICR_FIXED = 0x4000,
    ICR_NMI = 0x4400,
    ICR_PENDING = 1 << 12,
    TIMER_DIVIDE_BY_1 = 0xb,
};

#define CPUID_1_ECX_X2APIC (1u << 21)
#define CPUID_1_ECX_TSC_DEADLINE (1u << 24)
#define APIC_PAGE_BYTES 4096
#define ONE_COUNT_PER_TICK (1ull << 32)

struct apic_state apic;

/* Stores before, and in x2APIC mode WRMSR itself, are not ordered against what follows. */
static void serialize(void)
{
    __asm__ volatile("mfence; lfence" ::: "memory");
}

void apic_init(uint64_t physical_base)
{
    uint64_t base = x86_rdmsr(MSR_APIC_BASE);

    apic.registers = NULL;
    if (x86_cpuid(1, 0).ecx & CPUID_1_ECX_X2APIC || base & APIC_BASE_X2APIC)
        return;
    if (base & APIC_BASE_ADDRESS)
        physical_base = base & APIC_BASE_ADDRESS;
    apic.registers = platform_map_device(physical_base, APIC_PAGE_BYTES);
}

/* x2APIC mode is entered from xAPIC mode only; SDM volume 3, "x2APIC State Transitions". */
static void enter_mode(void)
{
    uint64_t base = x86_rdmsr(MSR_APIC_BASE);

    if (!(base & APIC_BASE_ENABLE)) {
        base |= APIC_BASE_ENABLE;
        x86_wrmsr(MSR_APIC_BASE, base);
    }
    if (!apic.registers && !(base & APIC_BASE_X2APIC))
        x86_wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
}

static void mask_local_vectors(void)
{
    uint32_t last = apic_read(APIC_VERSION) >> 16 & 0xff; /* number of entries - 1 */

    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_LVT_LINT0, LVT_MASKED);
    apic_write(APIC_LVT_LINT1, LVT_MASKED);
    apic_write(APIC_LVT_ERROR, LVT_MASKED);
    if (last >= 4)
        apic_write(APIC_LVT_PMI, LVT_MASKED);
    if (last >= 5)
        apic_write(APIC_LVT_THERMAL, LVT_MASKED);
    if (last >= 6)
        apic_write(APIC_LVT_CMCI, LVT_MASKED);
}

void apic_enable(uint8_t spurious_vector)
{
    enter_mode();
    mask_local_vectors();
    apic_write(APIC_TPR, 0);
    apic_write(APIC_SPURIOUS, SPURIOUS_ENABLE | spurious_vector);
}

uint32_t apic_id(void)
{
    uint32_t id = apic_read(APIC_ID);

    return apic.registers ? id >> 24 : id;
}

/* Timer counts per TSC tick as 32.32 fixed point over about 1 ms. */
static uint64_t measure_rate(uint64_t window_ticks)
{
    uint64_t start = x86_rdtsc();
    apic_write(APIC_TIMER_INITIAL, 0xffffffff);
    uint64_t armed = x86_rdtsc();

    while (x86_rdtsc() - armed < window_ticks)
        x86_pause();
    uint64_t before = x86_rdtsc();
    uint32_t counts = 0xffffffff - apic_read(APIC_TIMER_CURRENT);
    uint64_t after = x86_rdtsc();
    apic_write(APIC_TIMER_INITIAL, 0);
    uint64_t ticks = (before + (after - before) / 2) - (start + (armed - start) / 2);
    return ticks ? ((uint64_t)counts << 32) / ticks : 0;
}

/* Anything that interrupts a measurement spreads the three apart: the middle one is the best. */
static uint64_t median_rate(uint64_t window_ticks)
{
    uint64_t a = measure_rate(window_ticks);
    uint64_t b = measure_rate(window_ticks);
    uint64_t c = measure_rate(window_ticks);
    uint64_t low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

void apic_timer_calibrate(uint64_t tsc_hz, bool virtual_time)
{
    apic.tsc_deadline = (x86_cpuid(1, 0).ecx & CPUID_1_ECX_TSC_DEADLINE) != 0;
    apic.count_multiplier = ONE_COUNT_PER_TICK;
    if (virtual_time || apic.tsc_deadline)
        return;
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_TIMER_DIVIDE, TIMER_DIVIDE_BY_1);
    uint64_t rate = median_rate(tsc_hz / 1000);
    if (rate == 0)
        platform_log("the local APIC timer does not count: assuming the TSC's rate");
    else /* apic_timer_arm multiplies by it less than 2^31 ticks, in 64 bits */
        apic.count_multiplier = rate < 1ull << 33 ? rate : 1ull << 33;
}

void apic_timer_setup(uint8_t vector)
{
    if (apic.tsc_deadline) {
        apic_write(APIC_LVT_TIMER, LVT_TSC_DEADLINE | vector);
        serialize(); /* SDM volume 3, "TSC-Deadline Mode": before the first write of the MSR */
        return;
    }
    apic_write(APIC_TIMER_DIVIDE, TIMER_DIVIDE_BY_1);
    apic_write(APIC_LVT_TIMER, vector);
}

static void send_command(uint32_t to_apic_id, uint32_t command)
{
    serialize();
    if (!apic.registers) {
        x86_wrmsr(MSR_X2APIC_ICR, (uint64_t)to_apic_id << 32 | command);
        return;
    }
    while (apic_read(APIC_ICR_LOW) & ICR_PENDING)
        x86_pause();
    apic_write(APIC_ICR_HIGH, to_apic_id << 24);
    apic_write(APIC_ICR_LOW, command);
}

void apic_send(uint32_t to_apic_id, uint8_t vector)
{
    send_command(to_apic_id, ICR_FIXED | vector);
}

void apic_send_nmi(uint32_t to_apic_id)
{
    send_command(to_apic_id, ICR_NMI);
}

void apic_start_cpu(uint32_t to_apic_id, uint8_t page, void (*delay_us)(uint64_t us))
{
    send_command(to_apic_id, ICR_INIT);
    delay_us(10000);
    send_command(to_apic_id, ICR_STARTUP | page);
    delay_us(200);
    send_command(to_apic_id, ICR_STARTUP | page);
    delay_us(200);
}
