/* Tests of host/metrics: the tables against libpfm4, and values of counts that are made up. */
#include "host/metrics/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/events/events.h"
#include "host/events/events_preset.h"
#include "host/events/events_spec.h"
#include "lib/array.h"
#include "tests/unit/test.h"

static const struct metrics_cpu skylake = {RUN_CPU_INTEL, 6, 85};
static const struct metrics_cpu icelake = {RUN_CPU_INTEL, 6, 106};
static const struct metrics_cpu granite = {RUN_CPU_INTEL, 6, 173};
static const struct metrics_cpu zen4 = {RUN_CPU_AMD, 0x19, 0x11};
static const struct metrics_cpu zen5 = {RUN_CPU_AMD, 0x1a, 0x02};
static const struct metrics_cpu *const cpus[] = {&skylake, &icelake, &granite, &zen4, &zen5};

static void formulas_parse(void **state)
{
    struct formula f;
    uint32_t at;

    (void)state;
    for (size_t c = 0; c < ARRAY_COUNT(cpus); c++) {
        struct metrics_set set;

        metrics_table_find(cpus[c], &set);
        assert_in_range(set.count, 24, METRICS_MAX - 1);
        for (uint32_t i = 0; i < set.count; i++) {
            const struct metric *m = set.all[i];

            assert_null(formula_parse(&f, m->formula, &at));
            for (uint32_t n = 0; m->level != 0 && n < f.name_count; n++)
                assert_true(metrics_table_metric(&set, f.names[n]) >= 0 ||
                            metrics_table_event(&set, f.names[n]) != NULL);
            if (m->threshold != NULL)
                assert_null(formula_parse(&f, m->threshold, &at));
            for (uint32_t n = 0; m->threshold != NULL && n < f.name_count; n++)
                assert_true(metrics_table_metric(&set, f.names[n]) >= 0);
            assert_true(m->parent == NULL || metrics_table_metric(&set, m->parent) >= 0);
            assert_int_equal(metrics_table_metric(&set, m->name), i);
        }
    }
}

/* Where libpfm4 knows an event of the tables, it means the same by it. */
static void events_are_those_of_libpfm4(void **state)
{
    static const struct {
        const char *table;
        const struct metrics_event *events;
        size_t least; /* known to libpfm4 */
    } tables[] = {
        {"skl", metrics_intel_skylake_events, 14},
        {"skx", metrics_intel_skylake_events, 14},
        {"clx", metrics_intel_skylake_events, 14},
        {"icl", metrics_intel_icelake_events, 21},
        {"icx", metrics_intel_icelake_events, 21},
        {"spr", metrics_intel_golden_cove_events, 12},
        {"amd64_fam19h_zen4", metrics_amd_zen4_events, 11},
    };

    (void)state;
    for (size_t t = 0; t < ARRAY_COUNT(tables); t++) {
        struct events_cpu cpu;
        size_t known = 0;

        assert_int_equal(events_cpu_of_table(&cpu, tables[t].table), 0);
        for (const struct metrics_event *e = tables[t].events; e->word != NULL; e++) {
            struct run_failure unasked = {0};
            struct events_encoding encoding;

            if (events_resolve(&cpu, e->name != NULL ? e->name : e->word, &encoding, &unasked) != 0)
                continue;
            known++;
            assert_int_equal(encoding.select & ~EVENTS_SELECT_USR, e->select);
        }
        assert_in_range(known, tables[t].least, 99);
    }
}

struct count {
    uint64_t select;
    double count;
};

static struct metrics *m;
static double counts[32];

/* Makes the metrics of a CPU from events that were counted under names that say nothing. */
static void make(const struct metrics_cpu *cpu, const struct count *recorded, uint32_t count)
{
    struct metrics_input inputs[32];

    for (uint32_t i = 0; i < count; i++) {
        inputs[i] = (struct metrics_input){"r0", recorded[i].select | 3 << 16 | 1 << 22, 1, true};
        counts[i] = recorded[i].count;
    }
    free(m);
    m = metrics_make(cpu, inputs, count);
    assert_non_null(m);
}

static double value(const char *name)
{
    int metric = metrics_table_metric(&m->set, name);

    assert_in_range(metric, 0, METRICS_MAX);
    return metrics_value(m, (uint32_t)metric, counts, -1);
}

static bool is_marked(const char *name)
{
    return metrics_is_marked(m, (uint32_t)metrics_table_metric(&m->set, name), counts, -1);
}

static void near(const char *name, double expected)
{
    double is = value(name);

    if (fabs(is - expected) > 1e-9)
        fail_msg("%s is %.12g, not %.12g", name, is, expected);
}

