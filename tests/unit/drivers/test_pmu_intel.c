/* drivers/pmu/intel.c: probing, fixed counters first, the exact sequence of register writes. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/intel.c"
#include "drivers/pmu/intel_start.c"
#include "drivers/pmu/pmu_hardware.c"
#include "drivers/pmu/pmu_match.c"
#include "drivers/pmu/pmu_overflow.c"

static struct cpuid_result leaf_0a;
static struct pmu_caps caps;
static struct pmu_session session;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    switch (leaf) {
    case 0:
        return (struct cpuid_result){0x1f, 0x756e6547, 0x6c65746e, 0x49656e69};
    case 1:
        return (struct cpuid_result){.ecx = 1u << 15};
    case 0x0a:
        return leaf_0a;
    default:
        return (struct cpuid_result){0};
    }
}

static void add_event(uint64_t encoding)
{
    session.events[session.event_count++].encoding = encoding;
}

/* Version, general counters of 48 bits, fixed counters of 48 bits. */
static void begin(uint32_t version, uint32_t general, uint32_t fixed)
{
    memset(&fake, 0, sizeof fake);
    memset(&session, 0, sizeof session);
    memset(&caps, 0, sizeof caps);
    fake.speed = 5000;
    leaf_0a = (struct cpuid_result){.eax = version | general << 8 | 48u << 16,
                                    .edx = version >= 2 ? fixed | 48u << 5 : 0};
    for (uint32_t i = 0; i < general; i++) {
        fake_add(0x186 + i, 0, 0);
        fake_add(0xc1 + i, 0, 0x186 + i);
    }
    if (version >= 2) {
        fake_add(0x38f, 0, 0);
        fake_add(0x38d, 0, 0);
        for (uint32_t i = 0; i < fixed; i++)
            fake_add(0x309 + i, 0, 0);
    }
    fake_add(0x345, 1u << 13, 0);
}

static void probes_version_5(void **state)
{
    (void)state;
    begin(5, 8, 4);
    assert_true(pmu_intel.probe(&caps));
    assert_int_equal(caps.version, 5);
    assert_int_equal(caps.general_counters, 8);
    assert_int_equal(caps.general_bits, 48);
    assert_int_equal(caps.fixed_mask, 0xf);
    assert_true(caps.global_control);
    assert_true(caps.full_width_writes);
    assert_true(caps.needs_encodings);
}

static void version_1_has_no_global_control(void **state)
{
    (void)state;
    begin(1, 2, 0);
    assert_true(pmu_intel.probe(&caps));
    assert_false(caps.global_control);
    assert_int_equal(caps.fixed_mask, 0);
}

static void a_lying_hypervisor_is_found_out(void **state)
{
    (void)state;
    begin(0, 0, 0);
    assert_false(pmu_intel.probe(&caps));
    assert_int_equal(fake.logged, 0); /* nothing was promised */
    begin(4, 4, 3);
    fake.speed = 0;
    assert_false(pmu_intel.probe(&caps));
    assert_int_equal(fake.logged, 1);
    begin(4, 4, 3);
    fake_find(0x38f)->msr = 0xffff; /* the register does not exist */
    assert_false(pmu_intel.probe(&caps));
    assert_int_equal(fake.logged, 1);
    begin(4, 4, 3);
    fake_find(0x186)->msr = 0xffff;
    assert_false(pmu_intel.probe(&caps));
}

static void fixed_counters_come_first(void **state)
{
    uint32_t failed;

    (void)state;
    begin(5, 8, 4);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x100c0); /* instructions:u */
    add_event(0x1003c); /* cycles:u */
    add_event(0x181d0); /* loads:u */
    add_event(0x100c0); /* instructions again: a general counter */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[0].counter, 1u << 30);
    assert_int_equal(session.events[1].counter, 1u << 30 | 1);
    assert_int_equal(session.events[2].counter, 0);
    assert_int_equal(session.events[3].counter, 1);
    assert_int_equal(session.events[2].source, HR_SOURCE_PMU);
    assert_int_equal(session.events[2].flags, HR_EVENT_USER);
    assert_int_equal(session.events[2].width_bits, 48);
}

static void modifiers_need_a_general_counter(void **state)
{
    uint32_t failed;

    (void)state;
    begin(4, 4, 3);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x10100c0); /* cmask 1 */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[0].counter, 0);
}

static void constrained_events_get_their_counter(void **state)
{
    uint32_t failed;

    (void)state;
    begin(4, 4, 3);
    assert_true(pmu_intel.probe(&caps));
    for (uint64_t i = 0; i < 3; i++)
        add_event(0x181d0 + (i << 8));
    add_event(0x10148); /* L1D_PEND_MISS.PENDING: counter 2 only */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[3].counter, 2);
    add_event(0x10148);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENOSPC);
    assert_int_equal(failed, 4);
}

static void companions_are_written_or_refused(void **state)
{
    uint32_t failed;

    (void)state;
    begin(4, 4, 3);
    fake_add(0x1a6, 0, 0);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x101b7);
    session.events[0].encoding_ext = 0x10001;
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    fake.write_count = 0;
    pmu_intel.start(&session);
    assert_int_equal(fake_find(0x1a6)->value, 0x10001);
    add_event(0x1012a); /* the same register, another value */
    session.events[1].encoding_ext = 0x2;
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENOSPC);
    assert_int_equal(failed, 1);
    session.events[1].encoding_ext = 0x10001;
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    session.events[1].encoding = 0x181d0; /* has no companion */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -EINVAL);
    assert_int_equal(failed, 1);
}

