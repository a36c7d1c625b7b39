/* What a CPU model restricts events to, the second off-core register, and errata. */
#include "tests/unit/test.h"

#include <string.h>

#include "host/events/events_constraints.h"
#include "host/events/events_run.h"

/* The sanitizer's hook: libpfm4 keeps what it allocates when it starts. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_sigill=1";
}

static struct events_cpu cpu_of(const char *text)
{
    struct events_cpu cpu;

    assert_int_equal(events_cpu_parse(&cpu, text), 0);
    return cpu;
}

static void models_restrict_events(void **state)
{
    static const struct {
        const char *cpu;
        uint64_t select;
        uint32_t counters;
    } known[] = {
        {"intel-6-106", 0x81d0, 0xf}, /* Ice Lake: MEM_INST_RETIRED.ALL_LOADS */
        {"intel-6-106", 0x140014a3, 0}, {"intel-6-106", 0x60006a3, 0xf},
        {"intel-6-106", 0x412e, 0},     {"intel-6-106", 0x3c, 0},
        {"intel-6-106", 0xff, 0},       {"intel-6-143", 0x412e, 0}, /* Sapphire Rapids */
        {"intel-6-143", 0x12a, 0xf},    {"intel-6-143", 0x2cd, 1},
        {"intel-6-143", 0xc5, 0},       {"intel-6-85", 0x148, 0}, /* Skylake: no longer counter 2 */
        {"intel-6-85", 0x81d0, 0xf},    {"intel-6-85", 0x1c0, 2},
        {"intel-6-85", 0x300c0, 0},     {"intel-6-60", 0x148, 4}, /* Haswell */
        {"intel-6-60", 0x80008a3, 4},   {"intel-6-42", 0x2cd, 8}, /* Sandy Bridge */
        {"intel-6-26", 0x151, 3},       {"intel-6-15", 0x12, 2}, /* Nehalem, Core 2 */
        {"intel-6-250", 0x81d0, 0},     {"amd-25-1", 0x129, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct events_cpu cpu = cpu_of(known[i].cpu);

        assert_int_equal(events_constraints_counters(&cpu, known[i].select), known[i].counters);
    }
}

static void encode(const char *cpu_text, size_t count, struct events_encoding *encodings)
{
    struct events_wanted wanted = {
        .names = {"LLC-loads", "LLC-stores", "LLC-loads:k", "LLC-store-misses"}, .count = count};
    struct run_failure failure = {0};
    struct events_cpu cpu = cpu_of(cpu_text);

    assert_int_equal(events_run_encode(&cpu, &wanted, encodings, &failure), 0);
}

static void off_core_events_take_both_registers(void **state)
{
    struct events_encoding e[HR_EVENTS_MAX];

    (void)state;
    encode("intel-6-106", 4, e);
    assert_int_equal(e[0].select, 0x101b7);
    assert_int_equal(e[1].select, 0x101bb);
    assert_int_equal(e[1].counters, 0xf);
    assert_int_equal(e[2].select, 0x201b7); /* the value of the first */
    assert_int_equal(e[2].companion, e[0].companion);
    assert_int_equal(e[3].select, 0x101b7); /* a third value: the guest will refuse it */
    encode("intel-6-143", 2, e);
    assert_int_equal(e[0].select, 0x1012a);
    assert_int_equal(e[1].select, 0x1012b);
    encode("intel-6-26", 2, e); /* Nehalem has one register */
    assert_int_equal(e[1].select & 0xffff, e[0].select & 0xffff);
}

static void errata_are_named(void **state)
{
    struct events_cpu cpu = cpu_of("intel-6-42");

    (void)state;
    assert_non_null(strstr(events_constraints_erratum(&cpu, 0x1081d0), "BJ122"));
    assert_null(events_constraints_erratum(&cpu, 0xc0));
    cpu = cpu_of("intel-6-60");
    assert_non_null(strstr(events_constraints_erratum(&cpu, 0x8d1), "HSD29"));
    cpu = cpu_of("intel-6-26");
    assert_non_null(strstr(events_constraints_erratum(&cpu, 0xc5), "AAJ80"));
    cpu = cpu_of("intel-6-106");
    assert_null(events_constraints_erratum(&cpu, 0x8d1));
    cpu = cpu_of("amd-25-1");
    assert_null(events_constraints_erratum(&cpu, 0xd0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_restrict_events),
        cmocka_unit_test(off_core_events_take_both_registers),
        cmocka_unit_test(errata_are_named),
    };
    return cmocka_run_group_tests_name("events_constraints", tests, NULL, NULL);
}
