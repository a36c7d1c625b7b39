/* Prints a machine as JSON; the keys are a stable interface. */
#include "host/base/json.h"
#include "host/machine/machine_cpus.h"
#include "host/machine/machine_facts.h"
#include "host/machine/machine_print.h"

static json_t *hertz(double hz)
{
    return hz > 0 ? json_real(hz) : json_null();
}

static json_t *frequency(const struct machine_cpu *cpu)
{
    if ((cpu->record->flags & HR_MACHINE_APERF) == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:f, s:o}", "before", hertz(cpu->before_hz), "mean",
                     hertz(cpu->mean_hz), "after", hertz(cpu->after_hz), "moved", cpu->moved,
                     "of_base", hertz(cpu->of_base));
}

static json_t *thermal(const struct machine_cpu *cpu)
{
    char words[MACHINE_EVENTS_BYTES];

    if (!cpu->has_thermal)
        return json_null();
    return json_pack("{s:b, s:s, s:o}", "throttled", cpu->events != 0, "why",
                     machine_events(cpu->events, words), "margin",
                     cpu->margin >= 0 ? json_integer(cpu->margin) : json_null());
}

static json_t *cpus(const struct trace_info *info)
{
    json_t *list = json_array();

    for (size_t i = 0; i < info->machine_count; i++) {
        const struct machine_cpu cpu = machine_cpu(info, &info->machines[i]);
        const struct hr_rec_machine_cpu *r = cpu.record;

        json_array_append_new(
            list, json_pack("{s:i, s:o, s:i, s:o, s:o, s:o, s:o}", "cpu", (int)r->cpu, "apic_id",
                            json_number(r->apic_id), "core_kind", (int)r->core_kind, "microcode",
                            json_number(r->microcode), "frequency_hz", frequency(&cpu), "smis",
                            cpu.has_smis ? json_number(cpu.smis) : json_null(), "thermal",
                            thermal(&cpu)));
    }
    return list;
}

static json_t *facts(const struct machine *machine)
{
    json_t *object = json_object();

    for (size_t i = 0; i < machine->fact_count; i++)
        json_object_set_new(object, machine->facts[i].key, json_text(machine->facts[i].value));
    return object;
}

static json_t *warnings(const struct machine *machine)
{
    json_t *list = json_array();

    for (size_t i = 0; i < machine->warning_count; i++)
        json_array_append_new(list, json_text(machine->warnings[i]));
    return list;
}

json_t *machine_json(const struct trace_info *info)
{
    struct machine machine;
    json_t *object = NULL;

    if (machine_gather(&machine, info) == 0)
        object = json_pack("{s:o, s:o, s:o}", "facts", facts(&machine), "cpus", cpus(info),
                           "warnings", warnings(&machine));
    machine_free(&machine);
    return object;
}

int machine_print_json(FILE *out, const struct trace_info *info)
{
    return json_print(out, machine_json(info));
}
