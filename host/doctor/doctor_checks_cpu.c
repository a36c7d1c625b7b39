/* hr doctor's checks of the processor. */
#include <errno.h>
#include <string.h>

#include "host/doctor/doctor_checks.h"
#include "host/doctor/doctor_finding.h"
#include "host/doctor/doctor_read.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

void doctor_check_cpu(const struct doctor_host *h, struct doctor_finding *f)
{
    const char *brand = h->facts.brand + strspn(h->facts.brand, " ");
    int bytes = (int)strlen(brand);
    char described[EVENTS_CPU_TEXT_BYTES];

    events_cpu_describe(&h->facts.cpu, described);
    while (bytes > 0 && brand[bytes - 1] == ' ')
        bytes--;
    if (bytes > 0)
        doctor_finding_set(f, DOCTOR_OK, NULL, "%.*s, %s", bytes, brand, described);
    else
        doctor_finding_set(f, DOCTOR_OK, NULL, "%s", described);
    if (h->facts.cpu.vendor != RUN_CPU_OTHER) {
        doctor_finding_effect(f, "Microtome knows this vendor's counters.");
        return;
    }
    f->state = DOCTOR_PROBLEM;
    doctor_finding_effect(
        f, "Microtome knows the counters of Intel and AMD only: runs get stubs here.");
    doctor_finding_advice(f, "use a machine with an Intel or AMD CPU");
}

static const char *hypervisor_name(const char *signature)
{
    static const struct {
        const char *signature;
        const char *name;
    } known[] = {
        {"KVMKVMKVM", "KVM"},
        {"Microsoft Hv", "Hyper-V"},
        {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"},
        {"TCGTCGTCGTCG", "QEMU's emulator"},
        {"VBoxVBoxVBox", "VirtualBox"},
        {"bhyve bhyve ", "bhyve"},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].signature, signature) == 0)
            return known[i].name;
    return "an unknown hypervisor";
}

void doctor_check_bare_metal(const struct doctor_host *h, struct doctor_finding *f)
{
    if (!h->facts.is_guest) {
        doctor_finding_set(f, DOCTOR_OK,
                           "Linux alone decides who uses the CPUs and their counters.",
                           "yes, no hypervisor below");
        return;
    }
    doctor_finding_set(
        f, DOCTOR_WARNING,
        "What is below may stop a CPU at any time, unseen, and decides which counters there are.",
        "no, a virtual machine of %s", hypervisor_name(h->facts.hypervisor));
    doctor_finding_advice(f, "use the physical machine");
}

static void advise_counters(const struct doctor_host *h, struct doctor_finding *f)
{
    if (!h->facts.is_guest)
        doctor_finding_advice(
            f, "look in the firmware setup for a switch of the performance counters");
    else if (strcmp(h->facts.hypervisor, "KVMKVMKVM") == 0)
        doctor_finding_advice(
            f, "ask for them where this virtual machine is started: QEMU -cpu host,pmu=on, libvirt "
               "<pmu state='on'/>, in a cloud a bare-metal instance");
    else
        doctor_finding_advice(
            f, "ask for them where this virtual machine is set up: VMware vpmc.enable, Hyper-V "
               "Set-VMProcessor -Perfmon, in a cloud a bare-metal instance");
}

void doctor_check_counters(const struct doctor_host *h, struct doctor_finding *f)
{
    const struct cpu_counters *counters = &h->facts.counters;
    char described[CPU_COUNTERS_TEXT_BYTES];

    cpu_counters_describe(counters, described);
    if (counters->version == 0) {
        doctor_finding_set(
            f, DOCTOR_PROBLEM,
            "Nothing can be counted: emulated runs count instructions, all other events are stubs.",
            "none%s", h->facts.is_guest ? " that the hypervisor shows" : "");
        advise_counters(h, f);
        return;
    }
    doctor_finding_set(f, DOCTOR_OK, NULL, "%s", described);
    if (counters->version == 1)
        doctor_finding_effect(f, "No switch for all counters at once: they start and stop one "
                                 "after the other, so events differ by some instructions.");
    else
        doctor_finding_effect(
            f, "So many events can be counted at once; Microtome never multiplexes.");
}

void doctor_check_clock(const struct doctor_host *h, struct doctor_finding *f)
{
    char current[DOCTOR_TEXT_BYTES];
    char available[DOCTOR_TEXT_BYTES];
    int error = doctor_read(h, CLOCKSOURCE "current_clocksource", current);

    if (error != 0 || current[0] == 0) {
        doctor_finding_unreadable(f, CLOCKSOURCE "current_clocksource",
                                  error != 0 ? error : -EBADMSG);
        return;
    }
    if (strcmp(current, "tsc") == 0 && h->facts.invariant_tsc) {
        doctor_finding_set(f, DOCTOR_OK, "Timestamps tick evenly and agree between CPUs.",
                           "tsc, invariant");
        return;
    }
    doctor_finding_set(f, DOCTOR_WARNING,
                       "Timestamps are the TSC's: it may change its rate, or differ between CPUs.",
                       "%s, %s", current,
                       h->facts.invariant_tsc ? "although the TSC is invariant"
                                              : "and the TSC is not invariant");
    if (strcmp(current, "tsc") != 0 &&
        doctor_read(h, CLOCKSOURCE "available_clocksource", available) == 0 &&
        strstr(available, "tsc") != NULL)
        doctor_finding_command(f, "echo tsc | sudo tee " CLOCKSOURCE "current_clocksource");
    else if (strcmp(current, "tsc") != 0)
        doctor_finding_command(f, "sudo dmesg | grep -iE 'tsc|clocksource'  # says why");
    else
        doctor_finding_advice(f, h->facts.is_guest ? "let the hypervisor show the invariant TSC "
                                                     "(QEMU: -cpu host,migratable=off,+invtsc)"
                                                   : "use a newer CPU");
}
