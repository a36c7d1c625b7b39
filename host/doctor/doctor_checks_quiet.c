/* hr doctor's checks of other users of the CPUs, and of their speed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/base/cpu_list.h"
#include "host/doctor/doctor_checks.h"
#include "host/doctor/doctor_finding.h"
#include "host/doctor/doctor_read.h"

#define CPUS "/sys/devices/system/cpu/"
#define CPUS_TEXT_BYTES 160
#define CORES_NEEDED 2 /* one for the program, one for the service CPU */

/* Linux then refuses perf events that also count guests (Linux: kernel/events/core.c,
 * perf_create_mediated_pmu). */
static bool is_mediated(const struct doctor_host *h)
{
    static const char *const paths[] = {"/sys/module/kvm_intel/parameters/enable_mediated_pmu",
                                        "/sys/module/kvm_amd/parameters/enable_mediated_pmu"};
    bool on;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (doctor_read_flag(h, paths[i], &on) == 0 && on)
            return true;
    return false;
}

void doctor_check_nmi_watchdog(const struct doctor_host *h, struct doctor_finding *f)
{
    static const char path[] = "/proc/sys/kernel/nmi_watchdog";
    bool on;
    int error = doctor_read_flag(h, path, &on);

    if (error != 0) {
        doctor_finding_unreadable(f, path, error);
    } else if (!on) {
        doctor_finding_set(f, DOCTOR_OK, "It takes no counter.", "off");
    } else if (is_mediated(h)) {
        doctor_finding_set(f, DOCTOR_PROBLEM,
                           "It holds a counter of every CPU: a guest with counters of its own does "
                           "not start (KVM_CREATE_VCPU: Device or resource busy).",
                           "on, and the vPMU is mediated");
        doctor_finding_command(f, "sudo sysctl kernel.nmi_watchdog=0");
    } else {
        doctor_finding_set(
            f, DOCTOR_WARNING,
            "It holds a counter of every CPU that a guest then lacks, and interrupts the program.",
            "on");
        doctor_finding_command(f, "echo 0 | sudo tee %s", path);
    }
}

/* Chooses the highest CPUs of enough cores, with their siblings; CPU 0's core stays with Linux.
 * Returns false if there are too few. */
static bool choose_cpus(const struct doctor_host *h, cpu_set_t *chosen)
{
    cpu_set_t online, siblings, kept;
    int cores = 0;

    CPU_ZERO(chosen);
    if (doctor_read_cpus(h, CPUS "online", &online) != 0)
        return false;
    CPU_ZERO(&kept);
    (void)doctor_read_cpus(h, CPUS "cpu0/topology/thread_siblings_list", &kept);
    CPU_SET(0, &kept);
    for (int cpu = CPU_SETSIZE - 1; cpu > 0 && cores < CORES_NEEDED; cpu--) {
        char path[96];

        if (!CPU_ISSET(cpu, &online) || CPU_ISSET(cpu, chosen) || CPU_ISSET(cpu, &kept))
            continue;
        snprintf(path, sizeof path, CPUS "cpu%d/topology/thread_siblings_list", cpu);
        (void)doctor_read_cpus(h, path, &siblings);
        CPU_OR(chosen, chosen, &siblings);
        CPU_SET(cpu, chosen);
        cores++;
    }
    return cores == CORES_NEEDED;
}

static void advise_isolation(const struct doctor_host *h, struct doctor_finding *f)
{
    cpu_set_t chosen;
    char list[CPUS_TEXT_BYTES];
    char parameters[3 * CPUS_TEXT_BYTES + 64];

    if (!choose_cpus(h, &chosen)) {
        doctor_finding_advice(f, "use a machine with three cores or more");
        return;
    }
    cpu_list_format(&chosen, list, sizeof list);
    snprintf(parameters, sizeof parameters, "isolcpus=%s nohz_full=%s rcu_nocbs=%s", list, list,
             list);
    doctor_finding_kernel_parameters(h, f, parameters);
}

/* Kernels without such a list write "(null)". */
static int read_tickless(const struct doctor_host *h, cpu_set_t *cpus)
{
    char text[DOCTOR_TEXT_BYTES];
    int error = doctor_read_cpus(h, CPUS "nohz_full", cpus);

    if (error == -ENOENT ||
        (error != 0 && doctor_read(h, CPUS "nohz_full", text) == 0 && strcmp(text, "(null)") == 0))
        return 0;
    return error;
}

