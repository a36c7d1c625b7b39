/* hr doctor's checks of KVM and of what it gives to a guest. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/doctor/doctor_checks.h"
#include "host/doctor/doctor_finding.h"
#include "host/doctor/doctor_read.h"
#include "host/launch/launch_vpmu.h"

#define FIRST_MAJOR 5 /* Linux with kvm.enable_pmu */
#define FIRST_MINOR 17

/* The KVM module for this CPU's vendor. */
static const char *vendor_module(const struct doctor_host *h)
{
    if (doctor_read_exists(h, "/sys/module/kvm_intel"))
        return "kvm_intel";
    if (doctor_read_exists(h, "/sys/module/kvm_amd"))
        return "kvm_amd";
    return h->facts.cpu.vendor == RUN_CPU_AMD ? "kvm_amd" : "kvm_intel";
}

static char *parameter_path(char path[128], const char *module, const char *parameter)
{
    snprintf(path, 128, "/sys/module/%s/parameters/%s", module, parameter);
    return path;
}

void doctor_check_linux(const struct doctor_host *h, struct doctor_finding *f)
{
    static const char path[] = "/proc/sys/kernel/osrelease";
    char release[DOCTOR_TEXT_BYTES];
    unsigned int major, minor;
    int error = doctor_read(h, path, release);

    if (error == 0 && sscanf(release, "%3u.%3u", &major, &minor) != 2)
        error = -EBADMSG;
    if (error != 0) {
        doctor_finding_unreadable(f, path, error);
    } else if (major < FIRST_MAJOR || (major == FIRST_MAJOR && minor < FIRST_MINOR)) {
        doctor_finding_set(f, DOCTOR_WARNING,
                           "Older than any kernel that Microtome was written for: KVM's switches "
                           "for counters are not where they are looked for.",
                           "%s", release);
        doctor_finding_advice(f, "install Linux 6.1 or later");
    } else {
        doctor_finding_set(f, DOCTOR_OK, "New enough; each newer KVM costs less a sample.", "%s",
                           release);
    }
}

static void explain_absent_kvm(const struct doctor_host *h, struct doctor_finding *f)
{
    doctor_finding_set(f, DOCTOR_PROBLEM, NULL, "no /dev/kvm%s",
                       h->facts.can_virtualise ? "" : ", and the CPU shows neither VT-x nor AMD-V");
    if (h->facts.can_virtualise)
        doctor_finding_command(f, "sudo modprobe %s", vendor_module(h));
    else if (h->facts.is_guest)
        doctor_finding_advice(f,
                              "turn on nested virtualisation where this virtual machine is set up");
    else
        doctor_finding_advice(f, "turn on %s in the firmware setup",
                              h->facts.cpu.vendor == RUN_CPU_AMD ? "SVM mode (AMD-V)"
                                                                 : "virtualisation (VT-x, VMX)");
}

void doctor_check_kvm(const struct doctor_host *h, struct doctor_finding *f)
{
    doctor_finding_effect(f, "Runs are emulated: exact counts of instructions, but no real time.");
    switch (h->facts.kvm.state) {
    case LAUNCH_ACCEL_ABSENT:
        explain_absent_kvm(h, f);
        break;
    case LAUNCH_ACCEL_FORBIDDEN:
        doctor_finding_set(f, DOCTOR_PROBLEM, NULL, "no permission for /dev/kvm");
        doctor_finding_command(f, "sudo usermod -aG kvm \"$USER\" && newgrp kvm");
        break;
    case LAUNCH_ACCEL_BROKEN:
        doctor_finding_set(f, DOCTOR_PROBLEM, NULL, "/dev/kvm refuses to run a virtual machine");
        doctor_finding_command(f, "sudo dmesg | grep -iE 'kvm|vmx|svm'  # says why; another "
                                  "hypervisor may be using the CPU");
        break;
    case LAUNCH_ACCEL_FAST:
    case LAUNCH_ACCEL_SLOW:
        doctor_finding_set(f, DOCTOR_OK, "Guests can be started.", "usable");
        break;
    }
}

/* Two digits suffice. */
static uint64_t round_ratio(double ratio)
{
    uint64_t unit = 1;

    while (ratio / (double)unit >= 100)
        unit *= 10;
    return (uint64_t)(ratio / (double)unit + 0.5) * unit;
}

