/* PEBS: what a CPU can do, the exact register accesses, and records of all formats, damaged ones
 * too. */
#include "tests/unit/drivers/fake_intel.h"

#define FORMAT(n) ((uint64_t)(n) << 8 | 1u << 13)
#define BASELINE (1ull << 14)
#define USER_LOADS 0x181d0
#define USER_LATENCY 0x101cd
#define USER_INSTRUCTIONS 0x100c0

static struct pmu_precise area;
static uint8_t buffer[8192] __attribute__((aligned(64)));

static void begin_pebs(uint32_t version, uint32_t general, uint32_t fixed, uint64_t capabilities)
{
    begin(version, general, fixed);
    leaf_01 = (struct cpuid_result){.ecx = 1u << 15 | 1u << 2, .edx = 1u << 21};
    if (version >= 2)
        fake_find(0x345)->value = capabilities;
    fake_add(0x38e, 0, 0);
    fake_add(0x390, 0, 0);
    fake_add(0x1d9, 0, 0);
    fake_add(0x1a0, 0, 0);
    fake_add(0x3f1, 0, 0);
    fake_add(0x3f2, 0, 0);
    fake_add(0x3f6, 0, 0);
    fake_add(0x600, 0, 0);
    memset(&area, 0, sizeof area);
    area.buffer = buffer;
    area.bytes = sizeof buffer;
    area.records = 10;
}

static void add_precise(uint64_t encoding, uint64_t period)
{
    session.precise = true;
    session.events[session.event_count].record_period = period;
    add_event(encoding);
}

static void assign(void)
{
    struct pmu_refusal refusal;

    assert_true(pmu_intel.probe(&caps));
    assert_null(caps.no_records);
    assert_int_equal(pmu_intel.assign(&caps, &session, &refusal), 0);
    fake.write_count = 0;
}

static void a_cpu_without_it_says_why(void **state)
{
    (void)state;
    begin_pebs(5, 8, 4, FORMAT(4) | BASELINE);
    leaf_01.edx = 0;
    assert_true(pmu_intel.probe(&caps));
    assert_string_equal(caps.no_records, "CPUID does not have the debug store (DS)");
    begin_pebs(5, 8, 4, FORMAT(4) | BASELINE);
    fake_find(0x1a0)->value = 1u << 12;
    assert_true(pmu_intel.probe(&caps));
    assert_string_equal(caps.no_records, "IA32_MISC_ENABLE says that PEBS is unavailable");
    begin_pebs(5, 8, 4, FORMAT(4)); /* hypervisors: adaptive records need the baseline */
    assert_true(pmu_intel.probe(&caps));
    assert_non_null(caps.no_records);
    begin_pebs(2, 2, 3, FORMAT(0)); /* Core 2 */
    assert_true(pmu_intel.probe(&caps));
    assert_non_null(caps.no_records);
    begin_pebs(5, 8, 4, FORMAT(4) | BASELINE);
    fake_find(0x3f2)->msr = 0x9999;
    assert_true(pmu_intel.probe(&caps));
    assert_string_equal(caps.no_records, "a register of PEBS faults, whatever CPUID says");
    begin_pebs(1, 2, 0, 0);
    assert_true(pmu_intel.probe(&caps));
    assert_string_equal(caps.no_records, "version 1 has no PEBS");
}

static void adaptive_records_of_any_counter(void **state)
{
    (void)state;
    begin_pebs(5, 8, 4, FORMAT(4) | BASELINE);
    add_precise(USER_INSTRUCTIONS, 1000);
    add_precise(USER_LOADS, 50);
    add_event(0x100c4); /* only counts */
    assign();
    assert_int_equal(caps.record_format, 4);
    assert_int_equal(pmu_intel.precise_start(&session, &area), 0);
    fake_expect_writes((const uint64_t[][2]){{0x309, 0xfffffffffc19},
                                             {0x4c1, 0xffffffffffcf},
                                             {0x600, (uint64_t)&area.ds},
                                             {0x3f2, 1},
                                             {0x390, 1ull << 62},
                                             {0x3f1, 1ull << 32 | 1},
                                             {0, 0}});
    assert_int_equal(area.kind, PMU_RECORD_ADAPTIVE);
    assert_int_equal(area.ds.base, (uint64_t)buffer);
    assert_int_equal(area.ds.index, (uint64_t)buffer);
    assert_int_equal(area.ds.maximum, (uint64_t)buffer + 8192);
    assert_int_equal(area.ds.threshold, (uint64_t)buffer + 640);
    assert_int_equal(area.ds.fixed_reset[0], 0xfffffffffc19);
    assert_int_equal(area.ds.general_reset[0], 0xffffffffffcf);
    assert_int_equal(area.counters, 1ull << 32 | 1);
    assert_int_equal(area.events[32], 0);
    assert_int_equal(area.events[0], 1);
    assert_int_equal(area.bits[1], PMU_NO_COUNTER); /* only counts */
    pmu_intel.start(&session); /* adaptive, no interrupt; what only counts starts as always */
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x309, 0xfffffffffc19},
                                             {0x186, 0},
                                             {0x4c1, 0xffffffffffcf},
                                             {0x186, 0x4004181d0},
                                             {0x187, 0},
                                             {0x4c2, 0xffffffff0000},
                                             {0x187, 0x4100c4},
                                             {0x38d, 1ull << 32 | 2},
                                             {0x38f, 1ull << 32 | 3},
                                             {0, 0}});
    pmu_precise_period(&area, &session.events[0], 7);
    assert_int_equal(area.ds.fixed_reset[0], 0xfffffffffffa);
    pmu_intel.precise_served();
    fake_expect_writes((const uint64_t[][2]){{0x390, 1ull << 62}, {0, 0}});
    pmu_intel.precise_stop(&session);
    fake_expect_writes((const uint64_t[][2]){{0x3f1, 0}, {0, 0}});
    fake_find(0x3f1)->value = 1;
    pmu_intel.reset();
    assert_int_equal(fake_find(0x3f1)->value, 0);
    assert_int_equal(fake_find(0x600)->value, 0);
}

