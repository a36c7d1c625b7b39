/* drivers/pmu/amd.c: the three generations, and the exact sequence of register writes. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/ibs.c"
#include "drivers/pmu/ibs_records.c"
#include "drivers/pmu/pmu_precise.c"

#include "drivers/pmu/amd.c"
#include "drivers/pmu/pmu_hardware.c"
#include "drivers/pmu/pmu_overflow.c"

struct apic_state apic; /* in x2APIC mode: LVTPC is MSR 834H */

enum generation { LEGACY, CORE, V2 };

static enum generation generation;
static struct pmu_caps caps;
static struct pmu_session session;
static bool has_ibs;

void processor_read(struct processor *out)
{
    *out = (struct processor){.amd = true, .signature = {.family = 0x19, .model = 0x11}};
}

bool processor_has_leaf(uint32_t leaf)
{
    return leaf != 0x8000001b || has_ibs;
}

uint64_t x86_rdtsc(void)
{
    return 1234;
}

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    switch (leaf) {
    case 0:
        return (struct cpuid_result){0x10, 0x68747541, 0x444d4163, 0x69746e65};
    case 0x80000000:
        return (struct cpuid_result){.eax = 0x80000022};
    case 0x80000001:
        return (struct cpuid_result){.ecx = (generation >= CORE ? 1u << 23 : 0) | 1u << 10};
    case 0x8000001b:
        return (struct cpuid_result){.eax = 0xfff};
    case 0x80000022:
        return (struct cpuid_result){.eax = generation == V2, .ebx = generation == V2 ? 6 : 0};
    default:
        return (struct cpuid_result){0};
    }
}

static void begin(enum generation g)
{
    memset(&fake, 0, sizeof fake);
    memset(&session, 0, sizeof session);
    memset(&caps, 0, sizeof caps);
    generation = g;
    has_ibs = false;
    fake_add(0x834, 0, 0);
    fake.speed = 5000;
    for (uint32_t i = 0; i < 4; i++) {
        fake_add(0xc0010000 + i, 0, 0);
        fake_add(0xc0010004 + i, 0, 0xc0010000 + i);
    }
    for (uint32_t i = 0; i < 6 && g >= CORE; i++) {
        fake_add(0xc0010200 + 2 * i, 0, 0);
        fake_add(0xc0010201 + 2 * i, 0, 0xc0010200 + 2 * i);
    }
    if (g == V2) {
        fake_add(0xc0000301, 0x3f, 0);
        fake_add(0xc0000300, 0, 0);
        fake_add(0xc0000302, 0, 0);
    }
}

static void finds_the_generation(void **state)
{
    (void)state;
    begin(LEGACY);
    assert_true(pmu_amd.probe(&caps));
    assert_int_equal(caps.general_counters, 4);
    assert_false(caps.global_control);
    begin(CORE);
    assert_true(pmu_amd.probe(&caps));
    assert_int_equal(caps.general_counters, 6);
    assert_false(caps.global_control);
    begin(V2);
    assert_true(pmu_amd.probe(&caps));
    assert_int_equal(caps.general_counters, 6);
    assert_int_equal(caps.version, 2);
    assert_true(caps.global_control);
}

static void counters_that_do_not_count_are_not_used(void **state)
{
    (void)state;
    begin(LEGACY);
    fake.speed = 0; /* as an emulator without PMU: registers read 0 */
    assert_false(pmu_amd.probe(&caps));
    assert_int_equal(fake.logged, 0);
    begin(V2);
    fake_find(0xc0000301)->msr = 0xffff;
    assert_false(pmu_amd.probe(&caps));
    assert_int_equal(fake.logged, 1);
}

static void held_counters_are_left_out(void **state)
{
    (void)state;
    begin(CORE);
    fake_find(0xc0010202)->value = 0x530076; /* enabled before we came */
    fake_find(0xc0010205)->select = 0; /* does not count */
    assert_true(pmu_amd.probe(&caps));
    assert_int_equal(caps.general_mask, 0x39);
    assert_int_equal(caps.general_held, 6);
    assert_int_equal(caps.general_counters, 4);
    assert_int_equal(fake_find(0xc0010202)->value, 0x530076);
}

static void assign_two(void)
{
    struct pmu_refusal failed;

    session.event_count = 2;
    session.events[0].encoding = 0x100c0;
    session.events[1].encoding = 0x100030043; /* event 143H, kernel and user */
    assert_int_equal(pmu_amd.assign(&caps, &session, &failed), 0);
    fake.write_count = 0;
}

