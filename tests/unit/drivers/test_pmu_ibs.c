/* drivers/pmu/ibs.c: AMD's instruction-based sampling over fake registers.  What becomes of its
 * samples: tests/unit/guest/sample/test_pebs_ibs.c. */
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

/* Zen 4: all of it, in x2APIC mode. */
static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    cpu = (struct processor){.amd = true, .signature = {.family = 0x19, .model = 0x11}};
    features = 1u << 10;
    ibs_features = 0xfff;
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
    assert_true(caps.fetch && caps.checks_ip && caps.fine_sources);
    assert_false(caps.loses_sources || caps.no_hit_state || caps.zero_fetches || caps.starts_twice);
    assert_int_equal(caps.op_period_max, 0x7fffff0);
    assert_int_equal(caps.lvt, LVT);
    ibs_features = 0x15; /* ops alone */
    ibs_probe(&caps);
    assert_null(caps.missing);
    assert_false(caps.fetch || caps.checks_ip || caps.fine_sources);
    assert_int_equal(caps.op_period_max, 0xffff0);
}

static void faults_are_known_by_model(void **state)
{
    (void)state;
    begin();
    cpu.signature.model = 1; /* Zen 3 */
    ibs_probe(&caps);
    assert_true(caps.loses_sources && caps.no_hit_state && caps.zero_fetches);
    assert_false(caps.starts_twice);
    cpu.signature.model = 0x21; /* its clients */
    ibs_probe(&caps);
    assert_true(caps.no_hit_state);
    assert_false(caps.loses_sources || caps.zero_fetches);
    cpu.signature = (struct x86_signature){.family = 0x17, .model = 0x31};
    ibs_probe(&caps);
    assert_true(caps.starts_twice);
    assert_false(caps.no_hit_state);
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
    begin();
    fake_find(0xc001103a)->value = 0x104; /* there are four entries */
    ibs_probe(&caps);
    assert_non_null(strstr(caps.missing, "no interrupt"));
    begin();
    fake_find(0x850 + LVT)->msr = 1; /* it faults */
    ibs_probe(&caps);
    assert_non_null(strstr(caps.missing, "local APIC does not have"));
    begin();
    ibs_features = 0xfff & ~4u;
    ibs_probe(&caps);
    assert_non_null(strstr(caps.missing, "IBS of ops"));
}

static void starts_and_stops(void **state)
{
    (void)state;
    begin();
    ibs_op_start(100007);
    fake_expect_writes(
        (const uint64_t[][2]){{0xc0011033, 100000 / 16 | 1u << 17 | 1u << 19}, {0, 0}});
    ibs_op_start(0x1234560);
    fake_expect_writes(
        (const uint64_t[][2]){{0xc0011033, 0x3456 | 0x1200000 | 1u << 17 | 1u << 19}, {0, 0}});
    ibs_fetch_start(&caps, 4096);
    fake_expect_writes((const uint64_t[][2]){{0xc0011030, 256 | 1ull << 48}, {0, 0}});
    caps.starts_twice = true;
    ibs_fetch_start(&caps, 4096);
    fake_expect_writes(
        (const uint64_t[][2]){{0xc0011030, 256}, {0xc0011030, 256 | 1ull << 48}, {0, 0}});
    ibs_stop(&caps);
    fake_expect_writes((const uint64_t[][2]){{0xc0011033, 0}, {0xc0011030, 0}, {0, 0}});
}

/* An op of the program at 401000H with these data words. */
static struct ibs_sample sample;

static void op(uint64_t data2, uint64_t data3)
{
    fake_find(0xc0011033)->value = 77ull << 32 | 0x1200000 | 1u << 19 | 1u << 18 | 1u << 17 | 625;
    fake_find(0xc0011034)->value = 0x401000;
    fake_find(0xc0011036)->value = data2;
    fake_find(0xc0011037)->value = data3;
    fake_find(0xc0011038)->value = 0x7f0000001238;
}

static void take(uint64_t data2, uint64_t data3)
{
    op(data2, data3);
    assert_true(ibs_op_take(&caps, &sample));
    assert_int_equal(sample.ip, 0x401000);
}

