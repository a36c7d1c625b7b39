/* host/machine/: figures of the CPUs, facts, and what they are made of when a trace is hostile. */
#include "host/machine/machine_facts.h"

#include <stdlib.h>
#include <string.h>

#include "host/machine/machine_cpus.h"
#include "tests/unit/test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct trace_info info;
static struct hr_rec_machine_cpu cpus[3];

/* Not owned by the info: no trace_info_free. */
static void begin(size_t cpu_count)
{
    trace_info_init(&info);
    info.has_clock = true;
    info.clock =
        (struct hr_meta_clock){.ticks_per_second = 2000000000, .method = HR_CLOCK_CPUID_15H};
    memset(cpus, 0, sizeof cpus);
    info.machines = cpus;
    info.machine_count = cpu_count;
    for (size_t i = 0; i < cpu_count; i++)
        cpus[i].cpu = (uint16_t)(i + 1);
}

static void set_texts(struct trace_text *texts, size_t count)
{
    info.texts = texts;
    info.text_count = count;
}

static void frequencies_are_ratios_of_the_tsc(void **state)
{
    (void)state;
    begin(1);
    cpus[0].flags = HR_MACHINE_APERF;
    cpus[0].aperf = 3000000;
    cpus[0].mperf = 2000000;
    cpus[0].aperf_before = 2000000;
    cpus[0].mperf_before = 2000000;
    struct machine_cpu cpu = machine_cpu(&info, &cpus[0]);
    assert_true(cpu.mean_hz > 2.9999e9 && cpu.mean_hz < 3.0001e9);
    assert_true(cpu.before_hz > 1.9999e9 && cpu.before_hz < 2.0001e9);
    assert_true(cpu.after_hz == 0);
    assert_true(cpu.moved > 0.4999 && cpu.moved < 0.5001);
    assert_false(cpu.has_smis || cpu.has_thermal);
    assert_int_equal(cpu.margin, -1);
}

static void frequencies_that_say_nothing_are_unknown(void **state)
{
    (void)state;
    begin(1);
    cpus[0].aperf = 3000000;
    cpus[0].mperf = 2000000;
    assert_true(machine_cpu(&info, &cpus[0]).mean_hz == 0); /* no flag */
    cpus[0].flags = HR_MACHINE_APERF;
    cpus[0].mperf = 100;
    assert_true(machine_cpu(&info, &cpus[0]).mean_hz == 0); /* it slept */
    cpus[0].mperf = 2000000;
    info.clock.method = HR_CLOCK_VIRTUAL;
    assert_true(machine_cpu(&info, &cpus[0]).mean_hz == 0);
    info.clock.method = HR_CLOCK_CPUID_15H;
    info.has_clock = false;
    assert_true(machine_cpu(&info, &cpus[0]).mean_hz == 0);
}

static void smis_are_counted_around_the_end(void **state)
{
    (void)state;
    begin(1);
    cpus[0].smi_before = 0xfffffffe;
    cpus[0].smi_after = 3;
    assert_int_equal(machine_cpu(&info, &cpus[0]).smis, 0);
    cpus[0].flags = HR_MACHINE_SMI;
    assert_int_equal(machine_cpu(&info, &cpus[0]).smis, 5);
}

static void logs_of_before_do_not_count(void **state)
{
    (void)state;
    begin(1);
    cpus[0].flags = HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE;
    cpus[0].thermal_before = MACHINE_HOT;
    cpus[0].thermal_after = MACHINE_HOT | MACHINE_POWER | 1u << 31 | 20u << 16;
    cpus[0].package_after = MACHINE_PROCHOT | MACHINE_DOMAIN; /* no such bit of the package's */
    struct machine_cpu cpu = machine_cpu(&info, &cpus[0]);
    assert_int_equal(cpu.events, MACHINE_POWER | MACHINE_PROCHOT);
    assert_int_equal(cpu.margin, 20);
    cpus[0].flags |= HR_MACHINE_LOGS; /* then what is there is of the run */
    assert_int_equal(machine_cpu(&info, &cpus[0]).events,
                     MACHINE_HOT | MACHINE_POWER | MACHINE_PROCHOT);
    cpus[0].thermal_after = 0x5540; /* thresholds: nothing slowed down */
    cpus[0].package_after = 0;
    assert_int_equal(machine_cpu(&info, &cpus[0]).events, 0);
}

static void trouble_is_summed_over_the_cpus(void **state)
{
    char words[MACHINE_TROUBLE_BYTES];

    (void)state;
    begin(3);
    assert_false(machine_trouble(&info, words));
    assert_string_equal(words, "");
    for (int i = 0; i < 3; i++) {
        cpus[i].flags = HR_MACHINE_APERF | HR_MACHINE_SMI;
        cpus[i].aperf = cpus[i].mperf = cpus[i].mperf_before = 1000000;
        cpus[i].aperf_before = 1009000; /* within 1 % */
    }
    assert_false(machine_trouble(&info, words));
    cpus[1].smi_after = 1;
    assert_true(machine_trouble(&info, words));
    assert_string_equal(words, "1 SMI stopped CPUs");
    cpus[2].smi_after = 1000;
    cpus[2].aperf_before = 1020000;
    assert_true(machine_trouble(&info, words));
    assert_string_equal(words, "1,001 SMIs stopped CPUs; the frequency moved by 2.0 % "
                               "(CPU 3: 2.000 GHz to 2.040 GHz)");
}