/* 1,000 cycles are 4,000 slots: 800 not delivered, 2,000 issued, of them 1,600 retired, and 50
 * cycles of recovery; the back end has the rest, 1,000. */
static void skylake_of_known_counts(void **state)
{
    static const struct count recorded[] = {
        {0xc0, 1500},      {0x3c, 1000},      {0x019c, 800}, {0x0400019c, 150}, {0x010e, 2000},
        {0x02c2, 1600},    {0x04c2, 100},     {0x010d, 50},  {0xc5, 30},        {0x010401c3, 10},
        {0x140014a3, 200}, {0x040004a3, 300}, {0x40a6, 20},  {0x02a6, 60},      {0x04a6, 50},
    };

    (void)state;
    make(&skylake, recorded, ARRAY_COUNT(recorded));
    near("IPC", 1.5);
    near("CPI", 1000. / 1500);
    near("branch_mpki", 20);
    near("frontend_bound", 20);
    near("fetch_latency", 15);
    near("fetch_bandwidth", 5);
    near("bad_speculation", 15); /* (400 + 200) / 4000 */
    near("branch_mispredicts", 11.25);
    near("machine_clears", 3.75);
    near("backend_bound", 25);
    near("retiring", 40);
    near("heavy_operations", 5); /* (1600 + 100 - 1500) / 4000 */
    near("light_operations", 35);
    near("memory_bound", 25 * 220. / (300 + 60 + 0.4 * 50 + 20));
    near("core_bound", 25 - 25 * 0.55);
    assert_true(is_marked("frontend_bound") && is_marked("fetch_latency"));
    assert_false(is_marked("fetch_bandwidth"));
    assert_false(is_marked("bad_speculation")); /* it must be above 15 */
    assert_false(is_marked("branch_mispredicts")); /* above 10, but its parent is not marked */
    assert_true(is_marked("backend_bound"));
    assert_false(is_marked("memory_bound")); /* 13.75 is not above 20 */
    assert_true(is_marked("core_bound"));
}

static void icelake_of_known_counts(void **state)
{
    static const struct count recorded[] = {
        {0x01a4, 5000},    {0x019c, 600},    {0x100d, 100},     {0x0500019c, 60}, {0x02a4, 1900},
        {0x0104010d, 20},  {0x02c2, 2000},   {0xc5, 9},         {0x010401c3, 1},  {0x010e, 2500},
        {0x3079, 250},     {0x0156, 120},    {0x01000156, 100}, {0x0479, 400},    {0x140014a3, 90},
        {0x040004a3, 100}, {0x020040a6, 10}, {0x02a6, 50},      {0x04a6, 100},
    };

    (void)state;
    make(&icelake, recorded, ARRAY_COUNT(recorded));
    near("frontend_bound", 10);
    near("fetch_latency", 4);
    near("fetch_bandwidth", 6);
    near("backend_bound", 40);
    near("retiring", 40);
    near("bad_speculation", 10);
    near("branch_mispredicts", 9);
    near("machine_clears", 1);
    near("memory_bound", 40 * 100. / (100 + 50 + 40 + 10));
    near("core_bound", 20);
    near("heavy_operations", 4 + 2); /* 0.8 x 250 / 5000, and 40 x 20 / 400 */
    near("light_operations", 34);
    assert_true(is_marked("backend_bound") && is_marked("core_bound"));
    assert_false(is_marked("memory_bound"));
    assert_true(isnan(value("IPC"))); /* cycles were not recorded */
}

static void golden_cove_of_known_counts(void **state)
{
    static const struct count recorded[] = {
        {0x0400, 6000}, {0x019c, 1300}, {0x10ad, 100},  {0x0600019c, 100}, {0x02a4, 1800},
        {0x08a4, 540},  {0x10a4, 1260}, {0x02c2, 2400}, {0x01c2, 300},
    };

    (void)state;
    make(&granite, recorded, ARRAY_COUNT(recorded));
    near("frontend_bound", 20);
    near("fetch_latency", 100 * 500. / 6000);
    near("backend_bound", 30);
    near("memory_bound", 21);
    near("core_bound", 9);
    near("retiring", 40);
    near("heavy_operations", 5);
    near("bad_speculation", 10);
    near("branch_mispredicts", 9);
    near("machine_clears", 1);
}