static void before_the_baseline_four_counters_do_it(void **state)
{
    (void)state;
    begin_pebs(4, 8, 3, FORMAT(3));
    add_precise(USER_INSTRUCTIONS, 1000);
    add_precise(USER_LATENCY, 100);
    session.events[1].encoding_ext = 3;
    assign();
    assert_int_equal(session.events[0].counter, 0); /* not fixed counter 0 */
    assert_int_equal(session.events[1].counter, 1);
    assert_int_equal(pmu_intel.precise_start(&session, &area), 0);
    fake_expect_writes(
        (const uint64_t[][2]){{0x4c1, 0xfffffffffc19},
                              {0x4c2, 0xffffffffff9d},
                              {0x600, (uint64_t)&area.ds},
                              {0x390, 1ull << 62},
                              {0x3f1, 1ull << 33 | 3}, /* load latency of counter 1 */
                              {0, 0}});
    assert_int_equal(area.kind, PMU_RECORD_FORMAT3);
    assert_int_equal(area.ds.maximum, (uint64_t)buffer + 40 * 200);
    pmu_intel.start(&session);
    fake_expect_writes((const uint64_t[][2]){{0x38f, 0},
                                             {0x186, 0},
                                             {0x4c1, 0xfffffffffc19},
                                             {0x186, 0x4100c0},
                                             {0x3f6, 3},
                                             {0x187, 0},
                                             {0x4c2, 0xffffffffff9d},
                                             {0x187, 0x4101cd},
                                             {0x38d, 0},
                                             {0x38f, 3},
                                             {0, 0}});
    for (uint32_t i = session.event_count; i < 5; i++)
        add_precise(0x100c4 + (i << 8), 10);
    assert_int_equal(pmu_intel.assign(&caps, &session, &(struct pmu_refusal){0}), -ENOSPC);
}

static void a_register_that_faults_ends_the_start(void **state)
{
    (void)state;
    begin_pebs(5, 8, 4, FORMAT(4) | BASELINE);
    add_precise(USER_LOADS, 50);
    assign();
    fake_find(0x3f1)->reserved = ~0ull;
    assert_int_equal(pmu_intel.start(&session), 0);
    assert_int_equal(pmu_intel.precise_start(&session, &area), -EIO);
    assert_int_equal(pmu_start_refusal.msr, 0x3f1);
}

/* Empties the buffer as if the processor had written up to `used`; returns how many records. */
static uint32_t take(uint64_t used)
{
    const uint8_t *at, *end;

    area.ds.index = area.ds.base + used;
    at = pmu_precise_take(&area, &end);
    assert_ptr_equal(at, buffer);
    assert_int_equal(area.ds.index, area.ds.base);
    assert_int_equal((end - at) % area.record_bytes, 0);
    return (uint32_t)(end - at) / area.record_bytes;
}

static void an_index_is_not_trusted(void **state)
{
    const uint8_t *end;

    (void)state;
    begin_pebs(5, 8, 4, FORMAT(4) | BASELINE);
    area.ds.base = area.ds.index = (uint64_t)buffer;
    assert_ptr_equal(pmu_precise_take(&area, &end), buffer); /* never started */
    assert_ptr_equal(end, buffer);
    add_precise(USER_LOADS, 50);
    assign();
    assert_int_equal(pmu_intel.start(&session), 0);
    assert_int_equal(pmu_intel.precise_start(&session, &area), 0);
    assert_int_equal(take(0), 0);
    assert_int_equal(take(64), 1);
    assert_int_equal(take(63), 0);
    assert_int_equal(take(64 * 5 + 1), 5);
    assert_int_equal(take(8192), 128);
    assert_int_equal(take(8193), 0);
    assert_int_equal(take(~0ull), 0); /* before the buffer */
    assert_int_equal(take(1ull << 47), 0);
}

