/* host/sweep/plan/sweep_plan.c: all events of real CPUs' tables in few runs, each of which has
 * counters for its events. */
#include "host/sweep/plan/sweep_plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pmu/pmu_intel.h"
#include "tests/unit/test.h"

static void begin(struct sweep_plan *plan, const char *cpu, uint32_t general, uint32_t fixed)
{
    *plan = (struct sweep_plan){.machine = {.general = general, .fixed = fixed}};
    assert_int_equal(events_cpu_parse(&plan->machine.cpu, cpu), 0);
}

static uint32_t events_named(struct sweep_plan *plan, const char *list)
{
    struct run_failure failure = {0};

    assert_int_equal(sweep_plan_events(plan, list, &failure), 0);
    assert_int_equal(sweep_plan_make(plan, &failure), 0);
    return (uint32_t)plan->run_count;
}

/* Counts a run's needs in another way than the plan does: no more events on a set of counters than
 * it has, for every set. */
static void has_counters(const struct sweep_plan *plan, const struct sweep_run *run)
{
    const struct sweep_machine *m = &plan->machine;

    for (uint32_t set = 1; set < 1u << 8; set++) {
        uint32_t wanted = 0, fixed_taken = m->fixed & 1;

        if ((m->fixed & 1) == 0 && (m->general & ~set) == 0)
            wanted++; /* the axis */
        for (uint32_t i = 0; i < run->count; i++) {
            const struct events_encoding *e = &plan->events[run->events[i]].encoding;
            int fixed = m->cpu.vendor == RUN_CPU_INTEL ? pmu_intel_fixed(e->select) : -1;
            uint32_t counters = e->counters != 0 ? e->counters & m->general : m->general;

            if (fixed >= 0 && m->fixed & 1u << fixed && !(fixed_taken & 1u << fixed))
                fixed_taken |= 1u << fixed;
            else if (e->select != 0)
                wanted += (counters & ~set) == 0;
        }
        assert_true(wanted <= (uint32_t)__builtin_popcount(set & m->general));
    }
}

static void check(const char *cpu, uint32_t general, uint32_t fixed, size_t expected_events)
{
    struct sweep_plan plan;
    uint32_t *seen;

    begin(&plan, cpu, general, fixed);
    events_named(&plan, "all");
    assert_true(plan.event_count >= expected_events);
    seen = calloc(plan.event_count, sizeof seen[0]);
    assert_non_null(seen);
    for (size_t r = 0; r < plan.run_count; r++) {
        has_counters(&plan, &plan.runs[r]);
        assert_true(sweep_plan_fits(&plan.machine, plan.events, &plan.runs[r]));
        for (uint32_t i = 0; i < plan.runs[r].count; i++)
            seen[plan.runs[r].events[i]]++;
    }
    for (size_t i = 0; i < plan.event_count; i++)
        assert_int_equal(seen[i], 1);
    print_message("%s: %zu events, %zu runs, at least %zu\n", cpu, plan.event_count, plan.run_count,
                  plan.least);
    assert_true(plan.run_count >= plan.least);
    assert_true(100 * plan.run_count <= 103 * plan.least + 99);
    free(seen);
    sweep_plan_free(&plan);
}

static void all_events(void **)
{
    check("intel-6-106", 0xff, 0xf, 300); /* Ice Lake */
    check("intel-6-94", 0xf, 7, 200); /* Skylake with two threads a core */
    check("intel-6-94", 0xff, 7, 200);
    check("intel-6-143", 0xff, 0xf, 200); /* Sapphire Rapids */
    check("intel-6-106", 0xfd, 1, 300); /* somebody has a counter */
    check("amd-25-17", 0x3f, 0, 100); /* Zen 4 */
}

/* What AMD's processors only sample is left out. */
static void counted_events_alone(void **)
{
    struct run_failure failure = {0};
    struct sweep_plan plan;

    begin(&plan, "amd-25-17", 0x3f, 0);
    events_named(&plan, "all");
    for (size_t i = 0; i < plan.event_count; i++)
        assert_false(events_is_sampled(&plan.events[i].encoding));
    sweep_plan_free(&plan);
    begin(&plan, "amd-25-17", 0x3f, 0);
    assert_int_equal(sweep_plan_events(&plan, "mem-loads", &failure), -1);
    assert_non_null(strstr(failure.text, "only samples it"));
    sweep_plan_free(&plan);
}

static void fixed_counters_are_free(void **)
{
    struct sweep_plan plan;

    begin(&plan, "intel-6-106", 0xff, 0xf);
    assert_int_equal(events_named(&plan, "cycles,ref-cycles,branches,branch-misses,L1-dcache-loads,"
                                         "L1-dcache-load-misses,LLC-load-misses,cache-references,"
                                         "cache-misses"),
                     1);
    sweep_plan_free(&plan);
    begin(&plan, "amd-25-17", 0x3f, 0); /* the axis has one of six */
    assert_int_equal(events_named(&plan, "cycles,branches,branch-misses,cache-misses,r0041"), 1);
    sweep_plan_free(&plan);
    begin(&plan, "amd-25-17", 0x3f, 0);
    assert_int_equal(events_named(&plan, "cycles,branches,branch-misses,cache-misses,r0041,r0029"),
                     2);
    sweep_plan_free(&plan);
}

static void companions_keep_apart(void **)
{
    struct sweep_plan plan;

    begin(&plan, "intel-6-106", 0xff, 0xf);
    assert_int_equal(events_named(&plan, "cpu/event=0xb7,umask=1,offcore_rsp=0x10001/,"
                                         "cpu/event=0xb7,umask=1,offcore_rsp=0x10002/,"
                                         "cpu/event=0xb7,umask=1,offcore_rsp=0x10004/"),
                     2);
    assert_int_equal(plan.least, 2);
    sweep_plan_free(&plan);
}

static void names_and_patterns(void **)
{
    struct run_failure failure = {0};
    struct sweep_plan plan;

    begin(&plan, "intel-6-106", 0xff, 0xf);
    events_named(&plan, "MEM_LOAD_RETIRED.*,instructions,cycles,cycles,INSTRUCTION_RETIRED");
    assert_true(plan.event_count > 5);
    assert_string_equal(plan.events[plan.event_count - 1].name, "cycles"); /* once; no axis */
    assert_int_equal(sweep_plan_events(&plan, "NO_SUCH.*", &failure), -1);
    failure = (struct run_failure){0};
    assert_int_equal(sweep_plan_events(&plan, "cyclse", &failure), -1);
    assert_non_null(strstr(failure.text, "cycles"));
    sweep_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_events),
        cmocka_unit_test(counted_events_alone),
        cmocka_unit_test(fixed_counters_are_free),
        cmocka_unit_test(companions_keep_apart),
        cmocka_unit_test(names_and_patterns),
    };

    return cmocka_run_group_tests_name("sweep_plan", tests, NULL, NULL);
}