static void starts_core_counters_under_global_control(void **state)
{
    (void)state;
    begin(V2);
    assert_true(pmu_amd.probe(&caps));
    assign_two();
    pmu_amd.start(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0000301, 0},
                                             {0xc0010200, 0},
                                             {0xc0010201, 0xffffffff0000},
                                             {0xc0010200, 0x4100c0},
                                             {0xc0010202, 0},
                                             {0xc0010203, 0xffffffff0000},
                                             {0xc0010202, 0x100430043},
                                             {0xc0000301, 3},
                                             {0, 0}});
    pmu_amd.stop(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0000301, 0}, {0, 0}});
}

static void a_register_that_faults_is_named(void **state)
{
    (void)state;
    begin(LEGACY);
    assert_true(pmu_amd.probe(&caps));
    assign_two();
    fake_find(0xc0010001)->reserved = 1ull << 32; /* event numbers above FFH */
    assert_int_equal(pmu_amd.start(&session), -EIO);
    assert_int_equal(pmu_start_refusal.event, 1);
    assert_int_equal(pmu_start_refusal.msr, 0xc0010001);
    assert_int_equal(pmu_start_refusal.value, 0x100430043);
    session.event_count = 1;
    assert_int_equal(pmu_amd.start(&session), 0);
}

static void starts_legacy_counters_one_by_one(void **state)
{
    (void)state;
    begin(LEGACY);
    assert_true(pmu_amd.probe(&caps));
    assign_two();
    pmu_amd.start(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0010000, 0},
                                             {0xc0010004, 0xffffffff0000},
                                             {0xc0010000, 0x4100c0},
                                             {0xc0010001, 0},
                                             {0xc0010005, 0xffffffff0000},
                                             {0xc0010001, 0x100430043},
                                             {0, 0}});
    pmu_amd.stop(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0010000, 0}, {0xc0010001, 0}, {0, 0}});
}

static void too_many_events_are_refused(void **state)
{
    struct pmu_refusal failed = {.event = 99, .other = 99};

    (void)state;
    begin(CORE);
    assert_true(pmu_amd.probe(&caps));
    session.event_count = 7;
    assert_int_equal(pmu_amd.assign(&caps, &session, &failed), -ENOSPC);
    assert_int_equal(failed.event, 6);
}

static void start_sampling(enum generation g, uint64_t encoding)
{
    struct pmu_refusal failed;

    begin(g);
    assert_true(pmu_amd.probe(&caps));
    assert_true(caps.overflow);
    session.period = 1000;
    session.event_count = 1;
    session.events[0].encoding = encoding;
    assert_int_equal(pmu_amd.assign(&caps, &session, &failed), 0);
    fake.write_count = 0;
    pmu_amd.start(&session);
}

static uint64_t value;

static void ring_3_overflows_touch_two_registers(void **state)
{
    (void)state;
    start_sampling(V2, 0x100c0);
    fake_expect_writes((const uint64_t[][2]){{0xc0000301, 0},
                                             {0xc0000302, 1},
                                             {0xc0010200, 0},
                                             {0xc0010201, 0xfffffffffc18},
                                             {0xc0010200, 0x5100c0},
                                             {0xc0000301, 1},
                                             {0, 0}});
    assert_false(pmu_overflow_look(&value));
    fake_find(0xc0000300)->value = 1;
    assert_true(pmu_overflow_look(&value));
    assert_int_equal(value, FAKE_RDPMC);
    pmu_overflow_arm(2000, true);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0xc0000300, 0},
                                             {FAKE_READ | 0xc0000300, 1},
                                             {0xc0010201, 0xfffffffff830},
                                             {0xc0000302, 1},
                                             {0x834, 0x400},
                                             {0, 0}});
    pmu_amd.stop(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0000301, 0}, {0xc0000302, 1}, {0, 0}});
}

/* Where delivering an interrupt masks nothing, nothing is to be enabled again. */
static void leaves_the_local_apic_alone_if_it_may(void **state)
{
    (void)state;
    start_sampling(V2, 0x100c0);
    fake.write_count = 0;
    pmu_overflow_arm(2000, false);
    fake_expect_writes(
        (const uint64_t[][2]){{0xc0010201, 0xfffffffff830}, {0xc0000302, 1}, {0, 0}});
}

