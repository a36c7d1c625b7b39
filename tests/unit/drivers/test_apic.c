/* The local APIC driver: register sequences in both modes, timer, start of another CPU. */
#include "tests/unit/drivers/fake_x86.h"

#include "drivers/apic/apic.c"

#include <string.h>

#include "tests/unit/test.h"

struct access {
    uint32_t msr;
    uint64_t value;
};

static struct {
    uint32_t cpuid_ecx;
    uint64_t apic_base;
    uint32_t version;
    uint64_t tsc;
    uint64_t timer_armed_at;
    unsigned counts_per_8_ticks;
    struct access written[64];
    unsigned written_count;
    uint64_t delays[8];
    unsigned delay_count;
    uint32_t page[1024]; /* of the xAPIC */
    uint64_t mapped;
    unsigned logged;
} fake;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    return (struct cpuid_result){.ecx = leaf == 1 ? fake.cpuid_ecx : 0};
}

uint64_t x86_rdtsc(void)
{
    return fake.tsc += 8;
}

uint64_t x86_rdmsr(uint32_t msr)
{
    switch (msr) {
    case 0x1b:
        return fake.apic_base;
    case 0x802:
        return 0x12345;
    case 0x803:
        return fake.version;
    case 0x839: /* the timer's current count */
        return 0xffffffff - (fake.tsc - fake.timer_armed_at) / 8 * fake.counts_per_8_ticks;
    default:
        fail_msg("RDMSR %x", msr);
        return 0;
    }
}

void x86_wrmsr(uint32_t msr, uint64_t value)
{
    assert_in_range(fake.written_count, 0, 63);
    fake.written[fake.written_count++] = (struct access){msr, value};
    if (msr == 0x1b)
        fake.apic_base = value;
    if (msr == 0x838)
        fake.timer_armed_at = fake.tsc;
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    assert_int_equal(bytes, 4096);
    fake.mapped = physical;
    return fake.page;
}

void platform_log(const char *format, ...)
{
    (void)format;
    fake.logged++;
}

static void delay_us(uint64_t us)
{
    fake.delays[fake.delay_count++] = us;
}

static int reset_fake(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    memset(&apic, 0, sizeof apic);
    fake.apic_base = 0xfee00900; /* enabled, boot processor */
    fake.version = 0x50014;
    fake.page[0x30 / 4] = 0x50014;
    fake.page[0x20 / 4] = 3u << 24;
    fake.counts_per_8_ticks = 8;
    return 0;
}

static void assert_written(const struct access *expected, unsigned count)
{
    assert_int_equal(fake.written_count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(fake.written[i].msr, expected[i].msr);
        assert_int_equal(fake.written[i].value, expected[i].value);
    }
    fake.written_count = 0;
}
#define ASSERT_WRITTEN(...)                                                \
    do {                                                                   \
        const struct access expected_[] = {__VA_ARGS__};                   \
        assert_written(expected_, sizeof expected_ / sizeof expected_[0]); \
    } while (0)

static void xapic_is_mapped_and_enabled(void **state)
{
    (void)state;
    fake.apic_base = 0xfed00900;
    apic_init(0xfee00000, false); /* the register knows better than the tables */
    assert_int_equal(fake.mapped, 0xfed00000);
    assert_ptr_equal(apic.registers, fake.page);
    apic_enable(0xff);
    assert_int_equal(fake.written_count, 0);
    assert_int_equal(fake.page[0xf0 / 4], 0x1ff);
    assert_int_equal(fake.page[0x80 / 4], 0xd0);
    static const uint32_t entries[] = {0x320, 0x330, 0x340, 0x350, 0x360, 0x370};
    for (unsigned i = 0; i < sizeof entries / sizeof entries[0]; i++)
        assert_int_equal(fake.page[entries[i] / 4], 0x10000);
    assert_int_equal(fake.page[0x2f0 / 4], 0); /* version says that there is no CMCI entry */
    assert_int_equal(apic_id(), 3);
}

static void x2apic_is_entered_and_enabled(void **state)
{
    (void)state;
    fake.cpuid_ecx = 1u << 21;
    apic_init(0xfee00000, false);
    assert_null(apic.registers);
    apic_enable(0xff);
    ASSERT_WRITTEN({0x1b, 0xfee00d00}, {0x832, 0x10000}, {0x835, 0x10000}, {0x836, 0x10000},
                   {0x837, 0x10000}, {0x834, 0x10000}, {0x833, 0x10000}, {0x808, 0xd0},
                   {0x80f, 0x1ff});
    assert_int_equal(apic_id(), 0x12345);
    apic_eoi();
    ASSERT_WRITTEN({0x80b, 0});
}

/* SMI handlers of such firmware know xAPIC mode only. */
static void the_firmware_may_not_want_x2apic_mode(void **state)
{
    (void)state;
    fake.cpuid_ecx = 1u << 21;
    fake.apic_base = 0xfee00900;
    apic_init(0xfee00000, true);
    assert_ptr_equal(apic.registers, fake.page);
    apic_enable(0xff);
    assert_int_equal(fake.written_count, 0); /* the mode is not changed */
    assert_int_equal(fake.page[0xf0 / 4], 0x1ff);
    assert_true(apic_reaches(0xfe));
    assert_false(apic_reaches(0xff));
    assert_false(apic_reaches(0x100));
    fake.apic_base = 0xfee00d00; /* it is in that mode already, and cannot simply be left */
    apic_init(0xfee00000, true);
    assert_null(apic.registers);
    assert_true(apic_reaches(0x100));
}

