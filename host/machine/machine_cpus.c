/* Computes figures from the kernel's readings before and after a run. */
#include "host/machine/machine_cpus.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"

#define TICKS_FOR_A_MEAN 10000u /* fewer are not meaningful */
#define THERMAL_VALID (1u << 31)
#define THERMAL_MARGIN_SHIFT 16
#define THERMAL_MARGIN_MASK 0x7fu

static double frequency(const struct trace_info *info, uint64_t aperf, uint64_t mperf)
{
    if (mperf < TICKS_FOR_A_MEAN || !info->has_clock || info->clock.method == HR_CLOCK_VIRTUAL)
        return 0;
    return (double)info->clock.ticks_per_second * (double)aperf / (double)mperf;
}

/* Returns how far the known ones of three frequencies lie apart. */
static double spread(const double hz[3])
{
    double least = 0, most = 0;

    for (int i = 0; i < 3; i++) {
        if (hz[i] > 0 && (least <= 0 || hz[i] < least))
            least = hz[i];
        if (hz[i] > most)
            most = hz[i];
    }
    return least > 0 ? most / least - 1 : 0;
}

/* Where logs could not be cleared, those that are new since the start belong to the run. */
static uint32_t logged(const struct hr_rec_machine_cpu *r)
{
    uint32_t thermal = r->thermal_after, package = r->package_after;

    if ((r->flags & HR_MACHINE_LOGS) == 0) {
        thermal &= ~r->thermal_before;
        package &= ~r->package_before;
    }
    return ((r->flags & HR_MACHINE_THERMAL ? thermal : 0) |
            (r->flags & HR_MACHINE_PACKAGE ? package & 0xfff : 0)) &
           MACHINE_SLOWED;
}

struct machine_cpu machine_cpu(const struct trace_info *info, const struct hr_rec_machine_cpu *r)
{
    struct machine_cpu cpu = {.record = r, .margin = -1};
    bool has_frequency = r->flags & HR_MACHINE_APERF;

    if (has_frequency) {
        cpu.before_hz = frequency(info, r->aperf_before, r->mperf_before);
        cpu.mean_hz = frequency(info, r->aperf, r->mperf);
        cpu.after_hz = frequency(info, r->aperf_after, r->mperf_after);
        cpu.of_base = cpu.mean_hz > 0 ? cpu.mean_hz / (double)info->clock.ticks_per_second : 0;
        cpu.moved = spread((const double[]){cpu.before_hz, cpu.mean_hz, cpu.after_hz});
    }
    cpu.has_smis = r->flags & HR_MACHINE_SMI;
    if (cpu.has_smis)
        cpu.smis = r->smi_after - r->smi_before;
    cpu.has_thermal = r->flags & (HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE);
    cpu.events = logged(r);
    if ((r->flags & HR_MACHINE_THERMAL) != 0 && (r->thermal_after & THERMAL_VALID) != 0)
        cpu.margin = (int)(r->thermal_after >> THERMAL_MARGIN_SHIFT & THERMAL_MARGIN_MASK);
    return cpu;
}

static double distance(double of_base)
{
    return of_base <= 0 ? 0 : of_base < 1 ? 1 - of_base : of_base - 1;
}

bool machine_is_far(double of_base)
{
    return distance(of_base) > MACHINE_FAR_LEAST;
}

static void add_distance(struct machine_run *run, const struct machine_cpu *cpu)
{
    if (distance(cpu->of_base) <= distance(run->far_of_base))
        return;
    run->far_of_base = cpu->of_base;
    run->far_hz = cpu->mean_hz;
    run->far_cpu = cpu->record->cpu;
}