static void put(uint8_t *record, uint32_t offset, uint64_t value)
{
    memcpy(record + offset, &value, sizeof value);
}

static void order_registers(enum pmu_record_kind kind, const uint8_t *record, uint64_t *registers)
{
    uint64_t words[HR_ACCESS_REGISTERS];

    memcpy(words, pmu_precise_words(kind, record), sizeof words);
    pmu_precise_registers(kind, words, registers);
}

static void adaptive_records_are_read(void **state)
{
    uint64_t registers[HR_ACCESS_REGISTERS];
    uint8_t record[208];

    (void)state;
    for (uint32_t i = 0; i < sizeof record; i += 8)
        put(record, i, 0x1000 + i);
    assert_false(pmu_precise_is(PMU_RECORD_ADAPTIVE, record));
    put(record, 0, 64ull << 48 | 1);
    assert_true(pmu_precise_is(PMU_RECORD_ADAPTIVE, record));
    assert_false(pmu_precise_is(PMU_RECORD_ADAPTIVE_REGISTERS, record));
    put(record, 0, 64ull << 48 | 1 | 55ull << 32); /* slots retired */
    assert_true(pmu_precise_is(PMU_RECORD_ADAPTIVE, record));
    put(record, 0, 208ull << 48 | 3);
    assert_true(pmu_precise_is(PMU_RECORD_ADAPTIVE_REGISTERS, record));
    put(record, 0, 200ull << 48 | 3);
    assert_false(pmu_precise_is(PMU_RECORD_ADAPTIVE_REGISTERS, record));
    assert_int_equal(pmu_precise_ip(PMU_RECORD_ADAPTIVE, record), 0x1008);
    assert_int_equal(pmu_precise_counters(PMU_RECORD_ADAPTIVE, record), 0x1010);
    assert_int_equal(pmu_precise_ticks(PMU_RECORD_ADAPTIVE, record), 0x1018);
    assert_ptr_equal(pmu_precise_access(PMU_RECORD_ADAPTIVE, record), record + 32);
    order_registers(PMU_RECORD_ADAPTIVE_REGISTERS, record, registers);
    for (uint32_t i = 0; i < HR_ACCESS_REGISTERS; i++)
        assert_int_equal(registers[i], 0x1000 + 64 + 8 * i);
}

static void fixed_records_are_read(void **state)
{
    /* where rflags rip rax rcx rdx rbx rsp rbp rsi rdi r8 ... are */
    static const uint8_t offsets[HR_ACCESS_REGISTERS] = {0x00, 0x08, 0x10, 0x20, 0x28, 0x18,
                                                         0x48, 0x40, 0x30, 0x38, 0x50, 0x58,
                                                         0x60, 0x68, 0x70, 0x78, 0x80, 0x88};
    uint64_t registers[HR_ACCESS_REGISTERS];
    uint8_t record[200];

    (void)state;
    for (uint32_t i = 0; i < sizeof record; i += 8)
        put(record, i, 0x2000 + i);
    for (uint32_t kind = PMU_RECORD_FORMAT1; kind <= PMU_RECORD_FORMAT3; kind++) {
        assert_true(pmu_precise_is(kind, record));
        assert_int_equal(pmu_precise_ip(kind, record),
                         kind == PMU_RECORD_FORMAT1 ? 0x2008 : 0x20b0);
        assert_int_equal(pmu_precise_counters(kind, record), 0x2090);
        assert_int_equal(pmu_precise_ticks(kind, record), kind == PMU_RECORD_FORMAT3 ? 0x20c0 : 0);
        assert_ptr_equal(pmu_precise_access(kind, record), record + 0x98);
        order_registers(kind, record, registers);
        for (uint32_t i = 0; i < HR_ACCESS_REGISTERS; i++)
            assert_int_equal(registers[i], 0x2000 + offsets[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cpu_without_it_says_why),
        cmocka_unit_test(adaptive_records_of_any_counter),
        cmocka_unit_test(before_the_baseline_four_counters_do_it),
        cmocka_unit_test(a_register_that_faults_ends_the_start),
        cmocka_unit_test(an_index_is_not_trusted),
        cmocka_unit_test(adaptive_records_are_read),
        cmocka_unit_test(fixed_records_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
