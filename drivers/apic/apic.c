/* The local APIC in xAPIC or x2APIC mode, its timer, and the start of other CPUs. */
#include "drivers/apic/apic.h"

#include "drivers/apic/apic_regs.h"
#include "drivers/platform.h"

#define CPUID_1_ECX_X2APIC (1u << 21)
#define SPINS 1024 /* between two looks at the TSC */
#define ONE_COUNT_PER_TICK (1ull << 32)

struct apic_state apic;

/* Vectors of lower classes are the firmware's: its interrupts stay pending until apic_restore. */
#define PRIORITY_ABOVE_FIRMWARE ((APIC_OWN_VECTORS - 1) & 0xf0)

void apic_order(void)
{
    __asm__ volatile("mfence; lfence" ::: "memory");
}

void apic_init(uint64_t physical_base, bool x2apic_opt_out)
{
    uint64_t base = x86_rdmsr(MSR_APIC_BASE);

    apic.registers = NULL;
    if (base & APIC_BASE_X2APIC || (x86_cpuid(1, 0).ecx & CPUID_1_ECX_X2APIC && !x2apic_opt_out))
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
    if (apic.registers == NULL && !(base & APIC_BASE_X2APIC))
        x86_wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
}

void apic_mask_all(void)
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
    apic_mask_all();
    apic_write(APIC_TPR, PRIORITY_ABOVE_FIRMWARE);
    apic_write(APIC_SPURIOUS, SPURIOUS_ENABLE | spurious_vector);
}

uint32_t apic_id(void)
{
    uint32_t id = apic_read(APIC_ID);

    return apic.registers != NULL ? id >> 24 : id;
}

/* Timer counts per TSC tick as 32.32 fixed point over about 1 ms. */
static uint64_t measure_rate(uint64_t window_ticks)
{
    uint64_t start = x86_rdtsc(), armed, before, after, ticks;
    uint32_t counts;

    apic_write(APIC_TIMER_INITIAL, 0xffffffff);
    armed = x86_rdtsc();
    while (x86_rdtsc() - armed < window_ticks)
        x86_spin(SPINS);
    before = x86_rdtsc();
    counts = 0xffffffff - apic_read(APIC_TIMER_CURRENT);
    after = x86_rdtsc();
    apic_write(APIC_TIMER_INITIAL, 0);
    ticks = (before + (after - before) / 2) - (start + (armed - start) / 2);
    return ticks ? ((uint64_t)counts << 32) / ticks : 0;
}

/* An interruption spreads the three measurements apart: the middle one is the best. */
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
    uint64_t rate;

    apic.tsc_deadline = (x86_cpuid(1, 0).ecx & CPUID_1_ECX_TSC_DEADLINE) != 0;
    apic.count_multiplier = ONE_COUNT_PER_TICK;
    if (virtual_time || apic.tsc_deadline)
        return;
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_TIMER_DIVIDE, TIMER_DIVIDE_BY_1);
    rate = median_rate(tsc_hz / 1000);
    if (rate == 0)
        platform_log("the local APIC timer does not count: assuming the TSC's rate");
    else /* apic_timer_arm multiplies by it less than 2^31 ticks, in 64 bits */
        apic.count_multiplier = rate < 1ull << 33 ? rate : 1ull << 33;
}

void apic_timer_setup(uint8_t vector)
{
    if (apic.tsc_deadline) {
        apic_write(APIC_LVT_TIMER, LVT_TSC_DEADLINE | vector);
        apic_order(); /* SDM volume 3, "TSC-Deadline Mode": before the first write of the MSR */
        return;
    }
    apic_write(APIC_TIMER_DIVIDE, TIMER_DIVIDE_BY_1);
    apic_write(APIC_LVT_TIMER, vector);
}

void apic_timer_repeat(uint8_t vector, bool periodic)
{
    apic_write(APIC_LVT_TIMER, (periodic ? LVT_PERIODIC : 0u) | vector);
}

static void send_command(uint32_t to_apic_id, uint32_t command)
{
    apic_order();
    if (apic.registers == NULL) {
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

void apic_send_self(uint8_t vector)
{
    send_command(0, ICR_SELF | ICR_FIXED | vector);
}

void apic_send_init(uint32_t to_apic_id)
{
    send_command(to_apic_id, ICR_INIT);
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
