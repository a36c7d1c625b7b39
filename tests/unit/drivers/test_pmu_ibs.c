/* drivers/pmu/ibs.c: AMD's instruction-based sampling over fake registers. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/ibs.c"

#define LVT 2u

struct apic_state apic;

static struct ibs_caps caps;
static struct processor cpu;
static uint32_t features, ibs_features;

void processor_read(struct processor *out)
{
    *out = cpu;
}

bool processor_has_leaf(uint32_t leaf)
{
    assert_int_equal(leaf, 0x8000001b);
    return true;
}

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    return leaf == 0x80000001 ? (struct cpuid_result){.ecx = features}
                              : (struct cpuid_result){.eax = ibs_features};
}

/* Zen 3: all of it, in x2APIC mode. */
static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    cpu = (struct processor){.amd = true, .signature = {.family = 0x19}};
    features = 1u << 10;
    ibs_features = 0x3ff;
    for (uint32_t msr = 0xc0011030; msr <= 0xc001103d; msr++)
        fake_add(msr, 0, 0);
    fake_find(0xc001103a)->value = 0x100 | LVT;
    fake_add(0x850 + LVT, 0x10000, 0);
    ibs_probe(&caps);
    fake.write_count = 0;
}

static void is_found_by_cpuid(void **state)
{
    (void)state;
    begin();
    assert_null(caps.missing);
    assert_true(caps.fetch && caps.op && caps.counts_ops && caps.checks_ip);
    assert_int_equal(caps.op_period_max, 0x7fffff0);
    assert_int_equal(caps.lvt, LVT);
    ibs_features = 0x1f; /* family 10H's */
    ibs_probe(&caps);
    assert_false(caps.checks_ip);
    assert_int_equal(caps.op_period_max, 0xffff0);
}

static void a_machine_without_it_is_left_alone(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        begin();
        cpu.amd = wrong != 0;
        cpu.signature.family = wrong == 1 ? 0x10 : 0x19;
        features = wrong == 2 ? 0 : features;
        ibs_features = wrong == 3 ? 0 : ibs_features;
        fake.count = 0; /* each access would fault */
        ibs_probe(&caps);
        assert_non_null(caps.missing);
        assert_int_equal(fake.write_count, 0);
    }
    begin();
    fake.count = 0;
    ibs_probe(&caps);
    assert_non_null(strstr(caps.missing, "faults"));
    begin();
    fake_find(0xc001103a)->value = LVT;
    ibs_probe(&caps);
    assert_non_null(strstr(caps.missing, "no interrupt"));
}

static void starts_and_stops(void **state)
{
    (void)state;
    begin();
    assert_int_equal(ibs_op_start(&caps, 100000, true), 0);
    fake_expect_writes((const uint64_t[][2]){
        {0x850 + LVT, 0x400}, {0xc0011033, 100000 / 16 | 1u << 17 | 1u << 19}, {0, 0}});
    assert_int_equal(ibs_op_start(&caps, 0x1234560, false), 0);
    fake_expect_writes((const uint64_t[][2]){
        {0x850 + LVT, 0x400}, {0xc0011033, 0x3456 | 0x1200000 | 1u << 17}, {0, 0}});
    assert_int_equal(ibs_fetch_start(&caps, 4096, true), 0);
    fake_expect_writes((const uint64_t[][2]){
        {0x850 + LVT, 0x400}, {0xc0011030, 256 | 1ull << 48 | 1ull << 57}, {0, 0}});
    ibs_stop(&caps);
    fake_expect_writes((const uint64_t[][2]){{0xc0011033, 0}, {0xc0011030, 0}, {0, 0}});
}

static void periods_that_do_not_exist(void **state)
{
    (void)state;
    begin();
    assert_int_equal(ibs_op_start(&caps, 143, true), -EINVAL);
    assert_int_equal(ibs_op_start(&caps, 0x8000000, true), -EINVAL);
    assert_int_equal(ibs_fetch_start(&caps, 0x100000, false), -EINVAL);
    caps.counts_ops = false;
    assert_int_equal(ibs_op_start(&caps, 1000, true), -EINVAL);
    assert_int_equal(ibs_op_start(&caps, 1000, false), 0);
    fake_find(0xc0011033)->reserved = 1u << 17;
    assert_int_equal(ibs_op_start(&caps, 1000, false), -EIO);
}

