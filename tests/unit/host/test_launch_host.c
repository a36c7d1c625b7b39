/* What a host offers a guest under KVM: a vPMU, huge pages, locked memory. */
#include "tests/unit/host/tree.h"

#include <errno.h>

#include "host/launch_memory.h"
#include "host/launch_vpmu.h"

#define PAGES "sys/kernel/mm/hugepages/hugepages-2048kB/"
#define MIB (1ull << 20)

static const struct cpu_counters none = {.vendor = RUN_CPU_INTEL};
static const struct cpu_counters intel = {
    .vendor = RUN_CPU_INTEL, .version = 2, .general = 8, .general_bits = 48, .fixed = 3};

/* A NULL path: no module has a switch. */
static struct launch_vpmu judge(const struct cpu_counters *offered, int error, const char *path,
                                const char *value)
{
    struct launch_vpmu vpmu;
    struct tree t;

    tree_init(&t);
    if (path != NULL)
        tree_put(&t, path, value);
    launch_vpmu_judge(offered, error, t.root, &vpmu);
    tree_free(&t);
    return vpmu;
}

static void finds_a_vpmu(void **state)
{
    struct launch_vpmu vpmu = judge(&intel, 0, "sys/module/kvm/parameters/enable_pmu", "Y\n");

    (void)state;
    assert_true(vpmu.present);
    assert_string_equal(vpmu.why,
                        "KVM has a vPMU: version 2, 8 general and 3 fixed counters of 48 bits");
    assert_true(judge(&intel, 0, NULL, NULL).present);
    assert_true(judge(&intel, 0, "sys/module/kvm_amd/parameters/pmu", "").present);
}

static void says_why_there_is_none(void **state)
{
    struct launch_vpmu vpmu = judge(&none, 0, NULL, NULL);

    (void)state;
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "no performance counters"));
    vpmu = judge(&none, -EACCES, NULL, NULL);
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "Permission denied"));
    vpmu = judge(&intel, -ENOENT, NULL, NULL);
    assert_false(vpmu.present);
}

static void names_the_switch_that_is_off(void **state)
{
    struct launch_vpmu vpmu = judge(&none, 0, "sys/module/kvm/parameters/enable_pmu", "N\n");

    (void)state;
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "parameter enable_pmu of module kvm is off"));
    vpmu = judge(&intel, 0, "sys/module/kvm_amd/parameters/pmu", "0\n");
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "parameter pmu of module kvm_amd is off"));
}

/* For a guest of 64 MiB. */
static struct launch_memory choose(const char *free_pages, const char *promised,
                                   const char *available, uint64_t limit)
{
    struct launch_memory memory;
    struct launch_notes notes = {0};
    struct tree t;

    tree_init(&t);
    tree_put(&t, PAGES "free_hugepages", free_pages);
    tree_put(&t, PAGES "resv_hugepages", promised);
    tree_put(&t, "proc/meminfo", available);
    launch_memory_choose(t.root, 64 * MIB, limit, &memory, &notes);
    tree_free(&t);
    assert_int_equal(notes.count, 2);
    for (size_t i = 0; i < notes.count; i++)
        assert_false(notes.lines[i].warning);
    return memory;
}

static void takes_huge_pages_that_nobody_was_promised(void **state)
{
    const char *much = "MemTotal: 9 kB\nMemAvailable:  4000000 kB\n";

    (void)state;
    assert_true(choose("32\n", "0\n", much, 0).huge_pages);
    assert_false(choose("31\n", "0\n", much, 0).huge_pages);
    assert_false(choose("33\n", "2\n", much, 0).huge_pages);
    assert_false(choose("33\n", "99\n", much, 0).huge_pages);
    assert_false(choose("x\n", "0\n", much, 0).huge_pages);
}

static void locks_what_it_may_and_what_is_there(void **state)
{
    const char *much = "MemAvailable: 4000000 kB\n";
    const char *little = "MemAvailable: 350000 kB\n"; /* 341 MiB */

    (void)state;
    assert_true(choose("0\n", "0\n", much, UINT64_MAX).locked);
    assert_true(choose("0\n", "0\n", much, 320 * MIB).locked);
    assert_false(choose("0\n", "0\n", much, 320 * MIB - 1).locked);
    assert_false(choose("0\n", "0\n", little, UINT64_MAX).locked);
    assert_true(choose("32\n", "0\n", little, UINT64_MAX).locked);
    assert_false(choose("0\n", "0\n", "", UINT64_MAX).locked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_vpmu),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(names_the_switch_that_is_off),
        cmocka_unit_test(takes_huge_pages_that_nobody_was_promised),
        cmocka_unit_test(locks_what_it_may_and_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
