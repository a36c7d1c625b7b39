/* The table of hr doctor's checks, and the verdict on what they found. */
#include <stdio.h>
#include <string.h>

#include "host/doctor/doctor.h"
#include "host/doctor/doctor_checks.h"
#include "lib/array.h"

static const struct doctor_check checks[] = {
    {.id = "cpu",
     .title = "CPU",
     .essential = true,
     .otherwise = "its vendor is unknown",
     .look = doctor_check_cpu},
    {.id = "bare_metal", .title = "Bare metal", .look = doctor_check_bare_metal},
    {.id = "cpu_counters",
     .title = "CPU counters",
     .essential = true,
     .otherwise = "this CPU shows none",
     .look = doctor_check_counters},
    {.id = "clock", .title = "Clock", .look = doctor_check_clock},
    {.id = "linux", .title = "Linux", .look = doctor_check_linux},
    {.id = "kvm",
     .title = "KVM",
     .essential = true,
     .otherwise = "KVM is not usable",
     .look = doctor_check_kvm},
    {.id = "kvm_speed",
     .title = "KVM speed",
     .essential = true,
     .otherwise = "KVM emulates each instruction",
     .look = doctor_check_kvm_speed},
    {.id = "kvm_counters",
     .title = "KVM counters",
     .essential = true,
     .otherwise = "KVM offers none to a guest",
     .look = doctor_check_vpmu},
    {.id = "enable_pmu",
     .title = "KVM enable_pmu",
     .otherwise = "its switch enable_pmu is off",
     .look = doctor_check_enable_pmu},
    {.id = "mediated_pmu", .title = "Mediated vPMU", .look = doctor_check_mediated_pmu},
    {.id = "apic", .title = "APICv, AVIC", .look = doctor_check_apic},
    {.id = "l1tf", .title = "L1 flush (L1TF)", .look = doctor_check_l1tf},
    {.id = "nmi_watchdog",
     .title = "NMI watchdog",
     .otherwise = "the NMI watchdog keeps guests with a mediated vPMU from starting",
     .look = doctor_check_nmi_watchdog},
    {.id = "isolated_cpus", .title = "Isolated CPUs", .look = doctor_check_isolated},
    {.id = "smt", .title = "SMT siblings", .look = doctor_check_smt},
    {.id = "governor", .title = "Governor", .look = doctor_check_governor},
    {.id = "turbo", .title = "Turbo", .look = doctor_check_turbo},
    {.id = "hugepages", .title = "Huge pages", .look = doctor_check_hugepages},
    {.id = "memory_lock", .title = "Memory lock", .look = doctor_check_memory_lock},
    {.id = "priority", .title = "Real-time", .look = doctor_check_priority},
    {.id = "qemu",
     .title = "QEMU",
     .essential = true,
     .needed_always = true,
     .otherwise = "QEMU is missing or broken",
     .look = doctor_check_qemu},
    {.id = "guest_kernel",
     .title = "Guest kernel",
     .essential = true,
     .needed_always = true,
     .otherwise = "the guest's kernel is missing",
     .look = doctor_check_kernel},
    {.id = "libvirt", .title = "libvirt", .look = doctor_check_libvirt},
};

_Static_assert(ARRAY_COUNT(checks) <= DOCTOR_CHECKS_MAX, "doctor_report.findings");

const char *doctor_state_name(enum doctor_state state)
{
    static const char *const names[] = {[DOCTOR_OK] = "ok",
                                        [DOCTOR_WARNING] = "warning",
                                        [DOCTOR_PROBLEM] = "problem",
                                        [DOCTOR_UNKNOWN] = "unknown"};

    return names[state];
}

static size_t count_state(const struct doctor_report *r, enum doctor_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < r->count; i++)
        count += r->findings[i].state == state;
    return count;
}

/* Finds the checks that explain the verdict: programs without which nothing runs; else problems;
 * else essential facts that are unknown. */
static size_t blame(const struct doctor_report *r, const struct doctor_check **blamed,
                    enum doctor_state *state, bool *nothing_runs)
{
    size_t count = 0;

    *state = count_state(r, DOCTOR_PROBLEM) != 0 ? DOCTOR_PROBLEM : DOCTOR_UNKNOWN;
    *nothing_runs = false;
    for (size_t i = 0; i < r->count; i++)
        *nothing_runs |= r->checks[i].needed_always && r->findings[i].state == DOCTOR_PROBLEM;
    for (size_t i = 0; i < r->count; i++) {
        const struct doctor_check *c = &r->checks[i];

        if (r->findings[i].state == *state && (*state == DOCTOR_PROBLEM || c->essential) &&
            (!*nothing_runs || c->needed_always))
            blamed[count++] = c;
    }
    return count;
}

/* Lists these checks as part of a sentence. */
static bool reasons(const struct doctor_report *r, char *out, size_t room)
{
    const struct doctor_check *blamed[DOCTOR_CHECKS_MAX];
    enum doctor_state state;
    bool nothing_runs;
    size_t count = blame(r, blamed, &state, &nothing_runs);
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " and "
                                                  : ", ",
                                 state == DOCTOR_PROBLEM ? blamed[i]->otherwise : blamed[i]->title,
                                 state == DOCTOR_PROBLEM ? "" : " is unknown");
    return nothing_runs;
}

static enum doctor_state state_of(const struct doctor_report *r, const char *id)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->checks[i].id, id) == 0)
            return r->findings[i].state;
    return DOCTOR_UNKNOWN;
}

/* The watchdog is a problem only if it keeps guests from starting. */
static bool is_fast(const struct doctor_report *r)
{
    return state_of(r, "kvm_speed") == DOCTOR_OK && state_of(r, "nmi_watchdog") != DOCTOR_PROBLEM;
}

static void judge(struct doctor_report *r)
{
    size_t warnings = count_state(r, DOCTOR_WARNING);
    char why[DOCTOR_VERDICT_BYTES / 2];
    bool nothing_runs;

    r->faithful = count_state(r, DOCTOR_PROBLEM) == 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->checks[i].essential && r->findings[i].state == DOCTOR_UNKNOWN)
            r->faithful = false;
    nothing_runs = reasons(r, why, sizeof why);
    if (r->faithful && warnings == 0)
        snprintf(r->verdict, sizeof r->verdict,
                 "Faithful runs are possible here: hardware counters, at this CPU's speed, and "
                 "nothing that disturbs them was found.");
    else if (r->faithful)
        snprintf(r->verdict, sizeof r->verdict,
                 "Faithful runs are possible here: hardware counters, at this CPU's speed.  The %s "
                 "above will disturb them.",
                 warnings == 1 ? "warning" : "warnings");
    else if (nothing_runs)
        snprintf(r->verdict, sizeof r->verdict, "No run is possible here: %s.", why);
    else
        snprintf(r->verdict, sizeof r->verdict,
                 "Emulated runs are exact here: they count instructions, the same on every run.%s  "
                 "Hardware counters are not available: %s.",
                 is_fast(r) ? "  With --accel kvm programs run at this CPU's speed." : "", why);
}

void doctor_examine(const struct doctor_host *host, struct doctor_report *report)
{
    *report = (struct doctor_report){.count = ARRAY_COUNT(checks), .checks = checks};
    for (size_t i = 0; i < ARRAY_COUNT(checks); i++)
        checks[i].look(host, &report->findings[i]);
    judge(report);
}
