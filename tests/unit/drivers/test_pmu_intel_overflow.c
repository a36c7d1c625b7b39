/* Overflow sampling on Intel: the exact register accesses of start and of the interrupt's handler.
 */
#include "tests/unit/drivers/fake_intel.h"

/* Overflow sampling of an event under `version`; the writes of start are left to be expected. */
static void start_sampling(uint32_t version, uint64_t encoding, uint64_t period)
{
    struct pmu_refusal failed;

    begin(version, 4, version >= 2 ? 3 : 0);
    if (version >= 2) {
        fake_add(0x38e, 0, 0);
        fake_add(0x390, 0, 0);
    }
    if (version >= 4)
        fake_add(0x1d9, 1, 0);
    assert_true(pmu_intel.probe(&caps));
    assert_true(caps.overflow);
    session.period = period;
    add_event(encoding);
    add_event(0x181d0);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[0].width_bits, 48);
    fake.write_count = 0;
    pmu_intel.start(&session);
}

static uint64_t value;

static void ring_3_overflows_touch_two_registers(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 5; version++) {
        start_sampling(version, 0x100c0, 1000); /* fixed counter 0 */
        fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                                 {0x390, 1ull << 32},
                                                 {0x309, 0xfffffffffc18},
                                                 {0x186, 0},
                                                 {0x4c1, 0xffffffff0000},
                                                 {0x186, 0x4181d0},
                                                 {0x38d, 0xa},
                                                 {0x38f, 0x100000001},
                                                 {0, 0}});
        assert_false(pmu_overflow_look(&value));
        fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 0}, {0, 0}});
        fake_find(0x38e)->value = 1ull << 32 | 1;
        assert_true(pmu_overflow_look(&value));
        pmu_overflow_arm(2000, true);
        fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 1ull << 32 | 1},
                                                 {0x309, 0xfffffffff830},
                                                 {0x390, 1ull << 32},
                                                 {0x834, 0x400},
                                                 {0, 0}});
        assert_true(pmu_overflow.plain);
        assert_true(pmu_overflow_look_short(true, &value));
        assert_int_equal(value, FAKE_RDPMC + (1u << 30));
        pmu_overflow_arm_short(true, true); /* the session's period */
        fake_find(0x38e)->value = 1;
        assert_false(pmu_overflow_look_short(true, &value));
        fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 1ull << 32 | 1},
                                                 {0x309, 0xfffffffffc18},
                                                 {0x390, 1ull << 32},
                                                 {0x834, 0x400},
                                                 {FAKE_READ | 0x38e, 1},
                                                 {0, 0}});
        pmu_intel.stop(&session);
        fake_expect_writes((const uint64_t[][2]){{0x38f, 0}, {0x390, 1ull << 32}, {0, 0}});
    }
}

static void an_overflow_of_another_counter_is_not_ours(void **state)
{
    (void)state;
    start_sampling(3, 0x300c4, 1000); /* general counter 0, both rings */
    fake_find(0x38e)->value = ~1ull;
    fake.write_count = 0;
    assert_false(pmu_overflow_look(&value));
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, ~1ull}, {0, 0}});
}

static void ring_0_counters_are_stopped_before_version_4(void **state)
{
    (void)state;
    start_sampling(3, 0x300c4, 1ull << 40);
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x390, 1},
                                             {0x186, 0},
                                             {0x4c1, 0xff0000000000},
                                             {0x186, 0x5300c4},
                                             {0x187, 0},
                                             {0x4c2, 0xffffffff0000},
                                             {0x187, 0x4181d0},
                                             {0x38d, 0},
                                             {0x38f, 3},
                                             {0, 0}});
    fake_find(0x38e)->value = 1;
    assert_true(pmu_overflow_look(&value));
    pmu_overflow_arm(16, true);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 1},
                                             {0x38f, 0},
                                             {0x4c1, 0xfffffffffff0},
                                             {0x390, 1},
                                             {0x834, 0x400},
                                             {0x38f, 3},
                                             {0, 0}});
}

static void ring_0_counters_freeze_from_version_4_on(void **state)
{
    const uint64_t frozen = 1ull << 59 | 1;

    (void)state;
    start_sampling(4, 0x300c4, 16);
    assert_int_equal(fake.writes[1].msr, 0x1d9);
    assert_int_equal(fake.writes[1].value, 0x1001);
    fake.write_count = 0;
    fake_find(0x38e)->value = frozen;
    assert_true(pmu_overflow_look(&value));
    pmu_overflow_arm(16, true);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, frozen},
                                             {0x4c1, 0xfffffffffff0},
                                             {0x390, frozen},
                                             {0x834, 0x400},
                                             {0, 0}});
    session.events[0].flags = HR_EVENT_USER; /* freezing is undone when it is not needed */
    pmu_intel.start(&session);
    assert_int_equal(fake_find(0x1d9)->value, 1);
}

static void a_hypervisor_without_freezing_gets_the_switch(void **state)
{
    (void)state;
    start_sampling(4, 0x300c4, 16);
    fake_find(0x1d9)->msr = 0xffff;
    pmu_intel.start(&session);
    fake_find(0x38e)->value = 1;
    fake.write_count = 0;
    assert_true(pmu_overflow_look(&value));
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 1}, {0x38f, 0}, {0, 0}});
}

static void version_1_looks_at_the_counter(void **state)
{
    (void)state;
    start_sampling(1, 0x100c0, 1000);
    assert_int_equal(caps.period_max, 0x7fffffff);
    fake_expect_writes((const uint64_t[][2]){{0x186, 0},
                                             {0xc1, 0xfffffffffc18},
                                             {0x186, 0x5100c0},
                                             {0x187, 0},
                                             {0xc2, 0xffffffff0000},
                                             {0x187, 0x4181d0},
                                             {0, 0}});
    assert_false(pmu_overflow_look(&value));
    fake_find(0xc1)->value = 5;
    assert_true(pmu_overflow_look(&value));
    pmu_overflow_arm(1000, true);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0xc1, 0xfffffffffc18},
                                             {FAKE_READ | 0xc1, 5},
                                             {0xc1, 0xfffffffffc18},
                                             {0x834, 0x400},
                                             {0, 0}});
}

static void all_counters_rest_and_go_on_by_one_switch(void **state)
{
    (void)state;
    start_sampling(3, 0x300c4, 1000);
    fake.write_count = 0;
    pmu_intel.pause(&session);
    pmu_intel.resume(&session);
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0}, {0x38f, 3}, {0, 0}});
    start_sampling(1, 0x300c4, 1000);
    fake.write_count = 0;
    pmu_intel.pause(&session);
    pmu_intel.resume(&session);
    fake_expect_writes((const uint64_t[][2]){
        {0x186, 0}, {0x187, 0}, {0x186, 0x5300c4}, {0x187, 0x4181d0}, {0, 0}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_3_overflows_touch_two_registers),
        cmocka_unit_test(an_overflow_of_another_counter_is_not_ours),
        cmocka_unit_test(ring_0_counters_are_stopped_before_version_4),
        cmocka_unit_test(ring_0_counters_freeze_from_version_4_on),
        cmocka_unit_test(a_hypervisor_without_freezing_gets_the_switch),
        cmocka_unit_test(version_1_looks_at_the_counter),
        cmocka_unit_test(all_counters_rest_and_go_on_by_one_switch),
    };
    return cmocka_run_group_tests_name("pmu_intel_overflow", tests, NULL, NULL);
}
