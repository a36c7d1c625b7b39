/* The clock driver: each source of the TSC's frequency, and their order. */
#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_x86.h"

#include "drivers/clock/clock.c"
#include "drivers/clock/tsc_calibrate.c"

#include <string.h>

#include "tests/unit/test.h"

#define TSC_HZ 2500000000ull

static struct {
    struct cpuid_result leaf_0, leaf_1, leaf_15h, leaf_16h, leaf_hv, leaf_hv_1, leaf_hv_10h;
    uint64_t tsc;
    uint64_t tsc_step;
    const uint64_t *script; /* readings of the TSC, when not NULL */
    unsigned script_left;
    uint64_t kvmclock_msr;
    uint32_t hpet_period_fs;
    bool hpet_stuck, pm_timer_stuck, pit_stuck;
    bool hpet_enabled;
    uint8_t pit_gate;
    unsigned logged;
    uint8_t hpet[1024];
    unsigned pit_reads;
    uint16_t pit_latch;
} fake;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    switch (leaf) {
    case 0:
        return fake.leaf_0;
    case 1:
        return fake.leaf_1;
    case 0x15:
        return fake.leaf_15h;
    case 0x16:
        return fake.leaf_16h;
    case 0x40000000:
        return fake.leaf_hv;
    case 0x40000001:
        return fake.leaf_hv_1;
    case 0x40000010:
        return fake.leaf_hv_10h;
    default:
        fail_msg("CPUID %x", leaf);
        return (struct cpuid_result){0};
    }
}

uint64_t x86_rdtsc(void)
{
    if (!fake.script)
        return fake.tsc += fake.tsc_step;
    assert_true(fake.script_left > 0);
    fake.script_left--;
    return *fake.script++;
}

void x86_wrmsr(uint32_t msr, uint64_t value)
{
    assert_int_equal(msr, 0x4b564d01);
    fake.kvmclock_msr = value;
    if (!(value & 1))
        return;
    assert_int_equal(value & 0x1e, 0); /* within a page, aligned */
    struct kvm_time *time = (struct kvm_time *)(uintptr_t)(value & ~1ull);
    time->tsc_to_ns_mul = 0xcccccccd; /* 0.8 ns a tick after the shift by -1: 2.5 GHz */
    time->tsc_shift = -1;
}

static uint64_t elapsed(uint64_t hz)
{
    return (uint64_t)((unsigned __int128)fake.tsc * hz / TSC_HZ);
}

uint32_t x86_in32(uint16_t port)
{
    assert_int_equal(port, 0x608);
    return fake.pm_timer_stuck ? 5 : elapsed(3579545) & 0xffffff;
}

uint8_t x86_in8(uint16_t port)
{
    if (port == 0x61)
        return fake.pit_gate;
    assert_int_equal(port, 0x42);
    return (uint8_t)(fake.pit_reads++ % 2 ? fake.pit_latch >> 8 : fake.pit_latch);
}

void x86_out8(uint16_t port, uint8_t v)
{
    if (port == 0x61)
        fake.pit_gate = v;
    if (port == 0x43 && v == 0x80)
        assert_int_equal(fake.pit_gate, 0x31);
    if (port == 0x43 && v == 0x80)
        fake.pit_latch = fake.pit_stuck ? 7 : (uint16_t)(0xffff - elapsed(1193182));
}

uint32_t mmio_read32(const volatile void *at)
{
    size_t offset = (size_t)((const volatile uint8_t *)at - fake.hpet);

    if (offset == 4)
        return fake.hpet_period_fs;
    if (offset == 0x10)
        return 2;
    assert_int_equal(offset, 0xf0);
    assert_true(fake.hpet_enabled);
    return fake.hpet_stuck ? 9 : (uint32_t)(0xfffff000u + elapsed(100000000)); /* wraps soon */
}

void mmio_write32(volatile void *at, uint32_t value)
{
    assert_ptr_equal(at, fake.hpet + 0x10);
    assert_int_equal(value, fake.hpet_enabled ? 2 : 3);
    fake.hpet_enabled = value & 1;
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    assert_int_equal(physical, 0xfed00000);
    assert_int_equal(bytes, sizeof fake.hpet);
    return fake.hpet;
}

