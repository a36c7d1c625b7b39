/* hr doctor on hosts of all kinds: what it finds, what it advises, how it judges. */
#include "tests/unit/test.h"

#include "tests/unit/host/doctor_tree.h"

static struct doctor_tree tree;

static int make_intel(void **state)
{
    (void)state;
    tree_create_intel(&tree);
    return 0;
}

static int make_amd(void **state)
{
    (void)state;
    tree_create_amd(&tree);
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    tree_destroy(&tree);
    return 0;
}

static void assert_state(const char *id, enum doctor_state wanted)
{
    const struct doctor_finding *f = tree_look(&tree, id);

    if (f->state != wanted)
        fail_msg("%s: %s: %s", id, doctor_state_name(f->state), f->found);
}

/* The remedy is this command, and the state as wanted. */
static void assert_command(const char *id, enum doctor_state wanted, const char *command)
{
    const struct doctor_finding *f = tree_look(&tree, id);

    assert_state(id, wanted);
    assert_true(f->remedy_is_command);
    assert_string_equal(f->remedy, command);
    assert_true(f->effect[0] != 0);
}

static void assert_advice(const char *id, enum doctor_state wanted, const char *part)
{
    const struct doctor_finding *f = tree_look(&tree, id);

    assert_state(id, wanted);
    assert_false(f->remedy_is_command);
    if (strstr(f->remedy, part) == NULL)
        fail_msg("%s: no '%s' in: %s", id, part, f->remedy);
}

static void assert_all_is_well(void)
{
    doctor_examine(&tree.host, &tree.report);
    for (size_t i = 0; i < tree.report.count; i++) {
        assert_state(tree.report.checks[i].id, DOCTOR_OK);
        assert_true(tree.report.findings[i].found[0] != 0);
        assert_true(tree.report.findings[i].effect[0] != 0);
        assert_string_equal(tree.report.findings[i].remedy, "");
    }
    assert_true(tree.report.faithful);
    assert_non_null(strstr(tree.report.verdict, "nothing that disturbs them was found"));
}

static void good_intel(void **state)
{
    (void)state;
    assert_all_is_well();
    assert_string_equal(tree_look(&tree, "cpu")->found,
                        "Intel(R) Xeon(R) Platinum 8480+, Intel family 6 model 143 (spr)");
    assert_string_equal(tree_look(&tree, "cpu_counters")->found,
                        "version 5, 8 general and 4 fixed counters of 48 bits");
    assert_string_equal(tree_look(&tree, "qemu")->found, "9.2.1, /usr/bin/qemu-system-x86_64");
    assert_string_equal(tree_look(&tree, "isolated_cpus")->found, "CPUs 4-7, without a tick");
}

static void good_amd(void **state)
{
    (void)state;
    assert_all_is_well();
    assert_string_equal(tree_look(&tree, "kvm_counters")->found,
                        "PerfMonV2, 6 counters of 48 bits");
}