static void a_load_has_address_source_and_latency(void **state)
{
    (void)state;
    begin();
    take(0xabcd53, 55ull << 48 | 213ull << 32 | 1ull << 26 | 1u << 20 | 1u << 17 | 1u << 7 | 1);
    assert_int_equal(sample.address, 0x7f0000001238);
    assert_int_equal(sample.latency, 213);
    assert_int_equal(sample.source, (1ull << 20 | 1u << 17 | 1u << 7 | 1) << 8 | 0x53);
    assert_int_equal(sample.what, IBS_LOAD);
    ibs_op_start(1000);
    assert_false(ibs_op_take(&caps, &sample));
}

static void latencies_are_those_of_loads_that_missed(void **state)
{
    (void)state;
    begin();
    take(0, 213ull << 32 | 1u << 17 | 1); /* a hit */
    assert_int_equal(sample.latency, 0);
    take(0, 213ull << 32 | 1u << 17 | 1u << 7 | 2); /* a store */
    assert_int_equal(sample.latency, 0);
    assert_int_equal(sample.address, 0x7f0000001238);
    assert_int_equal(sample.what, IBS_STORE);
    take(0, 213ull << 32 | 1u << 7 | 1); /* the address is not valid */
    assert_int_equal(sample.address, 0);
    take(0x13, 1u << 17 | 1u << 7); /* no access of memory */
    assert_int_equal(sample.address | sample.source | sample.latency | sample.what, 0);
}

static void invalid_sources_are_left_out(void **state)
{
    (void)state;
    begin();
    caps.loses_sources = caps.no_hit_state = true;
    take(3, 1u << 20 | 1u << 17 | 1u << 7 | 1);
    assert_int_equal(sample.source & 0xff, 0x23);
    take(3, 1u << 21 | 1u << 20 | 1u << 17 | 1u << 7 | 1); /* a prefetch */
    assert_int_equal(sample.source & 0xff, 0x20);
    take(3, 1u << 16 | 1u << 20 | 1u << 17 | 1u << 7 | 1); /* a line that is on its way */
    assert_int_equal(sample.source & 0xff, 0x20);
}

static void what_is_not_wanted_has_no_address(void **state)
{
    (void)state;
    begin();
    op(0, 1);
    fake_find(0xc0011035)->value = 1ull << 38; /* the address is not known */
    assert_true(ibs_op_take(&caps, &sample));
    assert_int_equal(sample.ip, 0);
    caps.checks_ip = false; /* the bit means nothing */
    assert_true(ibs_op_take(&caps, &sample));
    assert_int_equal(sample.ip, 0x401000);
    fake_find(0xc0011034)->value = 0xffffffff80001000;
    assert_true(ibs_op_take(&caps, &sample));
    assert_int_equal(sample.ip, 0);
}

static void fetches(void **state)
{
    (void)state;
    begin();
    assert_false(ibs_fetch_take(&caps, &sample));
    fake_find(0xc0011031)->value = 0x402040;
    fake_find(0xc0011030)->value = 1ull << 51 | 7ull << 48 | 31ull << 32 | 9u << 16 | 256;
    assert_true(ibs_fetch_take(&caps, &sample));
    assert_int_equal(sample.ip, 0x402040);
    assert_int_equal(sample.address, 0x402040);
    assert_int_equal(sample.latency, 31);
    assert_int_equal(sample.source, 1ull << 34 | 0xf);
    fake_find(0xc0011030)->value = 3ull << 48 | 31ull << 32 | 256; /* not complete */
    assert_true(ibs_fetch_take(&caps, &sample));
    assert_int_equal(sample.latency, 0);
    fake_find(0xc0011031)->value = 0xffffffff80001000;
    assert_true(ibs_fetch_take(&caps, &sample));
    assert_int_equal(sample.ip, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_by_cpuid),
        cmocka_unit_test(faults_are_known_by_model),
        cmocka_unit_test(a_machine_without_it_is_left_alone),
        cmocka_unit_test(starts_and_stops),
        cmocka_unit_test(a_load_has_address_source_and_latency),
        cmocka_unit_test(latencies_are_those_of_loads_that_missed),
        cmocka_unit_test(invalid_sources_are_left_out),
        cmocka_unit_test(what_is_not_wanted_has_no_address),
        cmocka_unit_test(fetches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