/* An op of the program at 401000H with these data words. */
static void op(uint64_t data2, uint64_t data3)
{
    begin();
    fake_find(0xc0011033)->value = 77ull << 32 | 0x1200000 | 1u << 19 | 1u << 18 | 1u << 17 | 625;
    fake_find(0xc0011034)->value = 0x401000;
    fake_find(0xc0011036)->value = data2;
    fake_find(0xc0011037)->value = data3;
    fake_find(0xc0011038)->value = 0x7f0000001238;
}

static void a_load_has_address_source_and_latency(void **state)
{
    struct hr_access access;
    uint64_t ip;

    (void)state;
    op(0xabcd13, 55ull << 48 | 213ull << 32 | 1u << 20 | 1u << 17 | 1u << 7 | 1);
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(ip, 0x401000);
    assert_int_equal(access.address, 0x7f0000001238);
    assert_int_equal(access.latency, 213);
    assert_int_equal(access.source, (1ull << 20 | 1u << 17 | 1u << 7 | 1) << 32 | 0x13);
    assert_int_equal(access.events, 0);
    /* it goes on with the same period, from 0 */
    assert_int_equal(fake.writes[fake.write_count - 1].msr, 0xc0011033);
    assert_int_equal(fake.writes[fake.write_count - 1].value,
                     0x1200000 | 1u << 19 | 1u << 17 | 625);
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_NOTHING);
}

static void latencies_are_those_of_loads_that_missed(void **state)
{
    struct hr_access access;
    uint64_t ip;

    (void)state;
    op(0, 213ull << 32 | 1u << 17 | 1); /* a hit */
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(access.latency, 0);
    op(0, 213ull << 32 | 1u << 17 | 1u << 7 | 2); /* a store */
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(access.latency, 0);
    assert_int_equal(access.address, 0x7f0000001238);
    op(0, 213ull << 32 | 1u << 7 | 1); /* the address is not valid */
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(access.address, 0);
    op(0x13, 1u << 17 | 1u << 7); /* no access of memory */
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(access.address | access.source | access.latency, 0);
}

static void what_is_not_wanted_is_dropped(void **state)
{
    struct hr_access access;
    uint64_t ip;

    (void)state;
    op(0, 1);
    fake_find(0xc0011035)->value = 1ull << 38; /* the address is not known */
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_DROPPED);
    assert_int_equal(fake_find(0xc0011033)->value & 1u << 18, 0); /* and it goes on */
    op(0, 1);
    fake_find(0xc0011035)->value = 1ull << 38;
    caps.checks_ip = false; /* the bit means nothing */
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_SAMPLE);
    op(0, 1);
    fake_find(0xc0011034)->value = 0xffffffff80001000;
    assert_int_equal(ibs_op_take(&caps, false, &ip, &access), IBS_DROPPED);
    op(0, 1);
    fake_find(0xc0011034)->value = 0xffffffff80001000;
    assert_int_equal(ibs_op_take(&caps, true, &ip, &access), IBS_SAMPLE);
    assert_int_equal(ip, 0xffffffff80001000);
}

static void fetches(void **state)
{
    struct hr_access access;
    uint64_t ip;

    (void)state;
    begin();
    assert_int_equal(ibs_fetch_take(false, &ip, &access), IBS_NOTHING);
    fake_find(0xc0011031)->value = 0x402040;
    fake_find(0xc0011030)->value =
        1ull << 57 | 1ull << 51 | 7ull << 48 | 31ull << 32 | 9u << 16 | 256;
    assert_int_equal(ibs_fetch_take(false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(ip, 0x402040);
    assert_int_equal(access.address, 0x402040);
    assert_int_equal(access.latency, 31);
    assert_int_equal(access.source, 1u << 31 | 0x20f);
    assert_int_equal(fake_find(0xc0011030)->value, 1ull << 57 | 1ull << 48 | 256);
    fake_find(0xc0011030)->value = 3ull << 48 | 31ull << 32 | 256; /* not complete */
    assert_int_equal(ibs_fetch_take(false, &ip, &access), IBS_SAMPLE);
    assert_int_equal(access.latency, 0);
    fake_find(0xc0011030)->value = 3ull << 48 | 256;
    fake_find(0xc0011031)->value = 0xffffffff80001000;
    assert_int_equal(ibs_fetch_take(false, &ip, &access), IBS_DROPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_by_cpuid),
        cmocka_unit_test(a_machine_without_it_is_left_alone),
        cmocka_unit_test(starts_and_stops),
        cmocka_unit_test(periods_that_do_not_exist),
        cmocka_unit_test(a_load_has_address_source_and_latency),
        cmocka_unit_test(latencies_are_those_of_loads_that_missed),
        cmocka_unit_test(what_is_not_wanted_is_dropped),
        cmocka_unit_test(fetches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