/* Every one of these alone leaves a faithful run possible. */
static void disturbances(void **state)
{
    (void)state;
    tree_write(&tree, "/sys/module/kvm_intel/parameters/enable_mediated_pmu", "N\n");
    tree_write(&tree, "/proc/sys/kernel/nmi_watchdog", "1\n");
    assert_command("nmi_watchdog", DOCTOR_WARNING,
                   "echo 0 | sudo tee /proc/sys/kernel/nmi_watchdog");
    assert_true(tree.report.faithful);
    tree_write(&tree, "/sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y\n");
    tree_write(&tree, "/proc/sys/kernel/nmi_watchdog", "0\n");
    tree_write(&tree, TREE_CPU "cpu3/cpufreq/scaling_governor", "powersave\n");
    tree_write(&tree, TREE_CPU "cpu5/cpufreq/scaling_governor", "schedutil\n");
    assert_command("governor", DOCTOR_WARNING,
                   "echo performance | sudo tee " TREE_CPU "cpu*/cpufreq/scaling_governor");
    assert_string_equal(tree_look(&tree, "governor")->found, "powersave, on 2 of 8 CPUs");
    tree_write(&tree, TREE_CPU "intel_pstate/no_turbo", "0\n");
    assert_command("turbo", DOCTOR_WARNING, "echo 1 | sudo tee " TREE_CPU "intel_pstate/no_turbo");
    tree_write(&tree, TREE_CPU "smt/active", "1\n");
    assert_command("smt", DOCTOR_WARNING, "echo off | sudo tee " TREE_CPU "smt/control");
    tree_write(&tree, "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "100\n");
    assert_command("hugepages", DOCTOR_WARNING,
                   "echo 1012 | sudo tee "
                   "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
    tree_write(&tree, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    assert_command(
        "clock", DOCTOR_WARNING,
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource");
    tree.host.facts.memory_lock_bytes = 8 << 20;
    assert_command("memory_lock", DOCTOR_WARNING,
                   "echo \"$USER - memlock unlimited\" | sudo tee -a "
                   "/etc/security/limits.d/microtome.conf  # then log in again");
    tree.host.facts.memory_lock_bytes = (1280ull << 20) - 1;
    assert_state("memory_lock", DOCTOR_WARNING);
    tree.host.facts.memory_lock_bytes++;
    assert_state("memory_lock", DOCTOR_OK);
    tree.host.facts.memory_lock_bytes = 0;
    tree.host.facts.may_use_fifo = false; /* whatever the limit says */
    assert_state("priority", DOCTOR_WARNING);
    assert_true(tree.report.faithful);
    assert_non_null(strstr(tree.report.verdict, "The warnings above"));
    tree.host.facts.is_privileged = true;
    tree.host.facts.realtime_priority = 0;
    tree.host.facts.may_use_fifo = true;
    assert_state("priority", DOCTOR_OK);
    assert_state("memory_lock", DOCTOR_OK);
}

static void amd_boost_is_turbo(void **state)
{
    (void)state;
    tree_write(&tree, TREE_CPU "cpufreq/boost", "1\n");
    assert_command("turbo", DOCTOR_WARNING, "echo 0 | sudo tee " TREE_CPU "cpufreq/boost");
    tree_remove(&tree, TREE_CPU "cpufreq");
    assert_advice("turbo", DOCTOR_UNKNOWN, "firmware");
}

static void isolation(void **state)
{
    (void)state;
    /* siblings are CPU n and n + 4: two whole cores, not the first */
    for (int cpu = 0; cpu < TREE_CPUS; cpu++) {
        char path[128], text[16];

        snprintf(path, sizeof path, TREE_CPU "cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d,%d\n", cpu % 4, cpu % 4 + 4);
        tree_write(&tree, path, text);
    }
    tree_write(&tree, TREE_CPU "isolated", "\n");
    assert_command("isolated_cpus", DOCTOR_WARNING,
                   "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&isolcpus=2-3,6-7 nohz_full=2-3,6-7 "
                   "rcu_nocbs=2-3,6-7 /' /etc/default/grub && sudo update-grub && sudo reboot");
    tree_remove(&tree, "/etc");
    tree_write(&tree, "/usr/sbin/grubby", "");
    assert_command("isolated_cpus", DOCTOR_WARNING,
                   "sudo grubby --update-kernel=ALL --args='isolcpus=2-3,6-7 nohz_full=2-3,6-7 "
                   "rcu_nocbs=2-3,6-7' && sudo reboot");
    tree_remove(&tree, "/usr/sbin/grubby");
    assert_advice("isolated_cpus", DOCTOR_WARNING, "isolcpus=2-3,6-7 ");
    tree_write(&tree, TREE_CPU "isolated", "7\n");
    assert_string_equal(tree_look(&tree, "isolated_cpus")->found, "only CPU 7");
    tree_write(&tree, TREE_CPU "isolated", "5-7\n");
    tree_write(&tree, TREE_CPU "nohz_full", "5-6\n");
    assert_string_equal(tree_look(&tree, "isolated_cpus")->found,
                        "CPUs 5-7, but not all without a tick (nohz_full)");
    tree_write(&tree, TREE_CPU "nohz_full", "(null)\n");
    assert_state("isolated_cpus", DOCTOR_WARNING);
    tree_remove(&tree, TREE_CPU "nohz_full");
    assert_state("isolated_cpus", DOCTOR_WARNING);
    tree_write(&tree, TREE_CPU "online", "0-1\n");
    assert_advice("isolated_cpus", DOCTOR_WARNING, "three cores");
}

static void switched_off(void **state)
{
    (void)state;
    tree_write(&tree, "/sys/module/kvm/parameters/enable_pmu", "N\n");
    tree.host.facts.kvm_counters = (struct cpu_counters){.vendor = RUN_CPU_INTEL};
    assert_command("enable_pmu", DOCTOR_PROBLEM,
                   "echo 'options kvm enable_pmu=1' | sudo tee -a "
                   "/etc/modprobe.d/microtome.conf && sudo modprobe -r kvm_intel kvm && sudo "
                   "modprobe kvm_intel");
    assert_advice("kvm_counters", DOCTOR_PROBLEM, "enable_pmu");
    assert_false(tree.report.faithful);
    assert_non_null(strstr(tree.report.verdict, "With --accel kvm programs run at this CPU's "
                                                "speed.  Hardware counters are not available: KVM "
                                                "offers none to a guest and its switch enable_pmu "
                                                "is off."));
    tree_remove(&tree, "/sys/module/kvm/initstate"); /* built into the kernel */
    assert_command("enable_pmu", DOCTOR_PROBLEM,
                   "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&kvm.enable_pmu=1 /' /etc/default/grub "
                   "&& sudo update-grub && sudo reboot");
    tree.host.facts.counters = tree.host.facts.kvm_counters; /* the cause is another */
    assert_advice("enable_pmu", DOCTOR_WARNING, "CPU counters");
    assert_advice("cpu_counters", DOCTOR_PROBLEM, "firmware");
    tree_remove(&tree, "/sys/module/kvm");
    assert_state("enable_pmu", DOCTOR_UNKNOWN);
    tree_write(&tree, "/sys/module/kvm_amd/parameters/pmu", "0\n");
    assert_string_equal(tree_look(&tree, "enable_pmu")->found, "off (kvm_amd.pmu)");
}

/* There the switch cannot be turned on. */
static void hybrid(void **state)
{
    (void)state;
    tree.host.facts.counters.hybrid = true;
    assert_state("enable_pmu", DOCTOR_OK); /* a KVM that does not know hybrids */
    tree_write(&tree, "/sys/module/kvm/parameters/enable_pmu", "N\n");
    tree.host.facts.kvm_counters = (struct cpu_counters){.vendor = RUN_CPU_INTEL};
    assert_advice("enable_pmu", DOCTOR_PROBLEM, "bare machine");
    assert_string_equal(tree_look(&tree, "enable_pmu")->found,
                        "off (kvm.enable_pmu), the processor is a hybrid");
    assert_advice("kvm_counters", DOCTOR_PROBLEM, "bare machine");
    assert_null(strstr(tree_look(&tree, "enable_pmu")->remedy, "enable_pmu"));
}

static void mediated(void **state)
{
    (void)state;
    tree_write(&tree, "/sys/module/kvm_intel/parameters/enable_mediated_pmu", "N\n");
    assert_command("mediated_pmu", DOCTOR_WARNING,
                   "echo 'options kvm_intel enable_mediated_pmu=1' | sudo tee -a "
                   "/etc/modprobe.d/microtome.conf && sudo modprobe -r kvm_intel && sudo modprobe "
                   "kvm_intel");
    assert_true(tree.report.faithful);
    tree.host.facts.counters.version = 3;
    assert_advice("mediated_pmu", DOCTOR_WARNING, "newer CPU");
    tree.host.facts.counters.version = 4;
    tree_remove(&tree, "/sys/module/kvm_intel/parameters/enable_mediated_pmu");
    assert_advice("mediated_pmu", DOCTOR_WARNING, "Linux");
}

static void watchdog_stops_mediated_guests(void **state)
{
    (void)state;
    tree_write(&tree, "/proc/sys/kernel/nmi_watchdog", "1\n");
    assert_command("nmi_watchdog", DOCTOR_PROBLEM, "sudo sysctl kernel.nmi_watchdog=0");
    assert_false(tree.report.faithful);
    assert_string_equal(tree.report.verdict,
                        "Emulated runs are exact here: they count instructions, the same on every "
                        "run.  Hardware counters are not available: the NMI watchdog keeps guests "
                        "with a mediated vPMU from starting.");
    tree_remove(&tree, "/sys/module/kvm_intel/parameters/enable_mediated_pmu");
    assert_state("nmi_watchdog", DOCTOR_WARNING);
    tree_write(&tree, "/sys/module/kvm_amd/parameters/enable_mediated_pmu", "Y\n");
    assert_state("nmi_watchdog", DOCTOR_PROBLEM);
}

static void rdpmc_leaves_where_counters_differ(void **state)
{
    struct cpu_counters *offered = &tree.host.facts.kvm_counters;

    (void)state;
    offered->fixed = 3;
    assert_advice("mediated_pmu", DOCTOR_WARNING, "intervals");
    assert_string_equal(tree_look(&tree, "mediated_pmu")->found,
                        "on, but guests have 8 general and 3 fixed counters and the CPU 8 and 4");
    assert_non_null(
        strstr(tree_look(&tree, "mediated_pmu")->effect, "each RDPMC leaves the guest"));
    assert_true(tree.report.faithful);
    offered->fixed = 4;
    offered->general_bits = 40;
    assert_state("mediated_pmu", DOCTOR_WARNING);
    offered->general_bits = 48;
    assert_state("mediated_pmu", DOCTOR_OK);
}

static void flushes_of_the_cache(void **state)
{
    static const char never[] =
        "echo never | sudo tee "
        "/sys/module/kvm_intel/parameters/vmentry_l1d_flush  # if you trust "
        "what all guests run";

    (void)state;
    tree_write(&tree, TREE_CPU "vulnerabilities/l1tf",
               "Mitigation: PTE Inversion; VMX: cache flushes, SMT disabled\n");
    assert_command("l1tf", DOCTOR_WARNING, never);
    assert_string_equal(tree_look(&tree, "l1tf")->found, "flushed at every entry into a guest");
    assert_true(tree.report.faithful);
    assert_non_null(strstr(tree.report.verdict, "The warning above"));
    tree_write(&tree, TREE_CPU "vulnerabilities/l1tf",
               "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable\n");
    assert_command("l1tf", DOCTOR_WARNING, never);
    assert_non_null(strstr(tree_look(&tree, "l1tf")->effect, "host's interrupts"));
    tree_write(&tree, TREE_CPU "vulnerabilities/l1tf",
               "Mitigation: PTE Inversion; VMX: flush not necessary, SMT disabled\n");
    assert_state("l1tf", DOCTOR_OK);
    tree_write(&tree, TREE_CPU "vulnerabilities/l1tf", "\n");
    assert_state("l1tf", DOCTOR_UNKNOWN);
    tree_remove(&tree, TREE_CPU "vulnerabilities");
    assert_state("l1tf", DOCTOR_UNKNOWN);
    assert_true(tree.report.faithful);
}

/* KVM and QEMU both have to pass it on. */
static void perfmon_v2(void **state)
{
    struct doctor_facts *facts = &tree.host.facts;

    (void)state;
    strcpy(facts->qemu_version, "QEMU emulator version 9.1.2");
    assert_advice("kvm_counters", DOCTOR_WARNING, "install QEMU 9.2 or later");
    assert_non_null(strstr(tree_look(&tree, "kvm_counters")->effect, "a guest, QEMU does not"));
    facts->kvm_counters.version = 1;
    assert_advice("kvm_counters", DOCTOR_WARNING,
                  "install Linux 6.5 or later and QEMU 9.2 or later");
    assert_non_null(strstr(tree_look(&tree, "kvm_counters")->effect, "KVM and QEMU do not"));
    strcpy(facts->qemu_version, "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)");
    assert_advice("kvm_counters", DOCTOR_WARNING, "install Linux 6.5 or later");
    assert_null(strstr(tree_look(&tree, "kvm_counters")->remedy, "QEMU"));
    assert_non_null(strstr(tree_look(&tree, "kvm_counters")->effect, "KVM does not"));
    facts->counters.version = 1; /* Zen 1 to 3 */
    strcpy(facts->qemu_version, "QEMU emulator version 7.2.22");
    assert_state("kvm_counters", DOCTOR_OK);
}

static void interrupts(void **state)
{
    (void)state;
    tree_write(&tree, "/sys/module/kvm_intel/parameters/enable_ipiv", "N\n");
    assert_string_equal(tree_look(&tree, "apic")->found, "on, but not for interrupts between CPUs");
    assert_non_null(strstr(tree_look(&tree, "apic")->remedy, "options kvm_intel enable_ipiv=1"));
    tree_write(&tree, "/sys/module/kvm_intel/parameters/enable_apicv", "N\n");
    assert_string_equal(tree_look(&tree, "apic")->found, "off");
    assert_non_null(strstr(tree_look(&tree, "apic")->remedy, "options kvm_intel enable_apicv=1"));
    tree_remove(&tree, "/sys/module/kvm_intel");
    assert_state("apic", DOCTOR_UNKNOWN);
}

static void no_kvm(void **state)
{
    struct doctor_facts *facts = &tree.host.facts;

    (void)state;
    facts->kvm = (struct launch_accel_speed){.state = LAUNCH_ACCEL_ABSENT};
    facts->kvm_error = -2;
    assert_command("kvm", DOCTOR_PROBLEM, "sudo modprobe kvm_intel");
    assert_state("kvm_speed", DOCTOR_UNKNOWN);
    assert_state("kvm_counters", DOCTOR_UNKNOWN);
    assert_false(tree.report.faithful);
    assert_string_equal(tree.report.verdict,
                        "Emulated runs are exact here: they count instructions, the same on every "
                        "run.  Hardware counters are not available: KVM is not usable.");
    facts->can_virtualise = false;
    assert_advice("kvm", DOCTOR_PROBLEM, "VT-x");
    facts->cpu.vendor = RUN_CPU_AMD;
    assert_advice("kvm", DOCTOR_PROBLEM, "SVM mode");
    facts->is_guest = true;
    assert_advice("kvm", DOCTOR_PROBLEM, "nested");
    facts->kvm.state = LAUNCH_ACCEL_FORBIDDEN;
    assert_command("kvm", DOCTOR_PROBLEM, "sudo usermod -aG kvm \"$USER\" && newgrp kvm");
    facts->kvm.state = LAUNCH_ACCEL_BROKEN;
    assert_state("kvm", DOCTOR_PROBLEM);
}

static void slow_kvm(void **state)
{
    struct doctor_facts *facts = &tree.host.facts;

    (void)state;
    facts->kvm =
        (struct launch_accel_speed){.state = LAUNCH_ACCEL_SLOW, .kvm_ns = 900, .own_ns = 0.25};
    assert_state("kvm_speed", DOCTOR_PROBLEM);
    assert_string_equal(tree_look(&tree, "kvm_speed")->found,
                        "900 ns an instruction, 3,600 times this CPU's own 0.25 ns");
    facts->kvm.kvm_ns = 0;
    assert_string_equal(tree_look(&tree, "kvm_speed")->found, "too slow to measure");
    assert_non_null(strstr(tree.report.verdict, "KVM emulates each instruction."));
}

/* Without a problem, but without an answer either: nobody may count on a faithful run. */
static void unknown_is_not_faithful(void **state)
{
    (void)state;
    tree.host.facts.kvm_error = -5;
    assert_state("kvm_counters", DOCTOR_UNKNOWN);
    assert_false(tree.report.faithful);
    assert_non_null(strstr(tree.report.verdict, "KVM counters is unknown"));
}

static void virtual_machine(void **state)
{
    (void)state;
    tree.host.facts.is_guest = true;
    strcpy(tree.host.facts.hypervisor, "VMwareVMware");
    assert_string_equal(tree_look(&tree, "bare_metal")->found, "no, a virtual machine of VMware");
    assert_true(tree.report.faithful);
    tree.host.facts.counters.version = 0;
    assert_advice("cpu_counters", DOCTOR_PROBLEM, "vpmc.enable");
    strcpy(tree.host.facts.hypervisor, "KVMKVMKVM");
    assert_advice("cpu_counters", DOCTOR_PROBLEM, "<pmu state='on'/>");
}

static void missing_programs(void **state)
{
    (void)state;
    tree.host.facts.qemu[0] = 0;
    strcpy(tree.host.facts.no_qemu, "qemu-system-x86_64 is not installed");
    assert_command("qemu", DOCTOR_PROBLEM, "sudo apt-get install qemu-system-x86");
    assert_string_equal(tree.report.verdict, "No run is possible here: QEMU is missing or broken.");
    tree.host.facts.kvm.state = LAUNCH_ACCEL_ABSENT; /* that hardly matters now */
    assert_state("kvm", DOCTOR_PROBLEM);
    assert_string_equal(tree.report.verdict, "No run is possible here: QEMU is missing or broken.");
    tree.host.facts.kernel[0] = 0;
    strcpy(tree.host.facts.no_kernel, "run 'make'");
    assert_advice("guest_kernel", DOCTOR_PROBLEM, "run 'make'");
    strcpy(tree.host.facts.qemu, "/bin/true");
    tree.host.facts.qemu_version[0] = 0;
    assert_state("qemu", DOCTOR_PROBLEM);
    tree_remove(&tree, "/run");
    assert_state("libvirt", DOCTOR_OK);
    assert_non_null(strstr(tree_look(&tree, "libvirt")->found, "not running"));
}

static void old_things(void **state)
{
    (void)state;
    tree_write(&tree, "/proc/sys/kernel/osrelease", "5.10.0-35-amd64\n");
    assert_state("linux", DOCTOR_WARNING);
    tree_write(&tree, "/proc/sys/kernel/osrelease", "7.0.1\n");
    assert_state("linux", DOCTOR_OK);
    tree.host.facts.kvm_counters.version = 1;
    assert_advice("kvm_counters", DOCTOR_WARNING, "6.5");
    tree.host.facts.cpu.vendor = RUN_CPU_OTHER;
    assert_state("cpu", DOCTOR_PROBLEM);
}

int main(void)
{
#define WITH_INTEL(test) cmocka_unit_test_setup_teardown(test, make_intel, destroy)
#define WITH_AMD(test) cmocka_unit_test_setup_teardown(test, make_amd, destroy)
    const struct CMUnitTest tests[] = {
        WITH_INTEL(good_intel),
        WITH_AMD(good_amd),
        WITH_INTEL(disturbances),
        WITH_AMD(amd_boost_is_turbo),
        WITH_INTEL(isolation),
        WITH_INTEL(switched_off),
        WITH_INTEL(hybrid),
        WITH_INTEL(mediated),
        WITH_INTEL(watchdog_stops_mediated_guests),
        WITH_INTEL(rdpmc_leaves_where_counters_differ),
        WITH_INTEL(flushes_of_the_cache),
        WITH_AMD(perfmon_v2),
        WITH_INTEL(interrupts),
        WITH_INTEL(no_kvm),
        WITH_INTEL(slow_kvm),
        WITH_INTEL(unknown_is_not_faithful),
        WITH_INTEL(virtual_machine),
        WITH_INTEL(missing_programs),
        WITH_AMD(old_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