/* By RDPMC, or from the registers where a hypervisor lets those pass. */
static void reads_in_the_cheaper_way(void **state)
{
    uint64_t values[HR_EVENTS_MAX] = {0};

    (void)state;
    start_sampling(V2, 0x100c0);
    assert_int_equal(pmu_first_counter_msr(), 0xc0010201);
    pmu_amd.read(&session, 0, values);
    assert_int_equal(values[0], FAKE_RDPMC);
    fake_find(0xc0010201)->value = 77;
    const struct pmu_driver *by_msr = pmu_by_msr(&pmu_amd);
    by_msr->read(&session, 0, values);
    assert_int_equal(values[0], 77);
    values[0] = 5;
    by_msr->read_others(&session, 0, values);
    assert_int_equal(values[0], 5);
    pmu_amd.read_others(&session, 0, values);
    assert_int_equal(values[0], 5);
}

static void ring_0_counters_are_stopped_where_one_write_does_it(void **state)
{
    (void)state;
    start_sampling(V2, 0x300c0);
    fake.write_count = 0;
    fake_find(0xc0000300)->value = 1;
    assert_true(pmu_overflow_look(&value));
    pmu_overflow_arm(1000, true);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0xc0000300, 1},
                                             {0xc0000301, 0},
                                             {0xc0010201, 0xfffffffffc18},
                                             {0xc0000302, 1},
                                             {0x834, 0x400},
                                             {0xc0000301, 1},
                                             {0, 0}});
    pmu_amd.pause(&session);
    pmu_amd.resume(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0000301, 0}, {0xc0000301, 1}, {0, 0}});
}

static void without_a_status_the_counter_tells(void **state)
{
    (void)state;
    start_sampling(CORE, 0x300c0);
    fake_expect_writes((const uint64_t[][2]){
        {0xc0010200, 0}, {0xc0010201, 0xfffffffffc18}, {0xc0010200, 0x5300c0}, {0, 0}});
    fake_find(0xc0010201)->value = 7;
    assert_true(pmu_overflow_look(&value));
    assert_int_equal(value, 7); /* read once */
    pmu_overflow_arm(1000, true);
    /* a second NMI, latched while the first was served */
    assert_false(pmu_overflow_look(&value));
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0xc0010201, 7},
                                             {0xc0010201, 0xfffffffffc18},
                                             {0x834, 0x400},
                                             {FAKE_READ | 0xc0010201, 0xfffffffffc18},
                                             {0, 0}});
    pmu_amd.pause(&session);
    pmu_amd.resume(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0010200, 0}, {0xc0010200, 0x5300c0}, {0, 0}});
    assert_true(pmu_overflow.bare && !pmu_overflow.plain);
    fake_find(0xc0010201)->value = 1ull << 40 | 7;
    assert_true(pmu_overflow_look_short(false, &value));
    assert_int_equal(value, 1ull << 40 | 7);
    pmu_overflow_arm_short(false, false);
    assert_false(pmu_overflow_look_short(false, &value));
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0xc0010201, 1ull << 40 | 7},
                                             {0xc0010201, 0xfffffffffc18},
                                             {FAKE_READ | 0xc0010201, 0xfffffffffc18},
                                             {0, 0}});
}

static void leaves_registers_as_they_were(void **state)
{
    (void)state;
    begin(V2);
    fake_find(0xc0000301)->value = 0x20;
    fake_find(0xc0010200)->value = 1u << 22; /* the firmware's */
    assert_true(pmu_amd.probe(&caps));
    uint32_t mask = caps.general_mask;
    fake.write_count = 0;
    pmu_amd.reset();
    assert_int_equal(fake.write_count, 2 * caps.general_counters + 3);
    assert_int_equal(fake.writes[0].msr, 0xc0000301);
    assert_int_equal(fake.writes[1].msr, 0xc0010202);
    assert_int_equal(fake_find(0xc0000302)->value, mask);
    assert_int_equal(fake_find(0xc0000301)->value, 0x20);
    assert_int_equal(fake_find(0xc0010200)->value, 1u << 22);
}

static void begin_ibs(void)
{
    begin(V2);
    has_ibs = true;
    for (uint32_t msr = 0xc0011030; msr <= 0xc001103d; msr++)
        fake_add(msr, 0, 0);
    fake_find(0xc001103a)->value = 0x101;
    fake_add(0x851, 0x10000, 0);
    assert_true(pmu_amd.probe(&caps));
}

static void add_records(uint64_t encoding, uint64_t period)
{
    session.events[session.event_count].record_period = period;
    session.events[session.event_count++].encoding = encoding;
}

