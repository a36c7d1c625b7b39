/* drivers/pmu/intel.c and intel_assign.c: probing, fixed counters first, which event goes where. */
#include "tests/unit/drivers/fake_intel.h"

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
    struct pmu_refusal failed;

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
    struct pmu_refusal failed;

    (void)state;
    begin(4, 4, 3);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x10100c0); /* cmask 1 */
    add_event(0x31003c); /* AnyThread, with the interrupt bit, which means nothing */
    add_event(0x1000100c0); /* in transactions */
    add_event(0x11003c);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[0].counter, 0);
    assert_int_equal(session.events[1].counter, 1);
    assert_int_equal(session.events[2].counter, 2);
    assert_int_equal(session.events[3].counter, 1u << 30 | 1);
}

/* Event 00H, as Intel's event lists have it. */
static void names_of_fixed_counters_are_known(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(5, 8, 4);
    assert_true(pmu_intel.probe(&caps));
    for (uint64_t umask = 1; umask <= 4; umask++)
        add_event(0x10000 | umask << 8);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(session.events[i].counter, 1u << 30 | i);
    add_event(0x10800); /* what a wrong table says of one that only general counters count */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENODEV);
    assert_int_equal(failed.event, 4);
}

static void constrained_events_get_their_counter(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(4, 4, 3);
    assert_true(pmu_intel.probe(&caps));
    for (uint64_t i = 0; i < 3; i++)
        add_event(0x181d0 + (i << 8));
    add_event(0x10148);
    session.events[3].allowed_counters = 1u << 2;
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[3].counter, 2);
    add_event(0x10148);
    session.events[4].allowed_counters = 1u << 2;
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENOSPC);
    assert_int_equal(failed.event, 4);
}

/* Version 6 with general counters 0 to 3 and 8, fixed 0 to 2 and 4, and its own registers. */
static void begin_version_6(bool registers)
{
    begin(6, 8, 3);
    leaf_23_counters = (struct cpuid_result){.eax = 0x10f, .ebx = 0x17};
    leaf_23_events = (struct cpuid_result){.eax = 0x7f & ~(1u << 4)}; /* no LLC misses */
    for (uint32_t i = 0; i < 9 && registers; i++) {
        fake_add(0x1901 + 4 * i, 0, 0);
        fake_add(0x1900 + 4 * i, 0, 0x1901 + 4 * i);
    }
    for (uint32_t i = 0; i < 5 && registers; i++) {
        fake_add(0x1980 + 4 * i, 0, 0x38d);
        fake.registers[fake.count - 1].enable = 3ull << 4 * i;
    }
}

static void version_6_has_counters_with_holes(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin_version_6(true);
    assert_true(pmu_intel.probe(&caps));
    assert_int_equal(caps.general_mask, 0x10f);
    assert_int_equal(caps.general_counters, 5);
    assert_int_equal(caps.fixed_mask, 0x17);
    assert_int_equal(caps.general_held, 0);
    for (uint64_t i = 0; i < 5; i++)
        add_event(0x181d0 + (i << 8));
    add_event(0x100c0);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[4].counter, 8);
    fake.write_count = 0;
    pmu_intel.start(&session);
    assert_int_equal(fake_find(0x1921)->value, 0x4185d0);
    assert_int_equal(fake_find(0x38f)->value, 0x10000010f);
    assert_int_equal(fake.logged, 0);
    add_event(0x186d0);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENOSPC);
    assert_int_equal(failed.event, 6);
}

static void version_6_without_its_registers_uses_the_old_ones(void **state)
{
    (void)state;
    begin_version_6(false);
    leaf_23_counters.ebx = 7;
    assert_true(pmu_intel.probe(&caps));
    assert_int_equal(caps.general_mask, 0xf);
    assert_true(caps.full_width_writes);
}

static void unavailable_events_are_refused(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin_version_6(true);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x14f2e);
    add_event(0x1412e); /* LLC misses: leaf 23H leaves them out */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENODEV);
    assert_int_equal(failed.event, 1);
    begin(4, 4, 3);
    leaf_0a.eax |= 7u << 24;
    leaf_0a.ebx =
        1u << 6 | 1u << 1; /* branch misses, and instructions, which a fixed counter counts */
    assert_true(pmu_intel.probe(&caps));
    add_event(0x100c0);
    add_event(0x1a4); /* beyond the length: an event of the model's */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    add_event(0x100c5);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENODEV);
    assert_int_equal(failed.event, 2);
}

static void held_counters_are_left_out(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(4, 4, 3);
    fake_find(0x188)->value = 0x53003c; /* somebody's, since before we came */
    fake_find(0x4c2)->select = 0; /* does not count */
    fake_find(0x30a)->select = 0;
    assert_true(pmu_intel.probe(&caps));
    assert_int_equal(caps.general_mask, 9);
    assert_int_equal(caps.general_held, 6);
    assert_int_equal(caps.general_counters, 2);
    assert_int_equal(caps.fixed_mask, 5);
    assert_int_equal(caps.fixed_held, 2);
    assert_int_equal(fake_find(0x188)->value, 0x53003c);
    add_event(0x1003c); /* its fixed counter is held */
    add_event(0x181d0);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(session.events[0].counter, 0);
    assert_int_equal(session.events[1].counter, 3);
}

static void what_only_a_fixed_counter_counts_gets_no_other(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(4, 4, 2);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x10300); /* reference cycles: fixed counter 2 */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -ENODEV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_version_5),
        cmocka_unit_test(version_1_has_no_global_control),
        cmocka_unit_test(a_lying_hypervisor_is_found_out),
        cmocka_unit_test(fixed_counters_come_first),
        cmocka_unit_test(modifiers_need_a_general_counter),
        cmocka_unit_test(names_of_fixed_counters_are_known),
        cmocka_unit_test(constrained_events_get_their_counter),
        cmocka_unit_test(version_6_has_counters_with_holes),
        cmocka_unit_test(version_6_without_its_registers_uses_the_old_ones),
        cmocka_unit_test(unavailable_events_are_refused),
        cmocka_unit_test(held_counters_are_left_out),
        cmocka_unit_test(what_only_a_fixed_counter_counts_gets_no_other),
    };
    return cmocka_run_group_tests_name("pmu_intel", tests, NULL, NULL);
}