uint64_t platform_physical_address(const void *pointer)
{
    return (uintptr_t)pointer;
}

void platform_log(const char *format, ...)
{
    (void)format;
    fake.logged++;
}

static const struct acpi_machine machine = {
    .hpet_base = 0xfed00000, .pm_timer_port = 0x608, .cpu_count = 1};

static int reset_fake(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.tsc_step = 50;
    fake.leaf_0.eax = 0x16;
    fake.hpet_period_fs = 10000000;
    fake.pit_gate = 0x32;
    return 0;
}

static void hypervisor(uint32_t max_leaf, const char *signature)
{
    fake.leaf_1.ecx = 1u << 31;
    fake.leaf_hv.eax = max_leaf;
    memcpy(&fake.leaf_hv.ebx, signature, 4);
    memcpy(&fake.leaf_hv.ecx, signature + 4, 4);
    memcpy(&fake.leaf_hv.edx, signature + 8, 4);
    fake.leaf_hv_1.eax = 1 << 3;
}

static void assert_clock(bool may_be_virtual, uint64_t low_hz, uint64_t high_hz, uint32_t method)
{
    struct clock_source clock;

    clock_find(&machine, may_be_virtual, &clock);
    assert_in_range(clock.hz, low_hz, high_hz);
    assert_int_equal(clock.method, method);
    assert_int_equal(clock.virtual_time, method == HR_CLOCK_VIRTUAL);
}

/* What the nine loops' eighteen readings are in virtual time, the loop `odd` taking longer. */
static void script_loops(uint64_t *readings, int odd)
{
    static const uint64_t rounds[] = {1000, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000};
    uint64_t now = 123456;

    for (int i = 0; i < 9; i++) {
        readings[2 * i] = now;
        now += 2 * rounds[i] + 3 + (i == odd);
        readings[2 * i + 1] = now;
        now += 40;
    }
    fake.script = readings;
    fake.script_left = 18;
}

static void virtual_time_is_verified(void **state)
{
    uint64_t readings[18];

    (void)state;
    script_loops(readings, -1);
    assert_clock(true, 1000000000, 1000000000, HR_CLOCK_VIRTUAL);
    assert_int_equal(fake.script_left, 0);
}

static void one_loop_that_takes_longer_is_not_virtual_time(void **state)
{
    (void)state;
    for (int odd = 1; odd < 9; odd++) {
        uint64_t readings[18];
        script_loops(readings, odd);
        assert_false(virtual_time_holds());
    }
    fake.script = NULL;
}