/* Events of instruction-based sampling take no counter from the others. */
static void samples_are_beside_counters(void **state)
{
    static struct pmu_precise area;
    struct pmu_refusal refusal;

    (void)state;
    begin_ibs();
    assert_null(caps.no_records);
    assert_int_equal(caps.record_sources, HR_SOURCES_AMD_FINE);
    add_records(RUN_SELECT_IBS_OP, 1009);
    for (uint32_t i = 0; i < 6; i++)
        add_records(0x100c0 + i, 0);
    assert_int_equal(pmu_amd.assign(&caps, &session, &refusal), 0);
    assert_int_equal(session.events[0].record_period, 1008);
    assert_int_equal(session.events[6].counter, 5);
    session.event_count = 2;
    fake.write_count = 0;
    assert_int_equal(pmu_amd.start(&session), 0);
    fake_expect_writes((const uint64_t[][2]){{0xc0000301, 0},
                                             {0xc0010200, 0},
                                             {0xc0010201, 0xffffffff0000},
                                             {0xc0010200, 0x4100c0},
                                             {0xc0000301, 1},
                                             {0, 0}});
    area.buffer = (uint8_t *)&area; /* not written to */
    assert_int_equal(pmu_amd.precise_start(&session, &area), 0);
    fake_expect_writes((const uint64_t[][2]){{0xc0011033, 0},
                                             {0xc0011030, 0},
                                             {FAKE_READ | 0x834, 0},
                                             {0x851, 0},
                                             {0xc0011033, 1008 / 16 | 1u << 19 | 1u << 17},
                                             {0, 0}});
    pmu_amd.precise_stop(&session);
    fake_expect_writes((const uint64_t[][2]){{0xc0011033, 0}, {0xc0011030, 0}, {0, 0}});
    pmu_amd.reset();
    assert_int_equal(fake_find(0x851)->value, 0x10000);
}

static int refused(uint64_t encoding, uint64_t period, struct pmu_refusal *refusal)
{
    memset(&session, 0, sizeof session);
    add_records(0x100c0, 0);
    add_records(encoding, period);
    return pmu_amd.assign(&caps, &session, refusal);
}

static void records_that_cannot_be(void **state)
{
    struct pmu_refusal refusal = {0};

    (void)state;
    begin_ibs();
    assert_int_equal(refused(RUN_SELECT_IBS_OP, 0, &refusal), -ENXIO);
    assert_int_equal(refusal.event, 1);
    assert_int_equal(refused(0x100c1, 1000, &refusal), -EINVAL);
    assert_int_equal(refused(RUN_SELECT_IBS_OP, 143, &refusal), -ERANGE);
    assert_int_equal(refusal.value, 144);
    assert_int_equal(refused(RUN_SELECT_IBS_OP, 0x8000000, &refusal), -ERANGE);
    assert_int_equal(refusal.value, 0x7fffff0);
    assert_int_equal(refused(RUN_SELECT_IBS_FETCH, 0x100000, &refusal), -ERANGE);
    assert_int_equal(refusal.value, 0xffff0);
    begin(V2);
    assert_true(pmu_amd.probe(&caps));
    assert_string_equal(caps.no_records, "CPUID does not have IBS, as in virtual machines");
    assert_int_equal(refused(RUN_SELECT_IBS_OP, 1000, &refusal), -ENODEV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_beside_counters),
        cmocka_unit_test(records_that_cannot_be),
        cmocka_unit_test(finds_the_generation),
        cmocka_unit_test(counters_that_do_not_count_are_not_used),
        cmocka_unit_test(held_counters_are_left_out),
        cmocka_unit_test(starts_core_counters_under_global_control),
        cmocka_unit_test(a_register_that_faults_is_named),
        cmocka_unit_test(starts_legacy_counters_one_by_one),
        cmocka_unit_test(leaves_registers_as_they_were),
        cmocka_unit_test(too_many_events_are_refused),
        cmocka_unit_test(ring_3_overflows_touch_two_registers),
        cmocka_unit_test(leaves_the_local_apic_alone_if_it_may),
        cmocka_unit_test(reads_in_the_cheaper_way),
        cmocka_unit_test(ring_0_counters_are_stopped_where_one_write_does_it),
        cmocka_unit_test(without_a_status_the_counter_tells),
    };
    return cmocka_run_group_tests_name("pmu_amd", tests, NULL, NULL);
}
