/* drivers/pmu/intel_start.c and the registers beside the counters: the exact sequence of writes,
 * what cannot be written, and what the firmware gets back. */
#include "tests/unit/drivers/fake_intel.h"

static void companions_are_written_or_refused(void **state)
{
    struct pmu_refusal failed;

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
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -EBUSY);
    assert_int_equal(failed.event, 1);
    assert_int_equal(failed.other, 0);
    session.events[1].encoding_ext = 0x10001;
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    session.events[1].encoding = 0x181d0; /* has no companion */
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -EINVAL);
    assert_int_equal(failed.event, 1);
}

/* Hypervisors lack the registers: they fault, or are ignored. */
static void companions_that_are_not_there_are_refused(void **state)
{
    static const struct {
        uint64_t encoding, value;
        uint32_t msr;
    } known[] = {{0x101b7, 0x10001, 0x1a6},  {0x101bb, 0x10001, 0x1a7},
                 {0x1012a, 0x10001, 0x1a6},  {0x1012b, 0x10001, 0x1a7},
                 {0x101cd, 0x20, 0x3f6},     {0x1100b, 0x20, 0x3f6},
                 {0x101c6, 0x500106, 0x3f7}, {0, 0, 0}};

    (void)state;
    for (unsigned i = 0; known[i].msr; i++) {
        struct pmu_refusal failed = {0};

        begin(2, 4, 3);
        assert_true(pmu_intel.probe(&caps));
        add_event(0x100c4);
        add_event(known[i].encoding);
        session.events[1].encoding_ext = known[i].value;
        assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -EOPNOTSUPP);
        assert_int_equal(failed.event, 1);
        assert_int_equal(failed.msr, known[i].msr);
        fake_add(known[i].msr, 0, 0);
        fake_find(known[i].msr)->ignores = true; /* KVM's ignore_msrs */
        assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -EOPNOTSUPP);
        fake_find(known[i].msr)->ignores = false;
        fake_find(known[i].msr)->reserved = known[i].value;
        assert_int_equal(pmu_intel.assign(&caps, &session, &failed), -EOPNOTSUPP);
        fake_find(known[i].msr)->reserved = 0;
        fake_find(known[i].msr)->value = 7;
        fake.write_count = 0;
        assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
        fake_expect_writes(
            (const uint64_t[][2]){{known[i].msr, known[i].value}, {known[i].msr, 7}, {0, 0}});
    }
}

static void a_register_that_faults_is_named(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(4, 4, 3);
    fake_find(0x187)->reserved = 1ull << 32;
    assert_true(pmu_intel.probe(&caps));
    add_event(0x100c0);
    add_event(0x181d0);
    add_event(0x1000181d0);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    fake.write_count = 0;
    assert_int_equal(pmu_intel.start(&session), -EIO);
    assert_int_equal(pmu_start_refusal.event, 2);
    assert_int_equal(pmu_start_refusal.msr, 0x187);
    assert_int_equal(pmu_start_refusal.value, 0x1004181d0);
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x309, 0xffffffff0000},
                                             {0x186, 0},
                                             {0x4c1, 0xffffffff0000},
                                             {0x186, 0x4181d0},
                                             {0x187, 0},
                                             {0x4c2, 0xffffffff0000},
                                             {0x38d, 2},
                                             {0x38f, 0x100000003},
                                             {0, 0}}); /* what can be written is */
    fake_find(0x38d)->reserved = 2; /* of all fixed counters */
    session.event_count = 2;
    assert_int_equal(pmu_intel.start(&session), -EIO);
    assert_int_equal(pmu_start_refusal.event, PMU_NO_EVENT);
    assert_int_equal(pmu_start_refusal.msr, 0x38d);
    fake_find(0x38d)->reserved = 0;
    assert_int_equal(pmu_intel.start(&session), 0);
}