static void hardware_is_not_virtual_time(void **state)
{
    (void)state;
    assert_clock(true, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
}

static void cpuid_15h_comes_first(void **state)
{
    (void)state;
    fake.leaf_15h = (struct cpuid_result){.eax = 2, .ebx = 216, .ecx = 24000000};
    fake.leaf_16h.eax = 2500;
    assert_clock(false, 2592000000, 2592000000, HR_CLOCK_CPUID_15H);
    fake.leaf_15h.ecx = 0; /* the crystal is not told */
    assert_clock(false, 2500000000, 2500000000, HR_CLOCK_CPUID_16H);
    fake.leaf_0.eax = 0xd; /* then the leaves do not exist */
    assert_clock(false, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
}

/* An i7-6700HQ: 2592 MHz, which leaf 16H calls 2600. */
static void clients_of_skylake_have_a_crystal_of_24_mhz(void **state)
{
    static const uint32_t signatures[] = {0x406e3, 0x506e3, 0x806ea, 0x906ed, 0};

    (void)state;
    fake.leaf_0.ebx = 0x756e6547;
    fake.leaf_15h = (struct cpuid_result){.eax = 2, .ebx = 216};
    fake.leaf_16h.eax = 2600;
    for (unsigned i = 0; signatures[i]; i++) {
        fake.leaf_1.eax = signatures[i];
        assert_clock(false, 2592000000, 2592000000, HR_CLOCK_CPUID_15H);
    }
    fake.leaf_1.ecx = 1u << 31; /* a hypervisor may scale the TSC */
    assert_clock(false, 2600000000, 2600000000, HR_CLOCK_CPUID_16H);
    fake.leaf_1 = (struct cpuid_result){.eax = 0x50654}; /* a server */
    assert_clock(false, 2600000000, 2600000000, HR_CLOCK_CPUID_16H);
    fake.leaf_1.eax = 0x506e3;
    fake.leaf_0.ebx = 0x68747541; /* "Auth" */
    assert_clock(false, 2600000000, 2600000000, HR_CLOCK_CPUID_16H);
}

static void hypervisor_leaf_only_where_there_is_one(void **state)
{
    (void)state;
    hypervisor(0x40000010, "VMwareVMware");
    fake.leaf_hv_10h.eax = 2345678;
    assert_clock(false, 2345678000, 2345678000, HR_CLOCK_HYPERVISOR);
    fake.leaf_hv.eax = 0x40000001;
    assert_clock(false, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
    fake.leaf_hv.eax = 0x40000010;
    fake.leaf_1.ecx = 0; /* no hypervisor at all */
    assert_clock(false, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
}

static void kvmclock_only_under_kvm(void **state)
{
    (void)state;
    hypervisor(0x40000001, "KVMKVMKVM\0\0\0");
    assert_clock(false, 2499999990, 2500000010, HR_CLOCK_KVMCLOCK);
    assert_int_equal(fake.kvmclock_msr, 0); /* switched off again */
    fake.leaf_hv_1.eax = 0;
    assert_clock(false, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
    hypervisor(0x40000001, "TCGTCGTCGTCG");
    assert_clock(false, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
}

static void timers_are_tried_in_turn(void **state)
{
    (void)state;
    fake.hpet_stuck = true;
    assert_clock(false, 2499000000, 2501000000, HR_CLOCK_CALIBRATED);
    fake.hpet_period_fs = 0;
    fake.pm_timer_stuck = true;
    fake.tsc_step = 500;
    assert_clock(false, 2490000000, 2510000000, HR_CLOCK_CALIBRATED);
    assert_int_equal(fake.logged, 0);
    assert_in_range(fake.pit_reads, 2, UINT32_MAX);
    fake.pit_stuck = true;
    fake.tsc_step = 1 << 20;
    assert_clock(false, 1000000000, 1000000000, HR_CLOCK_CALIBRATED);
    assert_int_equal(fake.logged, 1);
    assert_false(fake.hpet_enabled); /* as they were */
    assert_int_equal(fake.pit_gate, 0x32);
}

static void delay_takes_its_time(void **state)
{
    (void)state;
    fake.leaf_16h.eax = 2500;
    assert_clock(false, 2500000000, 2500000000, HR_CLOCK_CPUID_16H);
    uint64_t start = fake.tsc;
    clock_delay_us(100);
    assert_in_range(fake.tsc - start, 250000, 250200);
    uint64_t us = clock_us();
    fake.tsc += 2500 * 1000;
    assert_in_range(clock_us() - us, 1000, 1001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(virtual_time_is_verified, reset_fake),
        cmocka_unit_test_setup(one_loop_that_takes_longer_is_not_virtual_time, reset_fake),
        cmocka_unit_test_setup(hardware_is_not_virtual_time, reset_fake),
        cmocka_unit_test_setup(cpuid_15h_comes_first, reset_fake),
        cmocka_unit_test_setup(clients_of_skylake_have_a_crystal_of_24_mhz, reset_fake),
        cmocka_unit_test_setup(hypervisor_leaf_only_where_there_is_one, reset_fake),
        cmocka_unit_test_setup(kvmclock_only_under_kvm, reset_fake),
        cmocka_unit_test_setup(timers_are_tried_in_turn, reset_fake),
        cmocka_unit_test_setup(delay_takes_its_time, reset_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