static void explain_slow_kvm(const struct doctor_host *h, struct doctor_finding *f)
{
    const struct launch_accel_speed *kvm = &h->facts.kvm;
    char each[TEXT_QUANTITY_BYTES];
    char own[TEXT_QUANTITY_BYTES];
    char times[TEXT_QUANTITY_BYTES];

    if (kvm->kvm_ns > 0 && kvm->own_ns > 0)
        doctor_finding_set(f, DOCTOR_PROBLEM, NULL, "%s an instruction, %s times this CPU's own %s",
                           text_time(each, kvm->kvm_ns),
                           text_count(times, round_ratio(kvm->kvm_ns / kvm->own_ns)),
                           text_time(own, kvm->own_ns));
    else
        doctor_finding_set(f, DOCTOR_PROBLEM,
                           "KVM emulates each instruction here, slower than QEMU's own emulator, "
                           "which hr run takes instead.",
                           "too slow to measure");
    doctor_finding_advice(
        f, h->facts.is_guest
               ? "use the physical machine, or a virtual one whose CPU has VT-x or AMD-V"
               : "look at 'sudo dmesg | grep -i kvm'");
}

void doctor_check_kvm_speed(const struct doctor_host *h, struct doctor_finding *f)
{
    const struct launch_accel_speed *kvm = &h->facts.kvm;
    char each[TEXT_QUANTITY_BYTES];
    char own[TEXT_QUANTITY_BYTES];

    if (kvm->state == LAUNCH_ACCEL_SLOW) {
        explain_slow_kvm(h, f);
    } else if (kvm->state == LAUNCH_ACCEL_FAST) {
        doctor_finding_set(f, DOCTOR_OK, "Programs run at this CPU's speed.",
                           "%s an instruction; this CPU's own: %s", text_time(each, kvm->kvm_ns),
                           text_time(own, kvm->own_ns));
    } else {
        doctor_finding_set(f, DOCTOR_UNKNOWN, NULL, "not measured: KVM is not usable");
    }
}

/* QEMU passes the CPUID leaf that announces PerfMonV2 (80000022H) since 9.2.  A QEMU without a
 * version is reported separately. */
static bool qemu_passes_perfmon_v2(const struct doctor_host *h)
{
    unsigned int major, minor;

    return sscanf(h->facts.qemu_version, "QEMU emulator version %3u.%3u", &major, &minor) != 2 ||
           major > 9 || (major == 9 && minor >= 2);
}

/* Both KVM and QEMU must pass it to a guest. */
static void check_perfmon_v2(const struct doctor_host *h, struct doctor_finding *f)
{
    bool by_kvm = h->facts.kvm_counters.version > 1;
    bool by_qemu = qemu_passes_perfmon_v2(h);

    if (by_kvm && by_qemu)
        return;
    f->state = DOCTOR_WARNING;
    doctor_finding_effect(f,
                          "This CPU's PerfMonV2 does not reach a guest, %s%s%s not pass it on: "
                          "counters start and stop one after the other.",
                          by_kvm ? "" : "KVM", by_kvm || by_qemu ? "" : " and ",
                          by_qemu  ? " does"
                          : by_kvm ? "QEMU does"
                                   : "QEMU do");
    doctor_finding_advice(f, "install %s%s%s", by_kvm ? "" : "Linux 6.5 or later",
                          by_kvm || by_qemu ? "" : " and ", by_qemu ? "" : "QEMU 9.2 or later");
}

/* KVM turns its switch off there (Linux: arch/x86/kvm/pmu.h, kvm_init_pmu_capability). */
static void report_hybrid(struct doctor_finding *f, const char *found)
{
    doctor_finding_set(f, DOCTOR_PROBLEM,
                       "KVM gives guests no counters where cores are of several kinds, whatever "
                       "its module is loaded with.",
                       "%s, the processor is a hybrid", found);
    doctor_finding_advice(f, "boot the program on the bare machine, from a stick (hr usb), or use "
                             "a machine with cores of one kind");
}

