/* Prints a machine for people. */
#include "host/machine/machine_print.h"

#include <string.h>

#include "host/base/text.h"
#include "host/machine/machine_cpus.h"
#include "host/machine/machine_facts.h"

#define VALUE_BYTES 4096
#define COLUMNS 100u /* of a list of words, before it continues in the next line */
#define INDENT 19

/* Prints a long list of words in several lines. */
static void print_words(FILE *out, const char *words)
{
    size_t column = 0;

    while (*words != 0) {
        size_t length = strcspn(words, " ");

        if (column != 0 && column + 1 + length > COLUMNS - INDENT) {
            fprintf(out, "\n%*s", INDENT, "");
            column = 0;
        }
        fprintf(out, "%s%.*s", column != 0 ? " " : "", (int)length, words);
        column += length + (column != 0);
        words += length + strspn(words + length, " ");
    }
    fputc('\n', out);
}

static void print_facts(FILE *out, const struct machine *machine)
{
    enum machine_group group = MACHINE_GROUPS;
    char safe[VALUE_BYTES];

    for (size_t i = 0; i < machine->fact_count; i++) {
        const struct machine_fact *fact = &machine->facts[i];

        if (fact->group == MACHINE_DURING)
            continue; /* printed per CPU, below */
        if (fact->group != group)
            fprintf(out, "\n %s\n", machine_groups[fact->group]);
        group = fact->group;
        fprintf(out, "   %-15s ", fact->label);
        text_escape(safe, sizeof safe, fact->value);
        if (fact->words)
            print_words(out, safe);
        else
            fprintf(out, "%s\n", safe);
    }
}

static const char *or_dash(const char *text)
{
    return text[0] != 0 ? text : "-";
}

static const char *kind_words(uint8_t kind)
{
    return kind == 0x40 ? "Core" : kind == 0x20 ? "Atom" : "-";
}

static void print_cpu(FILE *out, const struct machine_cpu *cpu)
{
    char before[MACHINE_HZ_BYTES], mean[MACHINE_HZ_BYTES], after[MACHINE_HZ_BYTES];
    char smis[TEXT_QUANTITY_BYTES] = "", events[MACHINE_EVENTS_BYTES] = "", margin[16] = "";
    const struct hr_rec_machine_cpu *r = cpu->record;

    if (cpu->has_smis)
        text_count(smis, cpu->smis);
    if (cpu->has_thermal)
        machine_events(cpu->events, events);
    if (cpu->margin >= 0)
        snprintf(margin, sizeof margin, "%d C", cpu->margin);
    fprintf(out, "   %4u %6u %5s %10s %10s %10s %10s %7s  %s%s\n", r->cpu, r->apic_id,
            kind_words(r->core_kind), or_dash(machine_hz(cpu->before_hz, before)),
            or_dash(machine_hz(cpu->mean_hz, mean)), or_dash(machine_hz(cpu->after_hz, after)),
            or_dash(smis), or_dash(margin),
            cpu->has_thermal && events[0] == 0 ? "no" : or_dash(events),
            cpu->moved > MACHINE_MOVED_LEAST || machine_is_far(cpu->of_base) || cpu->smis != 0 ||
                    cpu->events != 0
                ? "  <--"
                : "");
}

/* CPUs with different revisions are listed separately. */
static void print_microcode(FILE *out, const struct trace_info *info)
{
    for (size_t i = 1; i < info->machine_count; i++)
        if (info->machines[i].microcode != info->machines[0].microcode)
            fprintf(out, "   CPU %u has microcode 0x%x, CPU %u 0x%x\n", info->machines[0].cpu,
                    info->machines[0].microcode, info->machines[i].cpu,
                    info->machines[i].microcode);
}

static void print_cpus(FILE *out, const struct trace_info *info)
{
    fputs("\n During the run\n", out);
    if (info->machine_count == 0) {
        fprintf(out, "   %s\n",
                info->has_exit ? "unknown: the trace is from an older version"
                               : "unknown: the trace ends before the program does");
        return;
    }
    fprintf(out, "   %4s %6s %5s %10s %10s %10s %10s %7s  %s\n", "CPU", "APIC", "kind", "before",
            "frequency", "after", "SMIs", "margin", "throttled");
    for (size_t i = 0; i < info->machine_count; i++) {
        const struct machine_cpu cpu = machine_cpu(info, &info->machines[i]);

        print_cpu(out, &cpu);
    }
    print_microcode(out, info);
}

int machine_print(FILE *out, const struct trace_info *info, const char *path)
{
    struct machine machine;
    char safe[VALUE_BYTES];
    int error = machine_gather(&machine, info);

    if (error == 0) {
        fprintf(out, "\n Machine of %s\n", text_escape(safe, sizeof safe, path));
        print_facts(out, &machine);
        print_cpus(out, info);
        for (size_t i = 0; i < machine.warning_count; i++)
            fprintf(out, "%s Warning: %s\n", i == 0 ? "\n" : "",
                    text_escape(safe, sizeof safe, machine.warnings[i]));
        fputc('\n', out);
    }
    machine_free(&machine);
    return error;
}

void machine_print_trouble(FILE *out, const struct trace_info *info, const char *path)
{
    char words[MACHINE_TROUBLE_BYTES];

    if (machine_trouble(info, words))
        fprintf(out, " Warning: %s; hr stat --machine %s\n", words, path);
}