static void add_frequency(struct machine_run *run, const struct machine_cpu *cpu)
{
    const double hz[] = {cpu->before_hz, cpu->mean_hz, cpu->after_hz};

    if (cpu->mean_hz > 0) {
        if (!run->has_frequency || cpu->mean_hz < run->least_hz)
            run->least_hz = cpu->mean_hz;
        if (cpu->mean_hz > run->most_hz)
            run->most_hz = cpu->mean_hz;
        run->has_frequency = true;
    }
    if (cpu->moved <= run->moved)
        return;
    run->moved = cpu->moved;
    run->moved_cpu = cpu->record->cpu;
    run->moved_from_hz = run->moved_to_hz = 0;
    for (int i = 0; i < 3; i++) {
        if (hz[i] > 0 && (run->moved_from_hz <= 0 || hz[i] < run->moved_from_hz))
            run->moved_from_hz = hz[i];
        if (hz[i] > run->moved_to_hz)
            run->moved_to_hz = hz[i];
    }
}

struct machine_run machine_run(const struct trace_info *info)
{
    struct machine_run run = {0};

    for (size_t i = 0; i < info->machine_count; i++) {
        const struct machine_cpu cpu = machine_cpu(info, &info->machines[i]);

        add_frequency(&run, &cpu);
        add_distance(&run, &cpu);
        run.has_smis |= cpu.has_smis;
        run.has_thermal |= cpu.has_thermal;
        run.smis += cpu.smis;
        run.events |= cpu.events;
    }
    return run;
}

const char *machine_events(uint32_t events, char out[MACHINE_EVENTS_BYTES])
{
    static const struct {
        uint32_t bit;
        const char *words;
    } names[] = {
        {MACHINE_HOT, "too hot"},           {MACHINE_PROCHOT, "PROCHOT"},
        {MACHINE_CRITICAL, "critical"},     {MACHINE_POWER, "power limit"},
        {MACHINE_CURRENT, "current limit"}, {MACHINE_DOMAIN, "limit of another domain"},
    };
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((events & names[i].bit) != 0)
            used += (size_t)snprintf(out + used, MACHINE_EVENTS_BYTES - used, "%s%s",
                                     used != 0 ? ", " : "", names[i].words);
    return out;
}

const char *machine_hz(double hz, char out[MACHINE_HZ_BYTES])
{
    if (hz <= 0)
        out[0] = 0;
    else if (hz >= 1e12)
        snprintf(out, MACHINE_HZ_BYTES, "over 1000 GHz"); /* invalid, but fits a column */
    else
        snprintf(out, MACHINE_HZ_BYTES, "%.3f GHz", hz / 1e9);
    return out;
}

static void __attribute__((format(printf, 2, 3)))
append(char out[MACHINE_TROUBLE_BYTES], const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;

    if (used != 0)
        used += (size_t)snprintf(out + used, MACHINE_TROUBLE_BYTES - used, "; ");
    if (used >= MACHINE_TROUBLE_BYTES)
        return;
    va_start(arguments, format);
    vsnprintf(out + used, MACHINE_TROUBLE_BYTES - used, format, arguments);
    va_end(arguments);
}

bool machine_trouble(const struct trace_info *info, char out[MACHINE_TROUBLE_BYTES])
{
    const struct machine_run run = machine_run(info);
    char count[TEXT_QUANTITY_BYTES], events[MACHINE_EVENTS_BYTES];
    char from[MACHINE_HZ_BYTES], to[MACHINE_HZ_BYTES];

    out[0] = 0;
    if (run.smis != 0)
        append(out, "%s %s stopped CPUs", text_count(count, run.smis),
               run.smis == 1 ? "SMI" : "SMIs");
    if (run.events != 0)
        append(out, "the processor was throttled (%s)", machine_events(run.events, events));
    if (run.moved > MACHINE_MOVED_LEAST)
        append(out, "the frequency moved by %.*f %% (CPU %u: %s to %s)", run.moved < 0.1 ? 1 : 0,
               100 * run.moved, run.moved_cpu, machine_hz(run.moved_from_hz, from),
               machine_hz(run.moved_to_hz, to));
    if (machine_is_far(run.far_of_base))
        append(out, "CPU %u ran at %s, %.0f %% of the base frequency", run.far_cpu,
               machine_hz(run.far_hz, from), 100 * run.far_of_base);
    return out[0] != 0;
}
