/* hr doctor's table and JSON, and files that no kernel would write. */
#include "tests/unit/test.h"

#include <jansson.h>

#include "tests/unit/host/doctor_tree.h"

#define HUGE_BYTES (1u << 20)

static struct doctor_tree tree;
static char printed[1 << 16];

static int make_intel(void **state)
{
    (void)state;
    tree_create_intel(&tree);
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    tree_destroy(&tree);
    return 0;
}

static void print(unsigned int columns, bool colours, bool details)
{
    FILE *out = fmemopen(printed, sizeof printed, "w");

    assert_non_null(out);
    doctor_examine(&tree.host, &tree.report);
    doctor_print_table(out, &tree.report, columns, colours, details);
    assert_int_equal(fclose(out), 0);
}

/* Every file that the checks of states other than "ok" depend on. */
static const struct {
    const char *path;
    const char *id;
} read_files[] = {
    {"/proc/sys/kernel/osrelease", "linux"},
    {"/proc/sys/kernel/nmi_watchdog", "nmi_watchdog"},
    {TREE_CPU "vulnerabilities/l1tf", "l1tf"},
    {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "clock"},
    {"/sys/module/kvm/parameters/enable_pmu", "enable_pmu"},
    {"/sys/module/kvm_intel/parameters/enable_mediated_pmu", "mediated_pmu"},
    {"/sys/module/kvm_intel/parameters/enable_apicv", "apic"},
    {"/sys/module/kvm_intel/parameters/enable_ipiv", "apic"},
    {TREE_CPU "online", "governor"},
    {TREE_CPU "isolated", "isolated_cpus"},
    {TREE_CPU "nohz_full", "isolated_cpus"},
    {TREE_CPU "smt/active", "smt"},
    {TREE_CPU "cpu2/cpufreq/scaling_governor", "governor"},
    {TREE_CPU "intel_pstate/no_turbo", "turbo"},
    {"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "hugepages"},
    {"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "hugepages"},
};

/* A file that makes no sense makes its own check unknown, and no other; nothing of it is shown. */
static void assert_unknown_alone(const char *path, const char *id)
{
    const struct doctor_finding *f = tree_look(&tree, id);

    if (f->state != DOCTOR_UNKNOWN)
        fail_msg("%s: %s: %s", path, doctor_state_name(f->state), f->found);
    assert_non_null(strstr(f->found, " makes no sense"));
    for (size_t i = 0; i < tree.report.count; i++)
        if (strcmp(tree.report.checks[i].id, id) != 0 &&
            strcmp(tree.report.checks[i].id, "governor") != 0)
            assert_int_equal(tree.report.findings[i].state, DOCTOR_OK);
    print(80, false, true);
    assert_null(strchr(printed, '\033'));
}

static void try_all_files(const void *bytes, size_t count, bool empty_is_valid)
{
    for (size_t i = 0; i < sizeof read_files / sizeof read_files[0]; i++) {
        const char *path = read_files[i].path;

        if (empty_is_valid && (strstr(path, "isolated") != NULL ||
                               strstr(path, "nohz_full") != NULL || strstr(path, "online") != NULL))
            continue;
        tree_create_intel(&tree);
        tree_write_bytes(&tree, path, bytes, count);
        assert_unknown_alone(path, read_files[i].id);
        tree_destroy(&tree);
    }
}

static void hostile_files(void **state)
{
    static char huge[HUGE_BYTES];

    (void)state;
    memset(huge, '1', sizeof huge);
    try_all_files(huge, sizeof huge, false);
    try_all_files("\033[2J\033]0;owned\007", 14, false);
    try_all_files("1\0\n", 3, false);
    try_all_files("\xff\xfe\x80", 3, false);
    try_all_files("", 0, true);
    try_all_files("\n\n", 2, true);
}

static void odd_numbers(void **state)
{
    static const char path[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
    static const char *const texts[] = {"-1", "+1", "0x10", "99999999999999999999", "1 2", "lots"};
    static const char *const lists[] = {"1-", "3-1", "-", "0-99999999", "1,,2", "4,4", "a"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tree_write(&tree, path, texts[i]);
        assert_int_equal(tree_look(&tree, "hugepages")->state, DOCTOR_UNKNOWN);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        tree_write(&tree, TREE_CPU "isolated", lists[i]);
        assert_int_equal(tree_look(&tree, "isolated_cpus")->state, DOCTOR_UNKNOWN);
    }
}

/* Neither is a file, and a pipe without a writer would block. */
static void no_files(void **state)
{
    char path[512];

    (void)state;
    tree_remove(&tree, "/proc/sys/kernel/nmi_watchdog");
    snprintf(path, sizeof path, "%s/proc/sys/kernel/nmi_watchdog", tree.root);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(tree_look(&tree, "nmi_watchdog")->state, DOCTOR_UNKNOWN);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(tree_look(&tree, "nmi_watchdog")->state, DOCTOR_UNKNOWN);
}

static void nothing_at_all(void **state)
{
    (void)state;
    tree_remove(&tree, "/sys");
    tree_remove(&tree, "/proc");
    assert_int_equal(tree_look(&tree, "linux")->state, DOCTOR_UNKNOWN);
    assert_non_null(strstr(tree_look(&tree, "linux")->found, "No such file"));
    assert_int_equal(tree_look(&tree, "governor")->state, DOCTOR_UNKNOWN);
}

/* Words keep to the width; only a command may be longer, and it stays in one piece or ends in &&.
 */
static void table_keeps_its_width(void **state)
{
    (void)state;
    tree_write(&tree, "/sys/module/kvm/parameters/enable_pmu", "N");
    tree_write(&tree, TREE_CPU "isolated", "");
    tree_write(&tree, TREE_CPU "intel_pstate/no_turbo", "0");
    strcpy(tree.host.facts.hypervisor, "KVMKVMKVM");
    tree.host.facts.is_guest = true;
    for (unsigned int columns = 80; columns <= 120; columns += 20) {
        print(columns, false, true);
        for (char *line = strtok(printed, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            const char *text = line + strspn(line, " ");

            assert_true(line[strlen(line) - 1] != ' ');
            if (strlen(line) > columns && text[0] != '$' && strncmp(text, "sudo ", 5) != 0)
                fail_msg("%u columns: %s", columns, line);
        }
    }
}

static void colours_and_details(void **state)
{
    (void)state;
    tree_write(&tree, "/sys/module/kvm_intel/parameters/enable_mediated_pmu", "N\n");
    tree_write(&tree, "/proc/sys/kernel/nmi_watchdog", "1");
    print(100, false, false);
    assert_null(strchr(printed, '\033'));
    assert_null(strstr(printed, "Programs run at this CPU's speed."));
    assert_non_null(strstr(printed, "$ echo 0 | sudo tee /proc/sys/kernel/nmi_watchdog\n"));
    print(100, true, true);
    assert_non_null(strstr(printed, "\033[33mwarning  \033[0mNMI watchdog"));
    assert_non_null(strstr(printed, "Programs run at this CPU's speed."));
}

static void names_are_escaped(void **state)
{
    (void)state;
    strcpy(tree.host.facts.brand, "evil\033[2J");
    strcpy(tree.host.facts.qemu_version, "QEMU emulator version 9\0337\n");
    print(100, false, true);
    assert_null(strchr(printed, '\033'));
    assert_non_null(strstr(printed, "evil\\x1b[2J"));
}

static void json(void **state)
{
    FILE *out = fmemopen(printed, sizeof printed, "w");
    json_t *object, *check;
    size_t i;

    (void)state;
    tree_write(&tree, TREE_CPU "smt/active", "1");
    doctor_examine(&tree.host, &tree.report);
    assert_int_equal(doctor_print_json(out, &tree.report), 0);
    assert_int_equal(fclose(out), 0);
    object = json_loads(printed, 0, NULL);
    assert_non_null(object);
    assert_true(json_is_true(json_object_get(object, "faithful")));
    assert_int_equal(json_array_size(json_object_get(object, "checks")), tree.report.count);
    json_array_foreach(json_object_get(object, "checks"), i, check)
    {
        bool smt = strcmp(json_string_value(json_object_get(check, "id")), "smt") == 0;

        assert_string_equal(json_string_value(json_object_get(check, "state")),
                            smt ? "warning" : "ok");
        assert_true(json_is_string(json_object_get(check, "found")));
        assert_true(json_is_string(json_object_get(check, "effect")));
        assert_int_equal(json_is_null(json_object_get(check, "remedy")), !smt);
    }
    json_decref(object);
}

int main(void)
{
#define WITH_INTEL(test) cmocka_unit_test_setup_teardown(test, make_intel, destroy)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_files),
        WITH_INTEL(odd_numbers),
        WITH_INTEL(no_files),
        WITH_INTEL(nothing_at_all),
        WITH_INTEL(table_keeps_its_width),
        WITH_INTEL(colours_and_details),
        WITH_INTEL(names_are_escaped),
        WITH_INTEL(json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
