/* Events encoded for CPUs that are not here. */
#include <stdlib.h>
#include <string.h>

#include "host/events/events_run.h"
#include "host/events/events_targets.h"
#include "tests/unit/test.h"

static struct run_failure failure;

/* The group that names a CPU; NULL: none. */
static const struct events_group *group_of(const struct events_targets *t, const char *cpu)
{
    size_t bytes = strlen(cpu);

    for (size_t g = 0; g < t->count; g++)
        for (const char *at = t->groups[g].cpus; at != NULL; at = strchr(at, ',')) {
            at += *at == ',';
            if (strncmp(at, cpu, bytes) == 0 && (at[bytes] == ',' || at[bytes] == 0))
                return &t->groups[g];
        }
    return NULL;
}

static void all_cpus_get_what_each_alone_would(void **state)
{
    static const char *const cpus[] = {"intel-6-106", "intel-6-143", "intel-6-94", "intel-6-26",
                                       "amd-25-1",    "amd-25-17",   "amd-23-49",  "amd-16-4"};
    struct events_wanted wanted = {.names = {"instructions", "cache-misses", "branches:k"},
                                   .count = 3};
    struct events_targets t;

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "all", &wanted, &failure), 0);
    assert_int_equal(t.kinds, t.kinds_known);
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        struct events_encoding alone[HR_EVENTS_MAX];
        const struct events_group *group = group_of(&t, cpus[i]);
        struct events_cpu cpu;

        assert_non_null(group);
        assert_int_equal(events_cpu_parse(&cpu, cpus[i]), 0);
        assert_int_equal(events_run_encode(&cpu, &wanted, alone, &failure), 0);
        for (size_t e = 0; e < wanted.count; e++) {
            assert_int_equal(group->encodings[e].select, alone[e].select);
            assert_int_equal(group->encodings[e].companion, alone[e].companion);
            assert_int_equal(group->encodings[e].counters, alone[e].counters);
        }
    }
    assert_non_null(group_of(&t, "intel"));
    assert_non_null(group_of(&t, "amd"));
    assert_ptr_not_equal(group_of(&t, "intel"), group_of(&t, "amd"));
    events_targets_free(&t);
}

static void cpus_without_an_event_are_in_no_group(void **state)
{
    struct events_wanted wanted = {.names = {"MEM_INST_RETIRED.ALL_LOADS"}, .count = 1};
    struct events_targets t;

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "all", &wanted, &failure), 0);
    assert_true(t.kinds > 0 && t.kinds < t.kinds_known);
    assert_non_null(group_of(&t, "intel-6-106"));
    assert_null(group_of(&t, "intel-6-26"));
    assert_null(group_of(&t, "amd-25-1"));
    assert_null(group_of(&t, "intel")); /* nobody knows what it would be there */
    events_targets_free(&t);
}

/* Skylake and Cascade Lake are models of one number. */
static void a_model_with_two_tables_is_named_once_or_not_at_all(void **state)
{
    static const char *const lists[] = {"instructions", "LLC-loads", "MEM_INST_RETIRED.ALL_LOADS"};

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct events_wanted wanted = {.names = {(char *)(uintptr_t)lists[i]}, .count = 1};
        struct events_encoding old[HR_EVENTS_MAX] = {{0}}, new[HR_EVENTS_MAX] = {{0}};
        struct events_cpu skx = {RUN_CPU_INTEL, 6, 85, 4, 0, 3};
        struct events_cpu clx = {RUN_CPU_INTEL, 6, 85, 7, 0, 3};
        struct events_targets t;
        bool same;

        failure = (struct run_failure){0};
        same = events_run_encode(&skx, &wanted, old, &failure) == 0 &&
               events_run_encode(&clx, &wanted, new, &failure) == 0 &&
               old[0].select == new[0].select &&old[0].companion ==
                   new[0].companion &&old[0].counters == new[0].counters;
        failure = (struct run_failure){0};
        assert_int_equal(events_targets_make(&t, "all", &wanted, &failure), 0);
        assert_int_equal(group_of(&t, "intel-6-85") != NULL, same);
        events_targets_free(&t);
        assert_int_equal(events_targets_make(&t, "skx,clx", &wanted, &failure) == 0, same);
        assert_true(same || strstr(failure.text, "encode the events differently") != NULL);
        events_targets_free(&t);
    }
}

static void a_list_is_taken_by_the_item(void **state)
{
    struct events_wanted wanted = {.names = {"instructions"}, .count = 1};
    struct events_targets t;

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "Icelake-Server,model=106,pmu=on,amd-25-1,intel-6-94",
                                         &wanted, &failure),
                     0);
    assert_non_null(group_of(&t, "intel-6-106"));
    assert_non_null(group_of(&t, "amd-25-1"));
    assert_non_null(group_of(&t, "intel-6-94"));
    assert_int_equal(t.kinds_known, 0);
    events_targets_free(&t);
    assert_int_equal(events_targets_make(&t, "intel-6-94,,amd-25-1", &wanted, &failure), -1);
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "intel-6-94,pentium", &wanted, &failure), -1);
    assert_non_null(strstr(failure.text, "--target-cpu pentium"));
}

static void a_table_is_all_its_models(void **state)
{
    struct events_wanted wanted = {.names = {"MEM_INST_RETIRED.ALL_LOADS"}, .count = 1};
    struct events_targets t;

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "ICX,intel-6-106,skx", &wanted, &failure), 0);
    assert_non_null(group_of(&t, "intel-6-108"));
    assert_non_null(group_of(&t, "intel-6-85"));
    assert_null(group_of(&t, "intel-6-94"));
    assert_null(
        strstr(strstr(group_of(&t, "intel-6-106")->cpus, "intel-6-106") + 1, "intel-6-106"));
    events_targets_free(&t);
    assert_int_equal(events_targets_make(&t, "icx,zen9", &wanted, &failure), -1);
    assert_non_null(strstr(failure.text, "--target-cpu zen9"));
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "amd64_fam19h_zen3", &wanted, &failure), -1);
    assert_non_null(strstr(failure.text, "does not exist on"));
}

static void a_listed_cpu_must_have_the_events(void **state)
{
    struct events_wanted wanted = {.names = {"MEM_INST_RETIRED.ALL_LOADS"}, .count = 1};
    struct events_targets t;

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "intel-6-106,amd-25-1", &wanted, &failure), -1);
    assert_non_null(strstr(failure.text, "does not exist on"));
}

static void what_no_cpu_has_is_refused_with_counts(void **state)
{
    struct events_wanted wanted = {
        .names = {"MEM_INST_RETIRED.ALL_LOADS", "RETIRED_CPUID_INSTRUCTIONS"}, .count = 2};
    struct events_targets t;

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(events_targets_make(&t, "all", &wanted, &failure), -1);
    assert_non_null(strstr(failure.text, "no known CPU has all of these events (MEM_INST_RETIRED"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_cpus_get_what_each_alone_would),
        cmocka_unit_test(cpus_without_an_event_are_in_no_group),
        cmocka_unit_test(a_model_with_two_tables_is_named_once_or_not_at_all),
        cmocka_unit_test(a_list_is_taken_by_the_item),
        cmocka_unit_test(a_table_is_all_its_models),
        cmocka_unit_test(a_listed_cpu_must_have_the_events),
        cmocka_unit_test(what_no_cpu_has_is_refused_with_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
