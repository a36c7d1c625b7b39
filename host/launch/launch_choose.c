/* Chooses the machine for a run: accelerator, CPUs, clock, memory, host CPUs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/events/events.h"
#include "host/launch/launch.h"
#include "host/launch/launch_accel.h"
#include "host/launch/launch_numa.h"
#include "host/launch/launch_vpmu.h"
#include "lib/boot/modes.h"

/* The emulator counts nothing, unless another one or a CPU with a PMU was asked for: then the guest
 * finds out. */
static bool emulator_may_have_pmu(const struct options *o)
{
    return o->qemu != NULL ||
           (o->cpu != NULL && (strstr(o->cpu, "pmu=on") != NULL || strstr(o->cpu, "+pmu") != NULL));
}

/* Refuses, before anything is started, events that certainly cannot be counted. */
static int check_counters(const struct options *o, const struct launch_machine *machine,
                          const struct launch_vpmu *vpmu, struct run_failure *failure)
{
    const char *what = machine->kvm ? "KVM without a vPMU" : "the emulator";

    if (o->packing || (machine->kvm ? vpmu->present : emulator_may_have_pmu(o)))
        return 0;
    if (o->require_pmu)
        return vpmu->why[0] != 0
                   ? run_fail(failure, "--require-pmu: %s; or leave the option out", vpmu->why)
                   : run_fail(failure, "--require-pmu: the emulator has no PMU; leave the option "
                                       "out, or run where KVM offers one");
    if (o->mode == HR_MODE_OVERFLOW || o->mode == HR_MODE_PEBS)
        return run_fail(failure,
                        "--mode %s needs counters that interrupt, and %s has none; use "
                        "--mode timer, or run where KVM offers a PMU",
                        modes_name(o->mode), what);
    for (size_t i = 0; i < o->events.count; i++)
        if (!events_is_generic(o->events.names[i]) && !events_is_register(o->events.names[i]))
            return run_fail(
                failure,
                "event '%s': %s has no performance counters, only generic events of the program "
                "(such as instructions:u) exist there; run where KVM offers a PMU",
                o->events.names[i], what);
    return 0;
}

static int choose_kvm(const struct options *o, struct launch_machine *machine,
                      struct launch_vpmu *vpmu, struct run_failure *failure)
{
    snprintf(machine->why, sizeof machine->why, "as asked");
    machine->kvm = true;
    if (o->packing) /* perhaps for another machine */
        return 0;
    if (o->libvirt && access("/dev/kvm", F_OK) == 0 && access("/dev/kvm", R_OK | W_OK) != 0) {
        vpmu->present = true; /* perhaps: the guest finds out */
        launch_note(&machine->notes, "only libvirt may use /dev/kvm; not asked for a vPMU");
        return 0;
    }
    if (access("/dev/kvm", R_OK | W_OK) != 0)
        return run_fail(failure, "--accel kvm: /dev/kvm: %s; %s, or use --accel tcg",
                        strerror(errno),
                        errno == EACCES ? "join the group kvm" : "load the kvm module");
    launch_vpmu_find(vpmu);
    if (vpmu->present)
        launch_note(&machine->notes, "%s", vpmu->why);
    else
        launch_warn(&machine->notes, "%s; the counters of this run are made up (stub)", vpmu->why);
    return 0;
}

/* Without a vPMU emulation counts better than KVM: instructions exactly instead of nothing. */
void launch_choose_accelerator(const struct options *o, const char *why_fast,
                               const struct launch_vpmu *vpmu, struct launch_machine *machine)
{
    machine->kvm = vpmu->present;
    if (vpmu->present)
        snprintf(machine->why, sizeof machine->why, "%s, and %s", why_fast, vpmu->why);
    else
        snprintf(machine->why, sizeof machine->why, "%s", vpmu->why);
    if (!vpmu->present && !o->packing && !emulator_may_have_pmu(o))
        launch_warn(&machine->notes,
                    "emulation, with exact instruction counts, because %s; --accel kvm runs in "
                    "real time without counters",
                    vpmu->why);
}

static void choose_best(const struct options *o, struct launch_machine *machine,
                        struct launch_vpmu *vpmu)
{
    const char *why;

    if (launch_accel_kvm_is_fast(&why)) {
        launch_vpmu_find(vpmu);
        launch_choose_accelerator(o, why, vpmu, machine);
    } else {
        snprintf(machine->why, sizeof machine->why, "%s", why);
    }
}

int launch_cpu_count(const struct launch_machine *machine, enum hr_mode mode)
{
    return 1 + machine->cpus + (mode == HR_MODE_IPI);
}

bool launch_is_placed(const struct launch_machine *machine)
{
    return machine->pin.count != 0 || machine->fifo;
}