static void starts_everything_with_one_write(void **state)
{
    struct pmu_refusal failed;
    const uint64_t expected[][2] = {
        {0x38f, 0},        {0x309, 0xffffffff0000}, {0x186, 0},           {0x4c1, 0xffffffff0000},
        {0x186, 0x4181d0}, {0x30a, 0xffffffff0000}, {0x187, 0},           {0x4c2, 0xffffffff0000},
        {0x187, 0x4300c4}, {0x38d, 0x32},           {0x38f, 0x300000003}, {0, 0},
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

/* Counter 1 and fixed counter 1 are the firmware's, and stay so. */
static void leaves_registers_as_they_were(void **state)
{
    (void)state;
    begin(4, 2, 2);
    fake_add(0x390, 0, 0);
    fake_add(0x1d9, 0x4000, 0);
    fake_find(0x187)->value = 0x4300c4;
    fake_find(0x38d)->value = 0x30;
    fake_find(0x38f)->value = 0x200000002;
    assert_true(pmu_intel.probe(&caps));
    fake_find(0x38d)->value = 0x3b;
    fake_find(0x1d9)->value = 0x5000;
    fake.write_count = 0;
    pmu_intel.reset();
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x38d, 0x30},
                                             {0x186, 0},
                                             {0x4c1, 0},
                                             {0x309, 0},
                                             {0x390, 1ull << 59 | 0x100000001},
                                             {0x1d9, 0x4000},
                                             {0x38f, 0x200000002},
                                             {0, 0}});
    begin(1, 1, 0);
    assert_true(pmu_intel.probe(&caps));
    fake.write_count = 0;
    pmu_intel.reset();
    fake_expect_writes((const uint64_t[][2]){{0x186, 0}, {0xc1, 0}, {0, 0}});
}

/* DEBUGCTL has other bits, which stay; the firmware gets its value back. */
static void counters_rest_during_smis(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(2, 1, 0);
    fake_add(0x390, 0, 0);
    fake_add(0x1d9, 1, 0);
    fake_find(0x345)->value |= 1u << 12;
    assert_true(pmu_intel.probe(&caps));
    add_event(0x300c4);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    fake.write_count = 0;
    assert_int_equal(pmu_intel.start(&session), 0);
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x1d9, 0x4001},
                                             {0x186, 0},
                                             {0x4c1, 0xffffffff0000},
                                             {0x186, 0x4300c4},
                                             {0x38d, 0},
                                             {0x38f, 1},
                                             {0, 0}});
    assert_int_equal(pmu_intel.start(&session), 0); /* the bit is set now */
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x186, 0},
                                             {0x4c1, 0xffffffff0000},
                                             {0x186, 0x4300c4},
                                             {0x38d, 0},
                                             {0x38f, 1},
                                             {0, 0}});
    pmu_intel.reset();
    fake_expect_writes((const uint64_t[][2]){
        {0x38f, 0}, {0x186, 0}, {0x4c1, 0}, {0x390, 1}, {0x1d9, 1}, {0x38f, 0}, {0, 0}});
    fake_find(0x1d9)->reserved = 1u << 14; /* a hypervisor that lies: counted all the same */
    assert_int_equal(pmu_intel.start(&session), 0);
}

static void smis_are_left_alone_where_nothing_is_said(void **state)
{
    struct pmu_refusal failed;

    (void)state;
    begin(4, 1, 0);
    fake_add(0x1d9, 0, 0);
    assert_true(pmu_intel.probe(&caps));
    add_event(0x300c4);
    assert_int_equal(pmu_intel.assign(&caps, &session, &failed), 0);
    assert_int_equal(pmu_intel.start(&session), 0);
    assert_int_equal(fake_find(0x1d9)->value, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(companions_are_written_or_refused),
        cmocka_unit_test(companions_that_are_not_there_are_refused),
        cmocka_unit_test(a_register_that_faults_is_named),
        cmocka_unit_test(starts_everything_with_one_write),
        cmocka_unit_test(leaves_registers_as_they_were),
        cmocka_unit_test(counters_rest_during_smis),
        cmocka_unit_test(smis_are_left_alone_where_nothing_is_said),
    };
    return cmocka_run_group_tests_name("pmu_intel_start", tests, NULL, NULL);
}
