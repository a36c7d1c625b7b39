/* Reads the registers that count or log what happens to a CPU. */
#include "drivers/processor/monitor.h"

#include <stdbool.h>
#include <string.h>

#include "drivers/platform.h"
#include "drivers/processor/processor.h"
#include "drivers/processor/processor_regs.h"
#include "lib/x86.h"

#define MOVE_ROUNDS 4096u /* PAUSEs in which APERF and MPERF must move */

static uint64_t read_or_0(uint32_t msr)
{
    uint64_t value;

    return platform_msr_read(msr, &value) ? 0 : value;
}

static bool monitor_exists(uint32_t msr)
{
    uint64_t value;

    return platform_msr_read(msr, &value) == 0;
}

static bool monitor_moves(uint32_t msr)
{
    uint64_t before = read_or_0(msr);

    for (uint32_t i = 0; i < MOVE_ROUNDS; i++)
        x86_pause();
    return read_or_0(msr) != before;
}

uint32_t monitor_probe(void)
{
    struct processor processor;
    uint32_t flags = 0;
    bool has_power;
    struct cpuid_result power;

    processor_read(&processor);
    has_power = processor_has_leaf(6);
    power = x86_cpuid(has_power ? 6 : 0, 0);
    if (has_power && power.ecx & CPUID_6_ECX_APERF_MPERF && monitor_moves(MSR_APERF) &&
        monitor_moves(MSR_MPERF))
        flags |= HR_MACHINE_APERF;
    if (!processor.intel)
        return flags;
    if (processor.signature.family == 6 && monitor_exists(MSR_SMI_COUNT))
        flags |= HR_MACHINE_SMI;
    if (!has_power || !(x86_cpuid(1, 0).edx & CPUID_1_EDX_ACPI) ||
        !(power.eax & CPUID_6_EAX_SENSOR) || !monitor_exists(MSR_THERM_STATUS))
        return flags;
    flags |= HR_MACHINE_THERMAL;
    if (power.eax & CPUID_6_EAX_PACKAGE && monitor_exists(MSR_PACKAGE_THERM_STATUS))
        flags |= HR_MACHINE_PACKAGE;
    return flags;
}

void monitor_read(uint32_t flags, struct monitor_reading *out)
{
    memset(out, 0, sizeof *out);
    if (flags & HR_MACHINE_SMI)
        out->smi = (uint32_t)read_or_0(MSR_SMI_COUNT);
    if (flags & HR_MACHINE_THERMAL)
        out->thermal = (uint32_t)read_or_0(MSR_THERM_STATUS);
    if (flags & HR_MACHINE_PACKAGE)
        out->package = (uint32_t)read_or_0(MSR_PACKAGE_THERM_STATUS);
    if (flags & HR_MACHINE_APERF) { /* close together: their ratio is what counts */
        out->tsc = x86_rdtsc();
        out->aperf = read_or_0(MSR_APERF);
        out->mperf = read_or_0(MSR_MPERF);
    }
}

uint32_t monitor_clear_logs(uint32_t flags)
{
    if (!(flags & HR_MACHINE_THERMAL) || platform_msr_write(MSR_THERM_STATUS, 0))
        return 0;
    if (flags & HR_MACHINE_PACKAGE && platform_msr_write(MSR_PACKAGE_THERM_STATUS, 0))
        return 0;
    return HR_MACHINE_LOGS;
}

struct monitor_frequency monitor_spin(uint32_t flags, uint32_t ticks)
{
    uint64_t start = x86_rdtsc(), aperf, mperf;

    if (!(flags & HR_MACHINE_APERF))
        return (struct monitor_frequency){0};
    aperf = read_or_0(MSR_APERF);
    mperf = read_or_0(MSR_MPERF);
    while (x86_rdtsc() - start < ticks)
        continue; /* no PAUSE: a hypervisor may take a turn for it */
    return (struct monitor_frequency){.aperf = (uint32_t)(read_or_0(MSR_APERF) - aperf),
                                      .mperf = (uint32_t)(read_or_0(MSR_MPERF) - mperf)};
}