void doctor_check_vpmu(const struct doctor_host *h, struct doctor_finding *f)
{
    const struct cpu_counters *offered = &h->facts.kvm_counters;
    char described[CPU_COUNTERS_TEXT_BYTES];

    if (h->facts.kvm_error != 0) {
        doctor_finding_set(f, DOCTOR_UNKNOWN, NULL, "KVM cannot be asked: %s",
                           strerror(-h->facts.kvm_error));
        return;
    }
    if (offered->version == 0 && h->facts.counters.hybrid) {
        report_hybrid(f, "none");
        return;
    }
    if (offered->version == 0) {
        doctor_finding_set(
            f, DOCTOR_PROBLEM,
            "A guest under KVM counts nothing: events are stubs, --require-pmu refuses.", "none");
        if (h->facts.counters.version == 0)
            doctor_finding_advice(f, "KVM can pass on only what this CPU shows: see CPU counters");
        else
            doctor_finding_advice(f, "see KVM enable_pmu");
        return;
    }
    doctor_finding_set(f, DOCTOR_OK, "A guest reads real counters.", "%s",
                       cpu_counters_describe(offered, described));
    if (offered->vendor == RUN_CPU_AMD && h->facts.counters.version > 1)
        check_perfmon_v2(h, f);
}

static void report_switched_off(const struct doctor_host *h, struct doctor_finding *f,
                                const char *module, const char *parameter)
{
    char found[64];

    snprintf(found, sizeof found, "off (%s.%s)", module, parameter);
    if (h->facts.counters.hybrid) {
        report_hybrid(f, found);
        return;
    }
    doctor_finding_set(f, DOCTOR_PROBLEM, "KVM hides the counters from every guest.", "%s", found);
    doctor_finding_module_parameter(h, f, module, vendor_module(h), parameter);
    if (h->facts.counters.version == 0) { /* then this switch is not the cause */
        f->state = DOCTOR_WARNING;
        doctor_finding_advice(
            f, "KVM turns it off itself where the CPU shows no counters: see CPU counters");
    }
}

void doctor_check_enable_pmu(const struct doctor_host *h, struct doctor_finding *f)
{
    char path[128];

    doctor_finding_set(f, DOCTOR_UNKNOWN, NULL, "KVM is not loaded, or has no such switch");
    for (const struct launch_vpmu_switch *s = launch_vpmu_switches; s->module != NULL; s++) {
        bool on;
        int error = doctor_read_flag(h, parameter_path(path, s->module, s->parameter), &on);

        if (error == -ENOENT)
            continue;
        if (error != 0) {
            doctor_finding_unreadable(f, path, error);
            return;
        }
        if (on) {
            doctor_finding_set(f, DOCTOR_OK, "KVM passes counters on.", "on (%s.%s)", s->module,
                               s->parameter);
            continue;
        }
        report_switched_off(h, f, s->module, s->parameter);
        return;
    }
}

/* Intel needs version 4, for setting status bits, AMD PerfMonV2 (Linux: kernel-parameters.txt,
 * kvm-{amd,intel}.enable_mediated_pmu). */
static bool can_mediate(const struct cpu_counters *counters)
{
    return counters->version >= (counters->vendor == RUN_CPU_AMD ? 2 : 4);
}

/* Linux: arch/x86/kvm/pmu.c, kvm_need_rdpmc_intercept.  KVM shows three fixed counters at most. */
static void report_mediated(const struct doctor_host *h, struct doctor_finding *f)
{
    const struct cpu_counters *own = &h->facts.counters;
    const struct cpu_counters *offered = &h->facts.kvm_counters;

    doctor_finding_set(f, DOCTOR_OK, "Guests read their counters without leaving to KVM.", "on");
    if (h->facts.kvm_error != 0 || offered->version == 0 ||
        (offered->general == own->general && offered->fixed == own->fixed &&
         offered->general_bits == own->general_bits))
        return;
    doctor_finding_set(f, DOCTOR_WARNING,
                       "KVM passes RDPMC on only where guest and CPU have as many counters, of the "
                       "same width: here each RDPMC leaves the guest, for a microsecond or so.  "
                       "Reading a counter by RDMSR does not.",
                       "on, but guests have %u general and %u fixed counters and the CPU %u and %u",
                       offered->general, offered->fixed, own->general, own->fixed);
    doctor_finding_advice(f, "take intervals that bear it; a newer KVM may show all counters");
}

