/* What a host offers a guest under KVM: a vPMU, huge pages, locked memory. */
#include "tests/unit/host/tree.h"

#include <errno.h>

#include "host/launch/launch_memory.h"
#include "host/launch/launch_numa.h"
#include "host/launch/launch_vpmu.h"

#define PAGES "sys/kernel/mm/hugepages/hugepages-2048kB/"
#define NODES "sys/devices/system/node/"
#define MIB (1ull << 20)

static const struct cpu_counters none = {.vendor = RUN_CPU_INTEL};
static const struct cpu_counters intel = {
    .vendor = RUN_CPU_INTEL, .version = 2, .general = 8, .general_bits = 48, .fixed = 3};

static const struct cpu_counters hybrid = {
    .vendor = RUN_CPU_INTEL, .version = 5, .general = 6, .general_bits = 48, .hybrid = true};

/* A NULL path: no module has a switch. */
static struct launch_vpmu judge_on(const struct cpu_counters *own,
                                   const struct cpu_counters *offered, int error, const char *path,
                                   const char *value)
{
    struct launch_vpmu vpmu;
    struct tree t;

    tree_init(&t);
    if (path != NULL)
        tree_put(&t, path, value);
    launch_vpmu_judge(offered, error, own, t.root, &vpmu);
    tree_free(&t);
    return vpmu;
}

static struct launch_vpmu judge(const struct cpu_counters *offered, int error, const char *path,
                                const char *value)
{
    return judge_on(&intel, offered, error, path, value);
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

/* To load the module with its switch on would change nothing. */
static void sends_hybrids_to_the_bare_machine(void **state)
{
    static const char path[] = "sys/module/kvm/parameters/enable_pmu";
    struct launch_vpmu vpmu = judge_on(&hybrid, &none, 0, path, "N\n");

    (void)state;
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "hybrid processor"));
    assert_non_null(strstr(vpmu.why, "bare machine with 'hr usb'"));
    assert_null(strstr(vpmu.why, "enable_pmu"));
    assert_non_null(strstr(judge_on(&hybrid, &none, 0, NULL, NULL).why, "hybrid processor"));
    assert_true(judge_on(&hybrid, &intel, 0, path, "Y\n").present); /* an old KVM */
    vpmu = judge_on(&hybrid, &none, -EACCES, NULL, NULL);
    assert_non_null(strstr(vpmu.why, "Permission denied"));
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
    assert_int_equal(notes.count, memory.filled ? 2 : 3);
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

static void fills_what_is_there(void **state)
{
    (void)state;
    assert_true(choose("0\n", "0\n", "MemAvailable: 4000000 kB\n", 0).filled);
    assert_false(choose("0\n", "0\n", "MemAvailable: 350000 kB\n", 0).filled);
    assert_true(choose("32\n", "0\n", "", 0).filled);
}

/* Two nodes of four CPUs. */
static void put_nodes(const struct tree *t, const char *meminfo0, const char *huge0)
{
    tree_put(t, NODES "online", "0-1\n");
    tree_put(t, NODES "node0/cpulist", "0-3\n");
    tree_put(t, NODES "node1/cpulist", "4-7\n");
    tree_put(t, NODES "node0/meminfo", meminfo0);
    tree_put(t, NODES "node1/meminfo", "");
    tree_put(t, NODES "node0/hugepages/hugepages-2048kB/free_hugepages", huge0);
}

/* Of 64 MiB, pinned to two CPUs. */
static struct launch_memory bind_memory(const struct tree *t, int first, int second, bool huge,
                                        struct launch_notes *notes)
{
    struct launch_memory memory = {.huge_pages = huge};
    struct launch_pin pin = {.count = 2, .cpus = {first, second}};

    *notes = (struct launch_notes){0};
    launch_numa_choose(t->root, &pin, 64 * MIB, &memory, notes);
    return memory;
}