static void starts_everything_with_one_write(void **state)
{
    uint32_t failed;
    const uint64_t expected[][2] = {
        {0x38f, 0}, {0x309, 0}, {0x186, 0},        {0xc1, 0},     {0x186, 0x4181d0},    {0x30a, 0},
        {0x187, 0}, {0xc2, 0},  {0x187, 0x4300c4}, {0x38d, 0x32}, {0x38f, 0x300000003}, {0, 0},
    };

    (void)state;
    begin(4, 4, 3);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x100c0); /* fixed 0, user */
    add_event(0x181d0);
    add_event(0x3003c); /* fixed 1, both rings */
    add_event(0x300c4); /* both rings */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    fake.write_count = 0;
    pmu_intel.start(&session);
    fake_expect_writes(expected);
    pmu_intel.stop(&session);
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0}, {0, 0}});
    assert_int_equal(fake.logged, 0);
}

/* Overflow sampling of an event under `version`; the writes of start are left to be expected. */
static void start_sampling(uint32_t version, uint64_t encoding, uint64_t period)
{
    uint32_t failed;

    begin(version, 4, version >= 2 ? 3 : 0);
    if (version >= 2) {
        fake_add(0x38e, 0, 0);
        fake_add(0x390, 0, 0);
    }
    for (uint32_t i = 0; i < 4; i++)
        fake_add(0x4c1 + i, 0, 0);
    if (version >= 4)
        fake_add(0x1d9, 1, 0);
    if (version == 1)
        fake_find(0x345)->value = 0;
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

static void ring_3_overflows_touch_two_registers(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 5; version++) {
        start_sampling(version, 0x100c0, 1000); /* fixed counter 0 */
        fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                                 {0x390, 1ull << 32},
                                                 {0x309, 0xfffffffffc18},
                                                 {0x186, 0},
                                                 {0xc1, 0},
                                                 {0x186, 0x4181d0},
                                                 {0x38d, 0xa},
                                                 {0x38f, 0x100000001},
                                                 {0, 0}});
        assert_false(pmu_intel.overflowed(&session));
        fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 0}, {0, 0}});
        fake_find(0x38e)->value = 1ull << 32 | 1;
        assert_true(pmu_intel.overflowed(&session));
        pmu_intel.rearm(&session, 2000);
        fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 1ull << 32 | 1},
                                                 {0x309, 0xfffffffff830},
                                                 {0x390, 1ull << 32},
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
    assert_false(pmu_intel.overflowed(&session));
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
                                             {0xc2, 0},
                                             {0x187, 0x4181d0},
                                             {0x38d, 0},
                                             {0x38f, 3},
                                             {0, 0}});
    fake_find(0x38e)->value = 1;
    assert_true(pmu_intel.overflowed(&session));
    pmu_intel.rearm(&session, 16);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x38e, 1},
                                             {0x38f, 0},
                                             {0x4c1, 0xfffffffffff0},
                                             {0x390, 1},
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
    assert_true(pmu_intel.overflowed(&session));
    pmu_intel.rearm(&session, 16);
    fake_expect_writes((const uint64_t[][2]){
        {FAKE_READ | 0x38e, frozen}, {0x4c1, 0xfffffffffff0}, {0x390, frozen}, {0, 0}});
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
    assert_true(pmu_intel.overflowed(&session));
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
                                             {0xc2, 0},
                                             {0x187, 0x4181d0},
                                             {0, 0}});
    assert_false(pmu_intel.overflowed(&session));
    fake_find(0xc1)->value = 5;
    assert_true(pmu_intel.overflowed(&session));
    pmu_intel.rearm(&session, 1000);
    fake_expect_writes((const uint64_t[][2]){
        {FAKE_READ | 0xc1, 0xfffffffffc18}, {FAKE_READ | 0xc1, 5}, {0xc1, 0xfffffffffc18}, {0, 0}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_version_5),
        cmocka_unit_test(version_1_has_no_global_control),
        cmocka_unit_test(a_lying_hypervisor_is_found_out),
        cmocka_unit_test(fixed_counters_come_first),
        cmocka_unit_test(modifiers_need_a_general_counter),
        cmocka_unit_test(constrained_events_get_their_counter),
        cmocka_unit_test(companions_are_written_or_refused),
        cmocka_unit_test(starts_everything_with_one_write),
        cmocka_unit_test(ring_3_overflows_touch_two_registers),
        cmocka_unit_test(an_overflow_of_another_counter_is_not_ours),
        cmocka_unit_test(ring_0_counters_are_stopped_before_version_4),
        cmocka_unit_test(ring_0_counters_freeze_from_version_4_on),
        cmocka_unit_test(a_hypervisor_without_freezing_gets_the_switch),
        cmocka_unit_test(version_1_looks_at_the_counter),
    };
    return cmocka_run_group_tests_name("pmu_intel", tests, NULL, NULL);
}