void doctor_check_isolated(const struct doctor_host *h, struct doctor_finding *f)
{
    cpu_set_t isolated, tickless, both;
    char list[CPUS_TEXT_BYTES];
    int error = doctor_read_cpus(h, CPUS "isolated", &isolated);

    if (error != 0) {
        doctor_finding_unreadable(f, CPUS "isolated", error);
        return;
    }
    error = read_tickless(h, &tickless);
    if (error != 0) {
        doctor_finding_unreadable(f, CPUS "nohz_full", error);
        return;
    }
    CPU_AND(&both, &isolated, &tickless);
    cpu_list_format(&isolated, list, sizeof list);
    if (CPU_COUNT(&isolated) < CORES_NEEDED) {
        doctor_finding_set(f, DOCTOR_WARNING,
                           "Linux puts other tasks and interrupts on the run's CPUs: samples are "
                           "late, real time is not the program's alone.",
                           CPU_COUNT(&isolated) == 0 ? "none" : "only CPU %s", list);
        advise_isolation(h, f);
    } else if (!CPU_EQUAL(&both, &isolated)) {
        doctor_finding_set(f, DOCTOR_WARNING,
                           "The scheduler's tick interrupts the run 100 to 1000 times a second.",
                           "CPUs %s, but not all without a tick (nohz_full)", list);
        advise_isolation(h, f);
    } else {
        doctor_finding_set(f, DOCTOR_OK, NULL, "CPUs %s, without a tick", list);
        doctor_finding_effect(f, "hr run --pin %s has them for itself.", list);
    }
}

void doctor_check_smt(const struct doctor_host *h, struct doctor_finding *f)
{
    static const char path[] = CPUS "smt/active";
    bool on;
    int error = doctor_read_flag(h, path, &on);

    if (error == -ENOENT) {
        doctor_finding_set(f, DOCTOR_OK, "The program has its core for itself.", "none");
    } else if (error != 0) {
        doctor_finding_unreadable(f, path, error);
    } else if (!on) {
        doctor_finding_set(f, DOCTOR_OK, "The program has its core for itself.", "off");
    } else {
        doctor_finding_set(f, DOCTOR_WARNING,
                           "What runs on the sibling slows the program and shares its caches; "
                           "leave siblings idle, or turn them off.",
                           "on: two threads share a core");
        doctor_finding_command(f, "echo off | sudo tee " CPUS "smt/control");
    }
}

struct governors {
    unsigned int known; /* CPUs with a governor */
    unsigned int changing; /* not "performance" */
    char example[32]; /* the first of those */
};

static int count_governors(const struct doctor_host *h, const cpu_set_t *online,
                           struct governors *g, char path[128])
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char governor[DOCTOR_TEXT_BYTES];
        int error;

        if (!CPU_ISSET(cpu, online))
            continue;
        snprintf(path, 128, CPUS "cpu%d/cpufreq/scaling_governor", cpu);
        error = doctor_read(h, path, governor);
        if (error == -ENOENT)
            continue;
        if (error != 0 || governor[0] == 0)
            return error != 0 ? error : -EBADMSG;
        g->known++;
        if (strcmp(governor, "performance") == 0)
            continue;
        if (g->changing++ == 0)
            snprintf(g->example, sizeof g->example, "%.31s", governor);
    }
    return 0;
}

void doctor_check_governor(const struct doctor_host *h, struct doctor_finding *f)
{
    struct governors g = {0};
    char path[128] = CPUS "online";
    cpu_set_t online;
    int error = doctor_read_cpus(h, path, &online);

    if (error == 0)
        error = count_governors(h, &online, &g, path);
    if (error != 0) {
        doctor_finding_unreadable(f, path, error);
    } else if (g.known == 0) {
        doctor_finding_set(f, DOCTOR_UNKNOWN,
                           "Cycles are the core's own; how many a microsecond has may change.",
                           "no cpufreq here: %s sets the clock",
                           h->facts.is_guest ? "the hypervisor" : "the firmware");
    } else if (g.changing == 0) {
        doctor_finding_set(f, DOCTOR_OK, "The clock does not fall when a CPU idles.",
                           "performance, on all %u CPUs", g.known);
    } else {
        doctor_finding_set(f, DOCTOR_WARNING,
                           "The clock rises during the first milliseconds: the same code takes "
                           "another time, in the same cycles.",
                           "%s, on %u of %u CPUs", g.example, g.changing, g.known);
        doctor_finding_command(f,
                               "echo performance | sudo tee " CPUS "cpu*/cpufreq/scaling_governor");
    }
}

void doctor_check_turbo(const struct doctor_host *h, struct doctor_finding *f)
{
    static const struct {
        const char *path;
        bool off; /* the value that means off */
    } switches[] = {{CPUS "intel_pstate/no_turbo", true}, {CPUS "cpufreq/boost", false}};

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        bool value;
        int error = doctor_read_flag(h, switches[i].path, &value);

        if (error == -ENOENT)
            continue;
        if (error != 0) {
            doctor_finding_unreadable(f, switches[i].path, error);
        } else if (value == switches[i].off) {
            doctor_finding_set(f, DOCTOR_OK, "The clock is the same, however many cores are busy.",
                               "off");
        } else {
            doctor_finding_set(f, DOCTOR_WARNING,
                               "The clock depends on temperature and on what other cores do: times "
                               "differ from run to run, cycles less.",
                               "on");
            doctor_finding_command(f, "echo %d | sudo tee %s", switches[i].off, switches[i].path);
        }
        return;
    }
    doctor_finding_set(f, DOCTOR_UNKNOWN,
                       "The clock may depend on temperature and on what other cores do.",
                       "Linux has no switch for it here");
    if (!h->facts.is_guest)
        doctor_finding_advice(f, "turn it off in the firmware setup");
}
