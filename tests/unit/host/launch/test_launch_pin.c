/* Plans for --pin on machines that are described by a tree of files. */
#include "tests/unit/host/tree.h"

#include "host/launch/launch_pin.h"

#define CPU "sys/devices/system/cpu/"

/* Eight CPUs, threads n and n + 4 of one core; 7 is offline, 2 and 3 are isolated. */
static void describe(struct tree *t)
{
    tree_init(t);
    tree_put(t, CPU "present", "0-7\n");
    tree_put(t, CPU "online", "0-6\n");
    tree_put(t, CPU "isolated", "2-3\n");
    for (int cpu = 0; cpu < 7; cpu++) {
        char path[96], text[16];

        snprintf(path, sizeof path, CPU "cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d,%d\n", cpu % 4, cpu % 4 + 4);
        tree_put(t, path, text);
    }
}

struct outcome {
    int result;
    struct launch_pin pin;
    struct launch_notes notes;
    struct run_failure failure;
};

static struct outcome outcome;

static void own_cpus(struct launch_pin_host *host)
{
    CPU_ZERO(&host->own);
    for (int cpu = 0; cpu < 7; cpu++)
        if (cpu != 2 && cpu != 3) /* as the kernel starts processes */
            CPU_SET(cpu, &host->own);
}

static void plan(const char *text, int needed, int refused)
{
    static struct cpu_list list;
    struct launch_pin_host host;
    struct tree t;

    describe(&t);
    memset(&outcome, 0, sizeof outcome);
    outcome.result = launch_pin_parse(text, &list, &outcome.failure);
    if (outcome.result == 0) {
        assert_int_equal(launch_pin_read_host(t.root, &host, &outcome.failure), 0);
        own_cpus(&host);
        if (refused >= 0)
            CPU_SET(refused, &host.refused);
        outcome.result =
            launch_pin_plan(&list, needed, &host, &outcome.pin, &outcome.notes, &outcome.failure);
    }
    tree_free(&t);
}

static void assert_refused(const char *words)
{
    assert_int_equal(outcome.result, -1);
    assert_int_equal(outcome.failure.exit_status, RUN_EXIT_FAILED);
    assert_non_null(strstr(outcome.failure.text, words));
}

static bool is_warned(const char *words)
{
    for (size_t i = 0; i < outcome.notes.count; i++)
        if (outcome.notes.lines[i].warning && strstr(outcome.notes.lines[i].text, words) != NULL)
            return true;
    return false;
}

static const char *others(void)
{
    static char text[64];

    return cpu_list_format(&outcome.pin.others, text, sizeof text);
}

static void takes_isolated_cpus_without_a_word(void **state)
{
    (void)state;
    plan("3,2", 2, -1);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.pin.count, 2);
    assert_int_equal(outcome.pin.cpus[0], 3);
    assert_int_equal(outcome.pin.cpus[1], 2);
    assert_string_equal(others(), "0-1,4-6");
    assert_int_equal(outcome.notes.count, 0);
}

static void gives_the_rest_of_the_list_to_the_emulator(void **state)
{
    (void)state;
    plan("2-5", 2, -1);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.pin.count, 2);
    assert_string_equal(others(), "4-5");
}

static void shares_when_there_is_nowhere_else(void **state)
{
    (void)state;
    plan("0,1,4,5,6", 5, -1);
    assert_int_equal(outcome.result, 0);
    assert_string_equal(others(), "0-1,4-6");
}

static void warns_of_siblings_and_of_company(void **state)
{
    (void)state;
    plan("2,6", 2, -1);
    assert_int_equal(outcome.result, 0);
    assert_true(is_warned("CPUs 2 and 6 are threads of one core"));
    assert_true(is_warned("CPU 6 is not isolated"));
    assert_true(is_warned("isolcpus=6 "));
    plan("0,1", 2, -1);
    assert_false(is_warned("one core"));
    assert_true(is_warned("CPUs 0-1 are not isolated"));
}

static void refuses_with_a_remedy(void **state)
{
    (void)state;
    plan("2,7", 2, -1);
    assert_refused("CPU 7 is offline; switch it on with 'echo 1");
    plan("2,8", 2, -1);
    assert_refused("no CPU 8; choose from 0-6");
    plan("2,3", 2, 3);
    assert_refused("may not use CPU 3");
    plan("2", 2, -1);
    assert_refused("1 host CPU for the guest's 2;");
    plan("2,2", 2, -1);
    assert_refused("named twice");
    plan("2-x", 2, -1);
    assert_refused("not a list of CPUs");
    plan("", 1, -1);
    assert_refused("not a list of CPUs");
    plan("4096", 1, -1);
    assert_refused("end at 1023");
}

static void lists_isolated_cpus(void **state)
{
    static struct cpu_list list;
    struct launch_pin_host host;
    struct run_failure failure = {0};
    struct tree t;

    (void)state;
    describe(&t);
    tree_put(&t, CPU "isolated", "3,6-7\n");
    assert_int_equal(launch_pin_read_host(t.root, &host, &failure), 0);
    launch_pin_isolated(&host, &list);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.cpus[0], 3);
    assert_int_equal(list.cpus[1], 6);
    tree_free(&t);
}

static void needs_to_know_the_machine(void **state)
{
    struct launch_pin_host host;
    struct run_failure failure = {0};
    struct tree t;

    (void)state;
    tree_init(&t);
    assert_int_equal(launch_pin_read_host(t.root, &host, &failure), -1);
    assert_non_null(strstr(failure.text, "cpu/online"));
    tree_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_isolated_cpus_without_a_word),
        cmocka_unit_test(gives_the_rest_of_the_list_to_the_emulator),
        cmocka_unit_test(shares_when_there_is_nowhere_else),
        cmocka_unit_test(warns_of_siblings_and_of_company),
        cmocka_unit_test(refuses_with_a_remedy),
        cmocka_unit_test(lists_isolated_cpus),
        cmocka_unit_test(needs_to_know_the_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
