/* drivers/pmu/pmu_rdt.c: the cache monitor's sums over registers of few bits. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/pmu_rdt.c"

#define UNIT 106496u /* of an Ice Lake server */

static struct cpuid_result features, monitor, events;
static bool has_leaf;

bool processor_has_leaf(uint32_t leaf)
{
    assert_int_equal(leaf, 0xf);
    return has_leaf;
}

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    return leaf == 7 ? features : subleaf == 0 ? monitor : events;
}

/* A CPU of such a machine, with another id in its register than this driver's; nothing is kept of
 * the CPUs before. */
static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    memset(sums, 0, sizeof sums);
    ids_given = 0;
    has_leaf = true;
    features.ebx = 1u << 12;
    monitor.edx = 2;
    events = (struct cpuid_result){.eax = 0, .ebx = UNIT, .ecx = 3, .edx = 7};
    fake_add(0xc8d, 0, 0);
    fake_add(0xc8e, 0, 0);
    fake_add(0xc8f, 5ull << 32 | 9, 0); /* class of service 5 */
}

static void started(void)
{
    begin();
    assert_int_equal(pmu_rdt_probe(), 1u << 1 | 1u << 2 | 1u << 3);
    assert_int_equal(pmu_rdt_start(), 0);
    fake.write_count = 0;
}

static void is_found_by_cpuid(void **state)
{
    (void)state;
    begin();
    assert_int_equal(pmu_rdt_probe(), 1u << 1 | 1u << 2 | 1u << 3);
    events.edx = 1;
    assert_int_equal(pmu_rdt_probe(), 1u << 1);
    events.ebx = 0;
    assert_int_equal(pmu_rdt_probe(), 0);
    begin();
    events.edx = 6; /* no occupancy */
    assert_int_equal(pmu_rdt_probe(), 1u << 2 | 1u << 3);
    begin();
    fake_find(0xc8d)->ignores = true; /* a register that is not there, but does not fault */
    assert_int_equal(pmu_rdt_probe(), 0);
    begin();
    fake.count = 2; /* one that faults */
    assert_int_equal(pmu_rdt_probe(), 0);
}

static void nothing_is_touched_without_it(void **state)
{
    (void)state;
    for (int missing = 0; missing < 3; missing++) {
        begin();
        has_leaf = missing != 0;
        features.ebx = missing == 1 ? 0 : features.ebx;
        monitor.edx = missing == 2 ? 0 : monitor.edx;
        fake.count = 0; /* each access would fault */
        assert_int_equal(pmu_rdt_probe(), 0);
        assert_int_equal(fake.write_count, 0);
    }
}

static void each_cpu_keeps_an_id(void **state)
{
    (void)state;
    begin();
    assert_int_equal(pmu_rdt_probe(), 1u << 1 | 1u << 2 | 1u << 3);
    fake.write_count = 0;
    assert_int_equal(pmu_rdt_start(), 0);
    fake_expect_writes(
        (const uint64_t[][2]){{0xc8f, 5ull << 32 | 1}, {0xc8d, 1ull << 32 | 1}, {0, 0}});
    assert_int_equal(pmu_rdt_start(), 0); /* again */
    assert_int_equal(fake_find(0xc8f)->value & 0x3ff, 1);
    for (uint32_t cpu = 2; cpu <= 3; cpu++) {
        fake_find(0xc8f)->value = 0;
        assert_int_equal(pmu_rdt_start(), 0);
        assert_int_equal(fake_find(0xc8f)->value, cpu);
    }
    fake_find(0xc8f)->value = 0;
    assert_int_equal(pmu_rdt_start(), -ENOSPC); /* the last id is 3 */
    fake.count = 2;
    assert_int_equal(pmu_rdt_start(), -EIO);
}

static void a_reading_leaves_the_selection(void **state)
{
    (void)state;
    started();
    fake_find(0xc8e)->value = 10;
    assert_int_equal(pmu_rdt_read(3), 10ull * UNIT);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0xc8d, 1ull << 32 | 1},
                                             {0xc8d, 1ull << 32 | 3},
                                             {FAKE_READ | 0xc8e, 10},
                                             {0xc8d, 1ull << 32 | 1},
                                             {0, 0}});
}

static void traffic_goes_on_past_the_width(void **state)
{
    (void)state;
    started();
    fake_find(0xc8e)->value = 5; /* from an earlier use */
    uint64_t first = pmu_rdt_read(2);
    fake_find(0xc8e)->value = 0x7ffffe;
    pmu_rdt_read(2);
    fake_find(0xc8e)->value = 0xbffffe; /* less than half the range at a time */
    pmu_rdt_read(2);
    fake_find(0xc8e)->value = 0xfffffe; /* the last but one of 24 bits */
    pmu_rdt_read(2);
    fake_find(0xc8e)->value = 1ull << 61 | 3; /* an overflow bit is no data */
    assert_int_equal(pmu_rdt_read(2) - first, ((1ull << 24) - 5 + 3) * UNIT);
    fake_find(0xc8e)->value = 2; /* an older reading, interrupted by the last */
    assert_int_equal(pmu_rdt_read(2) - first, ((1ull << 24) - 5 + 2) * UNIT);
}

static void wider_counters(void **state)
{
    (void)state;
    begin();
    events.eax = 20; /* AMD: 44 bits */
    assert_int_not_equal(pmu_rdt_probe(), 0);
    assert_int_equal(pmu_rdt_start(), 0);
    fake_find(0xc8e)->value = (1ull << 44) - 8;
    uint64_t first = pmu_rdt_read(2);
    fake_find(0xc8e)->value = 7;
    assert_int_equal(pmu_rdt_read(2) - first, 15ull * UNIT);
}

static void occupancy_is_summed(void **state)
{
    (void)state;
    started();
    fake_find(0xc8e)->value = 100;
    assert_int_equal(pmu_rdt_read(1), 100ull * UNIT);
    fake_find(0xc8e)->value = 40;
    assert_int_equal(pmu_rdt_read(1), 140ull * UNIT);
}

static void no_data_changes_nothing(void **state)
{
    (void)state;
    started();
    fake_find(0xc8e)->value = 100;
    uint64_t occupancy = pmu_rdt_read(1), traffic = pmu_rdt_read(2);
    for (int bit = 62; bit <= 63; bit++) {
        fake_find(0xc8e)->value = 1ull << bit | 12345;
        assert_int_equal(pmu_rdt_read(1), occupancy);
        assert_int_equal(pmu_rdt_read(2), traffic);
    }
    fake_find(0xc8e)->value = 101;
    assert_int_equal(pmu_rdt_read(2), traffic + UNIT);
}

static void cpus_have_sums_of_their_own(void **state)
{
    (void)state;
    started();
    fake_find(0xc8e)->value = 9;
    assert_int_equal(pmu_rdt_read(2), 9ull * UNIT);
    fake_find(0xc8f)->value = 0; /* another CPU */
    assert_int_equal(pmu_rdt_start(), 0);
    fake_find(0xc8e)->value = 4;
    assert_int_equal(pmu_rdt_read(2), 4ull * UNIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_by_cpuid),
        cmocka_unit_test(nothing_is_touched_without_it),
        cmocka_unit_test(each_cpu_keeps_an_id),
        cmocka_unit_test(a_reading_leaves_the_selection),
        cmocka_unit_test(traffic_goes_on_past_the_width),
        cmocka_unit_test(wider_counters),
        cmocka_unit_test(occupancy_is_summed),
        cmocka_unit_test(no_data_changes_nothing),
        cmocka_unit_test(cpus_have_sums_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
