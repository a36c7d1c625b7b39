/* Two made-up machines for traces of tests: one as a lab wants it, and one that is not. */
#ifndef TESTS_TOOLS_GENMACHINE_H
#define TESTS_TOOLS_GENMACHINE_H

#include "tests/tools/tracesink.h"

#define GENMACHINE_CPUS 2

struct genmachine {
    const char *const (*texts)[2]; /* keys and values; ends with NULL */
    const struct hr_rec_machine_cpu *cpus; /* GENMACHINE_CPUS of them */
};

#define GENMACHINE_ALL \
    (HR_MACHINE_APERF | HR_MACHINE_SMI | HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE | HR_MACHINE_LOGS)

static const char *const genmachine_quiet_texts[][2] = {
    {"machine.vendor", "GenuineIntel"},
    {"machine.model", "Example CPU 9000"},
    {"machine.family", "family 6 model 106 stepping 6"},
    {"machine.microcode", "0xd0003a5"},
    {"machine.hypervisor", "none"},
    {"machine.features", "sse4_2 avx2 avx512f aes"},
    {"machine.base_mhz", "2000"},
    {"machine.tsc", "invariant"},
    {"machine.turbo", "off"},
    {"machine.packages", "1"},
    {"machine.cores", "4"},
    {"machine.threads", "4"},
    {"machine.cpus", "3"},
    {"machine.program_apic_ids", "2,4"},
    {"machine.cache.L2", "1280 KiB, 20 ways, lines of 64 bytes"},
    {"machine.system_maker", "Maker"},
    {"machine.system_product", "Bench 1"},
    {"machine.bios_vendor", "Example Firmware"},
    {"machine.bios_version", "2.17"},
    {"machine.memory_modules", "4 x 16 GiB DDR4 at 3200 MT/s"},
    {"machine.memory_installed", "68719476736"},
    {"machine.map_ram", "3 68000000000"},
    {"machine.map_reserved", "1 4096"},
    {"boot.entry", "uefi"},
    {"pmu.driver", "intel"},
    {NULL, NULL},
};
static const struct hr_rec_machine_cpu genmachine_quiet_cpus[GENMACHINE_CPUS] = {
    {.tsc = 2000000,
     .aperf = 1990000,
     .mperf = 1990000,
     .aperf_before = 2000000,
     .mperf_before = 2000000,
     .aperf_after = 2000100,
     .mperf_after = 2000000,
     .smi_before = 40,
     .smi_after = 40,
     .thermal_before = 0x88280002, /* it has been too hot once, before the run */
     .thermal_after = 0x88260000,
     .package_before = 0x88280000,
     .package_after = 0x88260000,
     .apic_id = 2,
     .microcode = 0xd0003a5,
     .flags = GENMACHINE_ALL,
     .cpu = 1},
    {.tsc = 2000000,
     .aperf = 1000000,
     .mperf = 1000000,
     .aperf_before = 2000000,
     .mperf_before = 2000000,
     .aperf_after = 2000100,
     .mperf_after = 2000000,
     .apic_id = 4,
     .microcode = 0xd0003a5,
     .flags = HR_MACHINE_APERF,
     .cpu = 2},
};

static const char *const genmachine_troubled_texts[][2] = {
    {"machine.vendor", "GenuineIntel"},
    {"machine.model", "Example CPU 9000"},
    {"machine.family", "family 6 model 106 stepping 6"},
    {"machine.microcode", "0xd000389"},
    {"machine.hypervisor", "none"},
    {"machine.features", "aes avx2 sse4_2 vaes"},
    {"machine.base_mhz", "2000"},
    {"machine.tsc", "not invariant"},
    {"machine.turbo", "on"},
    {"machine.packages", "1"},
    {"machine.cores", "4"},
    {"machine.threads", "8"},
    {"machine.cpus", "3"},
    {"machine.program_apic_ids", "2,3"},
    {"machine.siblings_active", "2,3"},
    {"machine.cache.L2", "1280 KiB, 20 ways, lines of 64 bytes"},
    {"machine.system_maker", "Maker"},
    {"machine.system_product", "Bench\x1b[31m 1"},
    {"machine.bios_vendor", "Example Firmware"},
    {"machine.bios_version", "2.18"},
    {"machine.memory_modules", "2 x 16 GiB DDR4 at 2933 MT/s"},
    {"machine.memory_installed", "a lot"},
    {"machine.map_ram", "3 99999999999999999999999"},
    {"boot.entry", "uefi"},
    {"pmu.driver", "intel"},
    {NULL, NULL},
};
static const struct hr_rec_machine_cpu genmachine_troubled_cpus[GENMACHINE_CPUS] = {
    {.tsc = 2000000,
     .aperf = 2900000,
     .mperf = 2000000,
     .aperf_before = 3200000,
     .mperf_before = 2000000,
     .aperf_after = 2400000,
     .mperf_after = 2000000,
     .smi_before = 0xffffffff, /* the count wraps */
     .smi_after = 2,
     .thermal_before = 0x88280000,
     .thermal_after = 0x88010003,
     .package_after = 0x88010800,
     .apic_id = 2,
     .microcode = 0xd000389,
     .flags = GENMACHINE_ALL,
     .cpu = 1,
     .core_kind = 0x40},
    {.tsc = 2000000,
     .aperf = 2900000,
     .mperf = 2000000,
     .aperf_before = 2900000,
     .mperf_before = 2000000,
     .smi_before = 7,
     .smi_after = 7,
     .apic_id = 3,
     .microcode = 0xd0003a5,
     .flags = GENMACHINE_ALL,
     .cpu = 2,
     .core_kind = 0x20},
};

static const struct genmachine genmachine_quiet = {genmachine_quiet_texts, genmachine_quiet_cpus};
static const struct genmachine genmachine_troubled = {genmachine_troubled_texts,
                                                      genmachine_troubled_cpus};

static inline void genmachine_put_texts(struct trace_writer *w, const struct genmachine *machine)
{
    for (size_t i = 0; machine->texts[i][0] != NULL; i++)
        add_text(w, machine->texts[i][0], machine->texts[i][1]);
}

static inline void genmachine_put_cpus(struct trace_writer *w, const struct genmachine *machine)
{
    for (size_t i = 0; i < GENMACHINE_CPUS; i++)
        add(w, HR_REC_MACHINE_CPU, TRACE_NO_TIME, &machine->cpus[i], sizeof machine->cpus[i], NULL,
            0);
}

#endif
