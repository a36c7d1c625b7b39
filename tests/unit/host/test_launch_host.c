/* What a host offers a guest under KVM: a vPMU, huge pages, locked memory. */
#include "tests/unit/host/tree.h"

#include <linux/kvm.h>

#include "host/launch_memory.h"
#include "host/launch_vpmu.h"

#define PAGES "sys/kernel/mm/hugepages/hugepages-2048kB/"
#define MIB (1ull << 20)

static const struct kvm_cpuid_entry2 intel = {.function = 0, .ebx = 0x756e6547}; /* "Genu" */
static const struct kvm_cpuid_entry2 amd = {.function = 0, .ebx = 0x68747541}; /* "Auth" */

/* The entries that follow the vendor; a NULL path: no module parameter. */
static struct launch_vpmu judge(struct kvm_cpuid_entry2 vendor, struct kvm_cpuid_entry2 more,
                                const char *path, const char *value)
{
    const struct kvm_cpuid_entry2 entries[] = {vendor, more};
    struct launch_vpmu vpmu;
    struct tree t;

    tree_init(&t);
    if (path != NULL)
        tree_put(&t, path, value);
    launch_vpmu_judge(entries, 2, t.root, &vpmu);
    tree_free(&t);
    return vpmu;
}

static void finds_intels_vpmu(void **state)
{
    struct kvm_cpuid_entry2 leaf = {.function = 0xa, .eax = 0x08300802};
    struct launch_vpmu vpmu = judge(intel, leaf, "sys/module/kvm/parameters/enable_pmu", "Y\n");

    (void)state;
    assert_true(vpmu.present);
    assert_string_equal(vpmu.why, "KVM has a vPMU (Intel, version 2, 8 general counters)");
    leaf.eax = 0;
    vpmu = judge(intel, leaf, NULL, NULL);
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "no performance counters"));
    leaf.function = 0xb;
    leaf.eax = 5;
    assert_false(judge(intel, leaf, NULL, NULL).present);
}

static void finds_amds_vpmu(void **state)
{
    struct kvm_cpuid_entry2 v2 = {.function = 0x80000022, .eax = 1};
    struct kvm_cpuid_entry2 core = {.function = 0x80000001, .ecx = 1u << 23};
    struct kvm_cpuid_entry2 legacy = {.function = 0x80000001};

    (void)state;
    assert_string_equal(judge(amd, v2, NULL, NULL).why, "KVM has a vPMU (AMD, PerfMonV2)");
    assert_string_equal(judge(amd, core, NULL, NULL).why,
                        "KVM has a vPMU (AMD, six core counters)");
    assert_true(judge(amd, legacy, NULL, NULL).present);
}

static void names_the_parameter_that_is_off(void **state)
{
    const struct kvm_cpuid_entry2 v2 = {.function = 0x80000022, .eax = 1};
    const struct kvm_cpuid_entry2 leaf = {.function = 0xa, .eax = 0x08300802};
    struct launch_vpmu vpmu = judge(intel, leaf, "sys/module/kvm/parameters/enable_pmu", "N\n");

    (void)state;
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "parameter enable_pmu of module kvm is off"));
    vpmu = judge(amd, v2, "sys/module/kvm_amd/parameters/pmu", "0\n");
    assert_false(vpmu.present);
    assert_non_null(strstr(vpmu.why, "parameter pmu of module kvm_amd is off"));
    vpmu = judge(amd, v2, "sys/module/kvm_intel/parameters/pmu", "");
    assert_true(vpmu.present);
}

static void expects_nothing_of_a_kvm_that_does_not_answer(void **state)
{
    struct launch_vpmu vpmu;

    (void)state;
    launch_vpmu_judge(NULL, 0, "/nonexistent", &vpmu);
    assert_false(vpmu.present);
    assert_true(vpmu.why[0] != 0);
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
        cmocka_unit_test(finds_intels_vpmu),
        cmocka_unit_test(finds_amds_vpmu),
        cmocka_unit_test(names_the_parameter_that_is_off),
        cmocka_unit_test(expects_nothing_of_a_kvm_that_does_not_answer),
        cmocka_unit_test(takes_huge_pages_that_nobody_was_promised),
        cmocka_unit_test(locks_what_it_may_and_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