void doctor_check_mediated_pmu(const struct doctor_host *h, struct doctor_finding *f)
{
    const char *module = vendor_module(h);
    char path[128];
    bool on;
    int error = doctor_read_flag(h, parameter_path(path, module, "enable_mediated_pmu"), &on);

    if (error != 0 && error != -ENOENT) {
        doctor_finding_unreadable(f, path, error);
        return;
    }
    if (error == 0 && on) {
        report_mediated(h, f);
        return;
    }
    doctor_finding_set(f, DOCTOR_WARNING,
                       "Each access to a counter leaves the guest, for a microsecond or so: "
                       "samples cost more, short intervals bend.",
                       error == 0 ? "off" : "this KVM has none");
    if (!can_mediate(&h->facts.counters))
        doctor_finding_advice(f, "use a newer CPU: Intel Sapphire Rapids, AMD Zen 4, or later");
    else if (error == 0)
        doctor_finding_module_parameter(h, f, module, module, "enable_mediated_pmu");
    else
        doctor_finding_advice(f, "install a Linux later than 6.19");
}

void doctor_check_apic(const struct doctor_host *h, struct doctor_finding *f)
{
    const char *module = vendor_module(h);
    const char *parameter = strcmp(module, "kvm_amd") == 0 ? "avic" : "enable_apicv";
    char path[128];
    bool apic = false;
    bool interrupts = false;
    int error = doctor_read_flag(h, parameter_path(path, module, parameter), &apic);

    if (error == -ENOENT) {
        doctor_finding_set(f, DOCTOR_UNKNOWN, NULL, "%s is not loaded", module);
        return;
    }
    if (error == 0 && apic) {
        error = doctor_read_flag(h, parameter_path(path, module, "enable_ipiv"), &interrupts);
        /* AVIC supported it before this switch existed. */
        if (error == -ENOENT) {
            interrupts = strcmp(module, "kvm_amd") == 0;
            error = 0;
        }
    }
    if (error != 0) {
        doctor_finding_unreadable(f, path, error);
    } else if (apic && interrupts) {
        doctor_finding_set(f, DOCTOR_OK,
                           "Sampling interrupts reach the guest without leaving to KVM.",
                           "on, interrupts between CPUs too");
    } else {
        doctor_finding_set(f, DOCTOR_WARNING, NULL,
                           apic ? "on, but not for interrupts between CPUs" : "off");
        doctor_finding_effect(f, "%s leaves the guest: samples come later and cost more.",
                              apic ? "Each interrupt of --mode ipi" : "Each sampling interrupt");
        doctor_finding_module_parameter(h, f, module, module, apic ? "enable_ipiv" : parameter);
    }
}

static bool is_vulnerability(const char *text)
{
    static const char *const starts[] = {"Not affected", "Mitigation: ", "Vulnerable"};

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* In Linux's text, "VMX: " precedes the state for entering guests (Linux:
 * arch/x86/kernel/cpu/bugs.c). */
void doctor_check_l1tf(const struct doctor_host *h, struct doctor_finding *f)
{
    static const char path[] = "/sys/devices/system/cpu/vulnerabilities/l1tf";
    char text[DOCTOR_TEXT_BYTES];
    bool always, sometimes;
    int error = doctor_read(h, path, text);

    if (error == 0 && !is_vulnerability(text))
        error = -EBADMSG;
    if (error != 0) {
        doctor_finding_unreadable(f, path, error);
        return;
    }
    always = strstr(text, "VMX: cache flushes") != NULL;
    sometimes = strstr(text, "VMX: conditional cache flushes") != NULL;
    if (!always && !sometimes) {
        doctor_finding_set(
            f, DOCTOR_OK,
            "The program's data stays in the first-level cache when a sample leaves the guest.",
            "no flush");
        return;
    }
    doctor_finding_set(f, DOCTOR_WARNING, NULL, "flushed at %s entry into a guest",
                       always ? "every" : "some kinds of");
    doctor_finding_effect(
        f,
        "KVM empties the first-level data cache %s: after such a sample the program's loads miss, "
        "and events of caches, stalls and cycles count that.",
        always ? "after each exit, of which a sample has several"
               : "after exits by the host's interrupts, to QEMU and to KVM's emulator");
    doctor_finding_command(
        f, "echo never | sudo tee /sys/module/kvm_intel/parameters/vmentry_l1d_flush  # if you "
           "trust what all guests run");
}