/* Uses the host CPUs asked for; under KVM, by default, the isolated ones if there are enough. */
static int choose_host_cpus(const struct options *o, struct launch_machine *machine,
                            struct run_failure *failure)
{
    static struct cpu_list list;
    struct launch_pin_host host;
    struct run_failure unasked = {0};
    char text[64];
    cpu_set_t used;

    if (o->pin != NULL) {
        if (launch_pin_parse(o->pin, &list, failure) != 0 ||
            launch_pin_read_host("", &host, failure) != 0)
            return -1;
        launch_pin_probe(&list, &host);
        return launch_pin_plan(&list, machine->guest_cpus, &host, &machine->pin, &machine->notes,
                               failure);
    }
    if (!machine->kvm || launch_pin_read_host("", &host, &unasked) != 0)
        return 0;
    launch_pin_isolated(&host, &list);
    launch_pin_probe(&list, &host);
    launch_pin_isolated(&host, &list);
    if (list.count < (size_t)machine->guest_cpus)
        return 0;
    list.count = (size_t)machine->guest_cpus; /* the emulator may not use the other isolated CPUs */
    if (launch_pin_plan(&list, machine->guest_cpus, &host, &machine->pin, &machine->notes,
                        &unasked) != 0)
        return 0;
    CPU_ZERO(&used);
    for (int i = 0; i < machine->pin.count; i++)
        CPU_SET(machine->pin.cpus[i], &used);
    launch_note(&machine->notes, "pinned to the isolated CPUs %s",
                cpu_list_format(&used, text, sizeof text));
    return 0;
}

/* An archive for named CPUs is for unknown machines: bare ones, or guests.  The kernel finds out
 * what they have, including virtual time. */
static bool is_for_any(const struct options *o)
{
    return o->packing && o->target_cpu != NULL && o->accel == OPTIONS_ACCEL_AUTO;
}

/* The plugin needs an emulator that is our child, with one CPU. */
static int check_exact(const struct options *o, struct run_failure *failure)
{
    if (o->mode != HR_MODE_EXACT)
        return 0;
    if (o->packing && o->target_cpu != NULL)
        return run_fail(failure, "--mode exact: a bare machine cannot count so, but the emulator "
                                 "that hr run starts; use another mode, or hr pack without "
                                 "--target-cpu");
    if (o->accel == OPTIONS_ACCEL_KVM)
        return run_fail(failure, "--accel kvm: --mode exact is counted by the emulator, and KVM "
                                 "executes without it; leave one of the two out");
    if (o->libvirt)
        return run_fail(failure, "--libvirt: --mode exact needs an emulator that hr starts itself; "
                                 "leave one of the two out");
    if (o->cpus > 0)
        return run_fail(
            failure,
            "--cpus %d: --mode exact counts on one CPU that does everything; leave --cpus out",
            o->cpus);
    return 0;
}

int launch_choose(const struct options *o, struct launch_machine *machine,
                  struct run_failure *failure)
{
    struct launch_vpmu vpmu = {.present = false};

    *machine = (struct launch_machine){.fifo = o->fifo};
    if (check_exact(o, failure) != 0)
        return -1;
    if (is_for_any(o))
        machine->kvm = true;
    else if (o->mode == HR_MODE_EXACT)
        snprintf(machine->why, sizeof machine->why, "--mode exact is counted by the emulator");
    else if (o->accel == OPTIONS_ACCEL_AUTO)
        choose_best(o, machine, &vpmu);
    else if (o->accel == OPTIONS_ACCEL_TCG)
        snprintf(machine->why, sizeof machine->why, "as asked");
    else if (choose_kvm(o, machine, &vpmu, failure) != 0)
        return -1;
    machine->cpus = o->cpus != OPTIONS_CPUS_AUTO ? o->cpus : machine->kvm || o->mode == HR_MODE_IPI;
    if (o->mode == HR_MODE_IPI && machine->cpus == 0)
        return run_fail(failure, "--cpus 0: --mode ipi needs a CPU that interrupts another one; "
                                 "give --cpus 1 or more, or use --mode timer");
    machine->guest_cpus = launch_cpu_count(machine, o->mode);
    machine->virtual_time = is_for_any(o) || (!machine->kvm && machine->cpus == 0);
    if (check_counters(o, machine, &vpmu, failure) != 0)
        return -1;
    if (o->packing)
        return 0;
    if (machine->kvm)
        launch_memory_choose("", o->memory_bytes, launch_memory_lock_limit(o->libvirt),
                             &machine->memory, &machine->notes);
    if (o->fifo && !o->libvirt && launch_pin_try_fifo(failure) != 0)
        return -1;
    if (choose_host_cpus(o, machine, failure) != 0)
        return -1;
    if (machine->kvm)
        launch_numa_choose("", &machine->pin, o->memory_bytes, &machine->memory, &machine->notes);
    return 0;
}