static void binds_memory_to_the_node_of_the_cpus(void **state)
{
    struct launch_notes notes;
    struct tree t;

    (void)state;
    tree_init(&t);
    put_nodes(&t,
              "Node 0 MemTotal: 900000 kB\nNode 0 MemFree:  40000 kB\n"
              "Node 0 Active(file): 30000 kB\nNode 0 Inactive(file):  20000 kB\n",
              "32\n");
    assert_true(bind_memory(&t, 1, 3, false, &notes).bound);
    assert_int_equal(bind_memory(&t, 1, 3, false, &notes).node, 0);
    assert_false(notes.lines[0].warning);
    assert_true(bind_memory(&t, 1, 3, true, &notes).bound);
    assert_false(bind_memory(&t, 4, 5, false, &notes).bound); /* nothing free there */
    assert_non_null(strstr(notes.lines[0].text, "node 1 of the pinned CPUs, 64 MiB are not free"));
    assert_true(notes.lines[0].warning);
    assert_false(bind_memory(&t, 4, 5, true, &notes).bound);
    assert_non_null(strstr(notes.lines[0].text, "64 MiB of huge pages"));
    assert_false(bind_memory(&t, 3, 4, false, &notes).bound);
    assert_non_null(strstr(notes.lines[0].text, "of nodes 0-1; choose CPUs of one node"));
    put_nodes(&t, "Node 0 MemFree: 80000 kB\n", "31\n"); /* less than 80 MiB, and 62 MiB */
    assert_false(bind_memory(&t, 1, 3, false, &notes).bound);
    assert_false(bind_memory(&t, 1, 3, true, &notes).bound);
    tree_free(&t);
}

static void binds_nothing_without_need(void **state)
{
    struct launch_memory memory = {.bound = false};
    const struct launch_pin unpinned = {.count = 0};
    struct launch_notes notes = {0};
    struct tree t;

    (void)state;
    tree_init(&t);
    put_nodes(&t, "Node 0 MemFree: 900000 kB\n", "0\n");
    launch_numa_choose(t.root, &unpinned, 64 * MIB, &memory, &notes);
    assert_false(memory.bound);
    assert_int_equal(notes.count, 0);
    tree_put(&t, NODES "online", "0\n");
    assert_false(bind_memory(&t, 1, 3, false, &notes).bound);
    assert_int_equal(notes.count, 0);
    tree_free(&t);
}

/* What is said of 64 MiB. */
static const char *verify(const char *status, bool huge, bool *warned)
{
    static struct launch_notes notes;
    const struct launch_memory memory = {.locked = true, .huge_pages = huge};
    struct tree t;

    notes = (struct launch_notes){0};
    tree_init(&t);
    tree_put(&t, "proc/42/status", status);
    launch_memory_verify(t.root, 42, 64 * MIB, &memory, &notes);
    tree_free(&t);
    assert_int_equal(notes.count, 1);
    *warned = notes.lines[0].warning;
    return notes.lines[0].text;
}

static void says_of_locked_memory_what_it_saw(void **state)
{
    const struct launch_memory unasked = {.locked = false};
    struct launch_notes notes = {0};
    bool warned;

    (void)state;
    assert_string_equal(verify("Name:\tqemu\nVmLck:\t   70000 kB\n", false, &warned),
                        "memory: locked, 68 MiB of the emulator's (VmLck)");
    assert_false(warned);
    assert_non_null(strstr(verify("VmLck:\t       0 kB\n", false, &warned),
                           "process 42 has locked 0 MiB (VmLck), the guest has 64;"));
    assert_true(warned);
    (void)verify("VmLck: 65535 kB\n", false, &warned);
    assert_true(warned);
    (void)verify("VmLck: 0 kB\n", true, &warned);
    assert_true(warned);
    assert_non_null(strstr(verify("VmLck: 4096 kB\n", true, &warned), "4 MiB"));
    assert_false(warned);
    assert_non_null(strstr(verify("VmLck: many\n", false, &warned), "is unknown, because"));
    assert_false(warned);
    launch_memory_verify("", 1, 64 * MIB, &unasked, &notes);
    assert_int_equal(notes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_vpmu),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(names_the_switch_that_is_off),
        cmocka_unit_test(takes_huge_pages_that_nobody_was_promised),
        cmocka_unit_test(sends_hybrids_to_the_bare_machine),
        cmocka_unit_test(fills_what_is_there),
        cmocka_unit_test(binds_memory_to_the_node_of_the_cpus),
        cmocka_unit_test(binds_nothing_without_need),
        cmocka_unit_test(says_of_locked_memory_what_it_saw),
        cmocka_unit_test(locks_what_it_may_and_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