static void zen_of_known_counts(void **state)
{
    struct count recorded[] = {
        {0x76, 1000},     {0x1000001a0, 1200}, {0x1060001a0, 150},   {0x100001ea0, 1800},
        {0x1000060a0, 0}, {0x07aa, 3000},      {0xc1, 2400},         {0x1000000c2, 240},
        {0xc3, 30},       {0x96, 10},          {0xd6 | 2 << 8, 400}, {0xa2d6, 300},
    };

    (void)state;
    make(&zen4, recorded, ARRAY_COUNT(recorded));
    near("frontend_bound", 20);
    near("frontend_latency", 15);
    near("frontend_bandwidth", 5);
    near("bad_speculation", 10);
    near("branch_mispredicts", 7.5);
    near("pipeline_restarts", 2.5);
    near("backend_bound", 30);
    near("backend_memory", 22.5);
    near("backend_cpu", 7.5);
    near("smt_contention", 0);
    near("retiring", 40);
    near("retiring_microcode", 4);
    near("retiring_fastpath", 36);
    assert_false(is_marked("frontend_bound")); /* AMD has no thresholds */
    recorded[2].select = 0x1080001a0;
    recorded[9].select = 0x019f;
    make(&zen5, recorded, ARRAY_COUNT(recorded));
    near("frontend_bound", 15);
    near("frontend_latency", 15);
    near("branch_mispredicts", 7.5 * 6 / 8);
    near("retiring", 30);
}

static void no_value_and_refusals(void **state)
{
    struct metrics_input inputs[] = {{"instructions:u", 0, 1, true},
                                     {"cycles", 0, 1, true},
                                     {"branches", 0, 1, false},
                                     {"branch-misses", 0, 2, true}};
    struct run_failure failure = {0};
    uint32_t chosen[METRICS_MAX];

    (void)state;
    free(m);
    m = metrics_make(&skylake, inputs, 4);
    memset(counts, 0, sizeof counts);
    assert_true(isnan(value("IPC"))); /* 0 / 0 */
    counts[0] = 10;
    counts[1] = 4;
    near("IPC", 2.5);
    assert_int_equal(m->known, 2);
    assert_int_equal(metrics_choose(m, "all", true, chosen, &failure), 2);
    assert_int_equal(metrics_choose(m, "ipc,@CPI,IPC", true, chosen, &failure), 2);
    assert_int_equal(metrics_choose(m, "branch_miss_rate", true, chosen, &failure), -1);
    assert_string_equal(failure.text, "metric branch_miss_rate: branches was not counted by a "
                                      "performance counter; -e @branch_miss_rate records what it "
                                      "needs");
    failure = (struct run_failure){0};
    assert_int_equal(metrics_choose(m, "branch_mpki", true, chosen, &failure), -1);
    assert_non_null(strstr(failure.text, "instructions was counted in other rings than the rest"));
    failure = (struct run_failure){0};
    assert_int_equal(metrics_choose(m, "branch_mpk", true, chosen, &failure), -1);
    assert_string_equal(failure.text, "unknown metric 'branch_mpk'; the nearest: branch_mpki; "
                                      "'hr events' lists them");
    failure = (struct run_failure){0};
    assert_int_equal(metrics_choose(m, "@tma1", true, chosen, &failure), -1);
    assert_non_null(strstr(failure.text, "frontend_bound: IDQ_UOPS_NOT_DELIVERED.CORE was not "
                                         "recorded"));
}

static void bandwidth_needs_the_time(void **state)
{
    static const struct count recorded[] = {{0x412e, 1000000}};
    struct run_failure failure = {0};
    uint32_t chosen[METRICS_MAX];

    (void)state;
    make(&icelake, recorded, 1);
    assert_int_equal(metrics_choose(m, "read_bandwidth", true, chosen, &failure), 1);
    assert_true(fabs(metrics_value(m, chosen[0], counts, 0.5) - 128) < 1e-9);
    assert_true(isnan(metrics_value(m, chosen[0], counts, 0)));
    assert_int_equal(metrics_choose(m, "read_bandwidth", false, chosen, &failure), -1);
    assert_non_null(strstr(failure.text, "needs the time"));
    failure = (struct run_failure){0};
    assert_int_equal(metrics_choose(m, "all", false, chosen, &failure), 0);
}

static int forget(void **state)
{
    (void)state;
    free(m);
    m = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_parse),
        cmocka_unit_test(events_are_those_of_libpfm4),
        cmocka_unit_test(skylake_of_known_counts),
        cmocka_unit_test(icelake_of_known_counts),
        cmocka_unit_test(golden_cove_of_known_counts),
        cmocka_unit_test(zen_of_known_counts),
        cmocka_unit_test(no_value_and_refusals),
        cmocka_unit_test(bandwidth_needs_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, forget);
}
