/* A host for hr doctor's tests: facts, and a directory tree in place of /sys and /proc. */
#ifndef TESTS_UNIT_HOST_DOCTOR_TREE_H
#define TESTS_UNIT_HOST_DOCTOR_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/doctor/doctor.h"

#define TREE_CPU "/sys/devices/system/cpu/"
#define TREE_CPUS 8

struct doctor_tree {
    char root[64];
    struct doctor_host host;
    struct doctor_report report;
};

static inline void tree_write_bytes(struct doctor_tree *t, const char *path, const void *bytes,
                                    size_t count)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof full, "%s%s", t->root, path);
    for (char *p = full + strlen(t->root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = 0;
        (void)mkdir(full, 0755);
        *p = '/';
    }
    file = fopen(full, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void tree_write(struct doctor_tree *t, const char *path, const char *text)
{
    tree_write_bytes(t, path, text, strlen(text));
}

static inline int tree_unlink(const char *path, const struct stat *about, int kind,
                              struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Removes a file or a directory with all that it holds. */
static inline void tree_remove(struct doctor_tree *t, const char *path)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", t->root, path);
    assert_int_equal(nftw(full, tree_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void tree_write_cpus(struct doctor_tree *t)
{
    for (int cpu = 0; cpu < TREE_CPUS; cpu++) {
        char path[128], text[16];

        snprintf(path, sizeof path, TREE_CPU "cpu%d/cpufreq/scaling_governor", cpu);
        tree_write(t, path, "performance\n");
        snprintf(path, sizeof path, TREE_CPU "cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d\n", cpu);
        tree_write(t, path, text);
    }
}

/* What every good host has, whoever made its CPU. */
static inline void tree_write_common(struct doctor_tree *t)
{
    static const char *const files[][2] = {
        {"/proc/sys/kernel/osrelease", "6.12.30-amd64\n"},
        {"/proc/sys/kernel/nmi_watchdog", "0\n"},
        {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
        {"/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"},
        {"/sys/module/kvm/initstate", "live\n"},
        {"/sys/module/kvm/parameters/enable_pmu", "Y\n"},
        {TREE_CPU "online", "0-7\n"},
        {TREE_CPU "isolated", "4-7\n"},
        {TREE_CPU "nohz_full", "4-7\n"},
        {TREE_CPU "smt/active", "0\n"},
        {TREE_CPU "vulnerabilities/l1tf", "Not affected\n"},
        {"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "600\n"},
        {"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "600\n"},
        {"/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "2\n"},
        {"/run/libvirt/libvirt-sock", ""},
        {"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"\"\n"},
        {"/usr/sbin/update-grub", ""},
        {"/usr/bin/apt-get", ""},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        tree_write(t, files[i][0], files[i][1]);
    tree_write_cpus(t);
}

static inline struct doctor_facts tree_facts(void)
{
    return (struct doctor_facts){
        .can_virtualise = true,
        .invariant_tsc = true,
        .kvm = {.state = LAUNCH_ACCEL_FAST, .kvm_ns = 0.25, .own_ns = 0.24},
        .memory_lock_bytes = UINT64_MAX,
        .realtime_priority = 50,
        .may_use_fifo = true,
        .qemu = "/usr/bin/qemu-system-x86_64",
        .qemu_version = "QEMU emulator version 9.2.1 (Debian 1:9.2.1+ds-1)",
        .kernel = "/usr/local/lib/microtome/guest.elf",
    };
}

static inline void tree_create(struct doctor_tree *t)
{
    snprintf(t->root, sizeof t->root, "/tmp/microtome-doctor.XXXXXX");
    assert_non_null(mkdtemp(t->root));
    t->host = (struct doctor_host){.root = t->root, .facts = tree_facts()};
    tree_write_common(t);
}

/* Sapphire Rapids, everything as it should be. */
static inline void tree_create_intel(struct doctor_tree *t)
{
    tree_create(t);
    tree_write(t, "/sys/module/kvm_intel/initstate", "live\n");
    tree_write(t, "/sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y\n");
    tree_write(t, "/sys/module/kvm_intel/parameters/enable_apicv", "Y\n");
    tree_write(t, "/sys/module/kvm_intel/parameters/enable_ipiv", "Y\n");
    tree_write(t, TREE_CPU "intel_pstate/no_turbo", "1\n");
    events_cpu_from_signature(&t->host.facts.cpu, RUN_CPU_INTEL, 0x806f8);
    strcpy(t->host.facts.brand, "  Intel(R) Xeon(R) Platinum 8480+  ");
    t->host.facts.counters = (struct cpu_counters){
        .vendor = RUN_CPU_INTEL, .version = 5, .general = 8, .general_bits = 48, .fixed = 4};
    t->host.facts.kvm_counters = t->host.facts.counters;
    t->host.facts.kvm_counters.version = 2;
}

/* Zen 4, everything as it should be. */
static inline void tree_create_amd(struct doctor_tree *t)
{
    tree_create(t);
    tree_write(t, "/sys/module/kvm_amd/initstate", "live\n");
    tree_write(t, "/sys/module/kvm_amd/parameters/enable_mediated_pmu", "Y\n");
    tree_write(t, "/sys/module/kvm_amd/parameters/avic", "1\n");
    tree_write(t, TREE_CPU "cpufreq/boost", "0\n");
    events_cpu_from_signature(&t->host.facts.cpu, RUN_CPU_AMD, 0xa10f11);
    strcpy(t->host.facts.brand, "AMD EPYC 9354 32-Core Processor");
    t->host.facts.counters = (struct cpu_counters){
        .vendor = RUN_CPU_AMD, .version = 2, .general = 6, .general_bits = 48};
    t->host.facts.kvm_counters = t->host.facts.counters;
}

static inline void tree_destroy(struct doctor_tree *t)
{
    tree_remove(t, "");
}

/* The finding of one check, after a new examination. */
static inline const struct doctor_finding *tree_look(struct doctor_tree *t, const char *id)
{
    doctor_examine(&t->host, &t->report);
    for (size_t i = 0; i < t->report.count; i++)
        if (strcmp(t->report.checks[i].id, id) == 0)
            return &t->report.findings[i];
    fail_msg("no check %s", id);
    return NULL;
}

#endif
