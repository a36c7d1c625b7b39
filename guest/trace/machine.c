/* What happened to the workload CPUs: readings before the program and after it. */
#include "guest/trace/machine.h"

#include "drivers/processor/monitor.h"
#include "drivers/processor/processor.h"
#include "guest/base/run.h"

#define SPIN_NS 1000000u

static struct machine_cpu {
    struct hr_rec_machine_cpu record; /* its flags come at the end: a run may be refused */
    struct monitor_reading start;
    uint32_t flags;
} machine_cpus[CPUS_MAX];

static struct machine_cpu *machine_of(const struct cpu *cpu)
{
    return &machine_cpus[cpu->index];
}

/* In virtual time a frequency has no meaning, and registers are an emulator's. */
static uint32_t spin_ticks(void)
{
    uint64_t ticks = run.clock.virtual_time ? 0 : run_ns_to_ticks(SPIN_NS);

    return ticks < INT32_MAX ? (uint32_t)ticks : INT32_MAX;
}

void machine_prepare(const struct cpu *cpu)
{
    struct machine_cpu *machine = machine_of(cpu);
    struct hr_rec_machine_cpu *record = &machine->record;
    struct monitor_frequency before;

    machine->flags = monitor_probe();
    *record = (struct hr_rec_machine_cpu){
        .apic_id = cpu->apic_id,
        .microcode = processor_microcode(),
        .cpu = (uint16_t)cpu->index,
        .core_kind = processor_core_kind(),
    };
    before = monitor_spin(machine->flags, spin_ticks());
    record->aperf_before = before.aperf;
    record->mperf_before = before.mperf;
}

void machine_start(const struct cpu *cpu)
{
    struct machine_cpu *machine = machine_of(cpu);

    monitor_read(machine->flags, &machine->start);
    machine->flags |= monitor_clear_logs(machine->flags);
    machine->record.smi_before = machine->start.smi;
    machine->record.thermal_before = machine->start.thermal;
    machine->record.package_before = machine->start.package;
}

void machine_stop(const struct cpu *cpu)
{
    struct machine_cpu *machine = machine_of(cpu);
    struct hr_rec_machine_cpu *record = &machine->record;
    struct monitor_reading end;
    struct monitor_frequency after;

    monitor_read(machine->flags, &end);
    record->flags = machine->flags;
    record->tsc = end.tsc - machine->start.tsc;
    record->aperf = end.aperf - machine->start.aperf;
    record->mperf = end.mperf - machine->start.mperf;
    record->smi_after = end.smi;
    record->thermal_after = end.thermal;
    record->package_after = end.package;
    after = monitor_spin(machine->flags, spin_ticks());
    record->aperf_after = after.aperf;
    record->mperf_after = after.mperf;
}

const struct hr_rec_machine_cpu *machine_record(const struct cpu *cpu)
{
    return &machine_of(cpu)->record;
}