/* A steady frequency is no better when it is not the one that the processor is made for. */
static void a_frequency_far_from_the_base_is_trouble(void **state)
{
    static const struct {
        uint64_t aperf;
        const char *words;
    } known[] = {
        {905000, ""},
        {1095000, ""},
        {400000, "CPU 2 ran at 0.800 GHz, 40 % of the base frequency"},
        {1500000, "CPU 2 ran at 3.000 GHz, 150 % of the base frequency"},
    };
    char words[MACHINE_TROUBLE_BYTES];

    (void)state;
    begin(3);
    for (int i = 0; i < 3; i++) {
        cpus[i].flags = HR_MACHINE_APERF;
        cpus[i].aperf = cpus[i].mperf = 1000000;
    }
    cpus[2].aperf = 1020000; /* not the furthest */
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        cpus[1].aperf = known[i].aperf;
        machine_trouble(&info, words);
        assert_string_equal(words, known[i].words);
    }
    assert_true(machine_is_far(machine_cpu(&info, &cpus[1]).of_base));
    assert_false(machine_is_far(machine_cpu(&info, &cpus[2]).of_base));
    assert_false(machine_is_far(0)); /* unknown */
    info.clock.method = HR_CLOCK_VIRTUAL;
    assert_false(machine_trouble(&info, words));
}

/* The largest numbers that a trace can hold stay finite and in their rooms. */
static void forged_numbers_stay_in_bounds(void **state)
{
    char words[MACHINE_TROUBLE_BYTES], hz[MACHINE_HZ_BYTES];
    struct machine machine;

    (void)state;
    begin(2);
    memset(cpus, 0xff, sizeof cpus);
    cpus[1].aperf_before = 1;
    info.clock.ticks_per_second = UINT64_MAX;
    cpus[0].mperf = 10000;
    assert_true(machine_trouble(&info, words));
    assert_true(strlen(words) < sizeof words - 1);
    assert_non_null(strstr(words, "too hot, PROCHOT, critical, power limit, current limit"));
    assert_string_equal(machine_hz(machine_cpu(&info, &cpus[0]).mean_hz, hz), "over 1000 GHz");
    assert_int_equal(machine_gather(&machine, &info), 0);
    machine_free(&machine);
}

static void facts_are_grouped_and_ranked(void **state)
{
    struct trace_text texts[] = {
        {(char *)"machine.map_ram", (char *)"1 4096"},
        {(char *)"machine.map_reserved", (char *)"2 5000000 "},
        {(char *)"machine.memory", (char *)"2000000000"},
        {(char *)"machine.memory_installed", (char *)"12 apples"},
        {(char *)"machine.model", (char *)"Model"},
        {(char *)"machine.features", (char *)"b a"},
        {(char *)"machine.bios_vendor", (char *)"Vendor"},
        {(char *)"machine.bios_date", (char *)"today"},
        {(char *)"machine.unheard_of", (char *)"?"},
        {(char *)"machine.turbo", (char *)""},
    };
    struct machine machine;

    (void)state;
    begin(0);
    info.clock.ticks_per_second = 2100000000;
    set_texts(texts, COUNT(texts));
    assert_int_equal(machine_gather(&machine, &info), 0);
    assert_string_equal(machine_find(&machine, "map_ram")->value, "4.10 KB in 1 range");
    assert_string_equal(machine_find(&machine, "map_reserved")->value, "2 5000000 ");
    assert_string_equal(machine_find(&machine, "memory")->value, "2.00 GB");
    assert_string_equal(machine_find(&machine, "memory_installed")->value, "12 apples");
    assert_string_equal(machine_find(&machine, "bios")->value, "Vendor, today");
    assert_string_equal(machine_find(&machine, "clock")->value, "2100.000 MHz (CPUID 15H)");
    assert_true(machine_find(&machine, "features")->words);
    assert_null(machine_find(&machine, "turbo"));
    assert_null(machine_find(&machine, "smis"));
    for (size_t i = 1; i < machine.fact_count; i++)
        assert_true(machine.facts[i].group >= machine.facts[i - 1].group);
    for (size_t i = 0; i < machine.fact_count; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(machine.facts[i].rank != machine.facts[j].rank);
    machine_free(&machine);
}

static void warnings_are_of_this_machine(void **state)
{
    struct trace_text texts[] = {
        {(char *)"machine.turbo", (char *)"on"},
        {(char *)"machine.tsc", (char *)"not invariant"},
        {(char *)"machine.siblings_active", (char *)"5"},
        {(char *)"machine.hypervisor", (char *)"none"},
    };
    struct machine machine;

    (void)state;
    begin(0);
    set_texts(texts, COUNT(texts));
    assert_int_equal(machine_gather(&machine, &info), 0);
    assert_int_equal(machine.warning_count, 3);
    assert_non_null(strstr(machine.warnings[0], "APIC ids 5"));
    machine_free(&machine);
    texts[3].value = (char *)"KVMKVMKVM"; /* hides the bit */
    assert_int_equal(machine_gather(&machine, &info), 0);
    assert_int_equal(machine.warning_count, 2);
    machine_free(&machine);
    set_texts(texts, 0);
    assert_int_equal(machine_gather(&machine, &info), 0);
    assert_int_equal(machine.warning_count, 0);
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_are_ratios_of_the_tsc),
        cmocka_unit_test(frequencies_that_say_nothing_are_unknown),
        cmocka_unit_test(smis_are_counted_around_the_end),
        cmocka_unit_test(logs_of_before_do_not_count),
        cmocka_unit_test(trouble_is_summed_over_the_cpus),
        cmocka_unit_test(a_frequency_far_from_the_base_is_trouble),
        cmocka_unit_test(forged_numbers_stay_in_bounds),
        cmocka_unit_test(facts_are_grouped_and_ranked),
        cmocka_unit_test(warnings_are_of_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