static void disabled_apic_goes_through_xapic_mode(void **state)
{
    (void)state;
    fake.cpuid_ecx = 1u << 21;
    fake.version = 0x30014; /* four entries: neither performance, thermal nor CMCI */
    fake.apic_base = 0xfee00000;
    apic_init(0xfee00000, false);
    apic_enable(0x4f);
    ASSERT_WRITTEN({0x1b, 0xfee00800}, {0x1b, 0xfee00c00}, {0x832, 0x10000}, {0x835, 0x10000},
                   {0x836, 0x10000}, {0x837, 0x10000}, {0x808, 0xd0}, {0x80f, 0x14f});
}

static void timer_counts_ticks_in_virtual_time(void **state)
{
    (void)state;
    apic_init(0xfee00000, false);
    apic_timer_calibrate(1000000000, true);
    assert_false(apic.tsc_deadline);
    apic_timer_setup(0xec);
    assert_int_equal(fake.page[0x320 / 4], 0xec);
    assert_int_equal(fake.page[0x3e0 / 4], 0xb);
    apic_timer_arm(1234);
    assert_int_equal(fake.page[0x380 / 4], 1234);
    apic_timer_arm(0);
    assert_int_equal(fake.page[0x380 / 4], 1); /* 0 would stop it */
    apic_timer_arm(INT64_MAX);
    assert_int_equal(fake.page[0x380 / 4], 0x7fffffff);
    apic_timer_stop();
    assert_int_equal(fake.page[0x380 / 4], 0);
    apic_timer_repeat(0xec, true);
    assert_int_equal(fake.page[0x320 / 4], 1u << 17 | 0xec);
    apic_timer_repeat(0xec, false);
    assert_int_equal(fake.page[0x320 / 4], 0xec);
}

static void count_rate_is_measured(void **state)
{
    (void)state;
    fake.cpuid_ecx = 1u << 21;
    fake.counts_per_8_ticks = 2; /* a quarter of the TSC's rate */
    apic_init(0xfee00000, false);
    apic_timer_calibrate(3000000000, false);
    assert_in_range(apic.count_multiplier, (1ull << 30) - (1 << 16), (1ull << 30) + (1 << 16));
    fake.written_count = 0;
    apic_timer_arm(4000000);
    assert_int_equal(fake.written_count, 1);
    assert_int_equal(fake.written[0].msr, 0x838);
    assert_in_range(fake.written[0].value, 999950, 1000050);
}

static void timer_that_stands_still_is_reported(void **state)
{
    (void)state;
    fake.cpuid_ecx = 1u << 21;
    fake.counts_per_8_ticks = 0;
    apic_init(0xfee00000, false);
    apic_timer_calibrate(3000000000, false);
    assert_int_equal(fake.logged, 1);
    assert_int_equal(apic.count_multiplier, 1ull << 32);
}

static void deadline_is_used_where_there_is_one(void **state)
{
    (void)state;
    fake.cpuid_ecx = 1u << 21 | 1u << 24;
    apic_init(0xfee00000, false);
    apic_timer_calibrate(3000000000, false);
    assert_int_equal(fake.written_count, 0);
    apic_timer_setup(0xec);
    ASSERT_WRITTEN({0x832, 0x400ec});
    fake.tsc = 1000;
    apic_timer_arm(500);
    ASSERT_WRITTEN({0x6e0, 1508});
    apic_timer_stop();
    ASSERT_WRITTEN({0x6e0, 0});
}

static void other_cpu_is_started_by_x2apic(void **state)
{
    static const uint64_t delays[] = {10000, 200, 200};

    (void)state;
    fake.cpuid_ecx = 1u << 21;
    apic_init(0xfee00000, false);
    apic_start_cpu(0x101, 8, delay_us);
    ASSERT_WRITTEN({0x830, 0x10100004500}, {0x830, 0x10100004608}, {0x830, 0x10100004608});
    assert_int_equal(fake.delay_count, 3);
    assert_memory_equal(fake.delays, delays, sizeof delays);
    apic_send(2, 0xee);
    ASSERT_WRITTEN({0x830, 0x2000040ee});
}

static void xapic_command_has_destination_in_its_high_half(void **state)
{
    (void)state;
    apic_init(0xfee00000, false);
    apic_send(2, 0xee);
    assert_int_equal(fake.page[0x310 / 4], 2u << 24);
    assert_int_equal(fake.page[0x300 / 4], 0x40ee);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(xapic_is_mapped_and_enabled, reset_fake),
        cmocka_unit_test_setup(x2apic_is_entered_and_enabled, reset_fake),
        cmocka_unit_test_setup(the_firmware_may_not_want_x2apic_mode, reset_fake),
        cmocka_unit_test_setup(disabled_apic_goes_through_xapic_mode, reset_fake),
        cmocka_unit_test_setup(timer_counts_ticks_in_virtual_time, reset_fake),
        cmocka_unit_test_setup(count_rate_is_measured, reset_fake),
        cmocka_unit_test_setup(timer_that_stands_still_is_reported, reset_fake),
        cmocka_unit_test_setup(deadline_is_used_where_there_is_one, reset_fake),
        cmocka_unit_test_setup(other_cpu_is_started_by_x2apic, reset_fake),
        cmocka_unit_test_setup(xapic_command_has_destination_in_its_high_half, reset_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
