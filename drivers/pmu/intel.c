/* Intel's architectural performance monitoring, versions 1 to 6: what CPUID reports and what is
 * true of it. */
#include "drivers/pmu/intel.h"

#include <errno.h>

#include "drivers/platform.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_regs.h"
#include "include/run_ports.h"
#include "lib/pmu/pmu_match.h"
#include "lib/x86.h"

#define CPUID_PMU 0x0a
#define CPUID_PMU_EXTENDED 0x23
#define CPUID_1_ECX_PDCM (1u << 15) /* IA32_PERF_CAPABILITIES exists */
#define CPUID_7_1_EAX_PMU_EXTENDED (1u << 8) /* leaf 23H exists */
#define EXTENDED_COUNTERS 1 /* sub-leaves of 23H, bits in sub-leaf 0's EAX */
#define EXTENDED_EVENTS 3
#define FIRST_EVENTS 7 /* of the architectural ones, before topdown slots */
#define LEGACY_MAX 8 /* counters whose registers are in one row */

struct pmu_caps intel_caps;
struct intel_registers intel_registers;
struct intel_found intel_found;
bool intel_smm_freeze;

static bool is_intel(void)
{
    struct cpuid_result leaf = x86_cpuid(0, 0);

    return leaf.ebx == 0x756e6547 && leaf.edx == 0x49656e69 && leaf.ecx == 0x6c65746e &&
           leaf.eax >= CPUID_PMU;
}

/* The lowest `count` bits. */
static uint32_t low_bits(uint32_t count)
{
    return count < 32 ? (1u << count) - 1 : ~0u;
}

/* Events whose bit is set or beyond the reported length do not exist.  The first seven are as old
 * as the leaf; what came later may have been another event's number before; and a hypervisor that
 * reports no length says nothing. */
static uint32_t missing_events(uint32_t bits, uint32_t length)
{
    uint32_t known = length < FIRST_EVENTS ? FIRST_EVENTS : length;

    return length ? (bits | ~low_bits(length)) & low_bits(known) : 0;
}

/* CPUID leaf 0AH (SDM volume 2, CPUID, "Architectural Performance Monitoring Leaf"). */
static void read_leaf(struct pmu_caps *caps)
{
    struct cpuid_result leaf = x86_cpuid(CPUID_PMU, 0);

    caps->version = leaf.eax & 0xff;
    caps->general_mask = low_bits(leaf.eax >> 8 & 0xff);
    caps->general_bits = leaf.eax >> 16 & 0xff;
    caps->missing_events = missing_events(leaf.ebx, leaf.eax >> 24);
    caps->global_control = caps->version >= 2;
    if (caps->version >= 2) {
        caps->fixed_bits = leaf.edx >> 5 & 0xff;
        caps->fixed_mask = low_bits(leaf.edx & 0x1f);
    }
    if (caps->version >= 5)
        caps->fixed_mask |= leaf.ecx;
}

/* Leaf 23H, from version 6 on: counters as bitmaps, which may have holes, and events that are
 * available rather than those that are not (SDM volume 2, CPUID, "Architectural Performance
 * Monitoring Extended Leaf"). */
static void read_extended_leaf(struct pmu_caps *caps)
{
    uint32_t subleaves;

    if (x86_cpuid(0, 0).eax < CPUID_PMU_EXTENDED ||
        !(x86_cpuid(7, 1).eax & CPUID_7_1_EAX_PMU_EXTENDED))
        return;
    subleaves = x86_cpuid(CPUID_PMU_EXTENDED, 0).eax;
    if (subleaves & 1u << EXTENDED_COUNTERS) {
        struct cpuid_result leaf = x86_cpuid(CPUID_PMU_EXTENDED, EXTENDED_COUNTERS);
        caps->general_mask = leaf.eax;
        caps->fixed_mask = leaf.ebx;
    }
    if (subleaves & 1u << EXTENDED_EVENTS)
        caps->missing_events = ~x86_cpuid(CPUID_PMU_EXTENDED, EXTENDED_EVENTS).eax;
}

/* Turns all counters on, counting in all rings, or off. */
static int enable_all(const struct pmu_caps *caps, bool on)
{
    uint64_t fixed = 0;

    for (uint32_t n = 0; n < PMU_MATCH_COUNTERS_MAX; n++) {
        if (caps->general_mask & 1u << n &&
            platform_msr_write(intel_registers.select + n * intel_registers.stride,
                               on ? pmu_hardware_instructions() : 0))
            return -EFAULT;
    }
    for (uint32_t n = 0; n < INTEL_FIXED_MAX; n++) {
        if (caps->fixed_mask & 1u << n)
            fixed |= (INTEL_FIXED_USER | INTEL_FIXED_KERNEL) << 4 * n;
    }
    if (caps->fixed_mask && platform_msr_write(MSR_INTEL_FIXED_CTR_CTRL, on ? fixed : 0))
        return -EFAULT;
    if (!caps->global_control)
        return 0;
    return platform_msr_write(
        MSR_INTEL_GLOBAL_CTRL,
        on ? (uint64_t)caps->fixed_mask << INTEL_GLOBAL_FIXED_SHIFT | caps->general_mask : 0);
}

/* Returns the fixed counters that already count at boot. */
static uint32_t fixed_enabled(const struct pmu_caps *caps)
{
    uint32_t enabled = 0;
    uint64_t value;

    if (!caps->fixed_mask || platform_msr_read(MSR_INTEL_FIXED_CTR_CTRL, &value))
        return 0;
    for (uint32_t n = 0; n < INTEL_FIXED_MAX; n++) {
        if (value >> 4 * n & (INTEL_FIXED_USER | INTEL_FIXED_KERNEL))
            enabled |= 1u << n;
    }
    return caps->fixed_mask & enabled;
}

/* Takes away the counters that are in use or do not work. */
static void find_held(struct pmu_caps *caps)
{
    struct pmu_check checks[PMU_MATCH_COUNTERS_MAX + INTEL_FIXED_MAX];
    uint32_t *masks[PMU_MATCH_COUNTERS_MAX + INTEL_FIXED_MAX];
    uint32_t bits[PMU_MATCH_COUNTERS_MAX + INTEL_FIXED_MAX];
    uint32_t count = 0, general = caps->general_mask, fixed = caps->fixed_mask;
    uint64_t good;

    caps->general_mask &=
        ~pmu_hardware_enabled(intel_registers.select, intel_registers.stride, general);
    caps->fixed_mask &= ~fixed_enabled(caps);
    for (uint32_t n = 0; n < PMU_MATCH_COUNTERS_MAX + INTEL_FIXED_MAX; n++) {
        bool is_fixed = n >= PMU_MATCH_COUNTERS_MAX;
        uint32_t number = is_fixed ? n - PMU_MATCH_COUNTERS_MAX : n;
        uint32_t first = is_fixed ? intel_registers.fixed : intel_registers.counter;
        uint32_t *mask = is_fixed ? &caps->fixed_mask : &caps->general_mask;
        if (!(*mask & 1u << number))
            continue;
        masks[count] = mask;
        bits[count] = 1u << number;
        checks[count].counter = first + number * intel_registers.stride;
        checks[count++].least = is_fixed ? 1 : PMU_CHECK_INSTRUCTIONS;
    }
    good = pmu_hardware_check(checks, count, caps, enable_all);
    for (uint32_t i = 0; i < count; i++) {
        if (!(good & 1ull << i))
            *masks[i] &= ~bits[i];
    }
    caps->general_held = general & ~caps->general_mask;
    caps->fixed_held = fixed & ~caps->fixed_mask;
}

/* Reads what CPUID says, with plausibility checks. */
static bool read_leaves(struct pmu_caps *caps)
{
    if (!is_intel())
        return false;
    read_leaf(caps);
    if (caps->version >= 6)
        read_extended_leaf(caps);
    if (caps->version == 0 || caps->general_mask == 0)
        return false;
    caps->fixed_mask &= low_bits(INTEL_FIXED_MAX);
    if (caps->general_bits >= 32 && caps->general_bits <= 64 &&
        (!caps->fixed_mask || (caps->fixed_bits >= 32 && caps->fixed_bits <= 64)))
        return true;
    platform_log("PMU: CPUID reports counters of %u and %u bits; not used", caps->general_bits,
                 caps->fixed_bits);
    return false;
}

/* Returns IA32_PERF_CAPABILITIES, 0 if there is none. */
static uint64_t intel_capabilities(void)
{
    uint64_t value;

    if (!(x86_cpuid(1, 0).ecx & CPUID_1_ECX_PDCM) ||
        platform_msr_read(MSR_INTEL_PERF_CAPABILITIES, &value))
        return 0;
    return value;
}

/* A hypervisor may offer version 6 without its registers. */
static void choose_registers(struct pmu_caps *caps, bool full_width_writes)
{
    uint64_t value;

    intel_registers = (struct intel_registers){
        .select = MSR_INTEL_PERFEVTSEL0,
        .counter = MSR_INTEL_PMC0,
        .fixed = MSR_INTEL_FIXED_CTR0,
        .stride = 1,
    };
    if (caps->version >= 6 && !platform_msr_read(MSR_INTEL_PMC_GP0_CFG_A, &value)) {
        caps->full_width_writes = true;
        intel_registers = (struct intel_registers){
            .select = MSR_INTEL_PMC_GP0_CFG_A,
            .counter = MSR_INTEL_PMC_GP0_CTR,
            .fixed = MSR_INTEL_PMC_FX0_CTR,
            .stride = INTEL_PMC_STRIDE,
        };
        return;
    }
    caps->general_mask &= low_bits(LEGACY_MAX);
    if (full_width_writes) {
        caps->full_width_writes = true;
        intel_registers.counter = MSR_INTEL_A_PMC0;
    }
}

static bool intel_probe(struct pmu_caps *caps)
{
    uint64_t can;

    if (!read_leaves(caps))
        return false;
    can = intel_capabilities();
    choose_registers(caps, can & INTEL_CAPABILITIES_FW_WRITE);
    intel_smm_freeze = caps->global_control && can & INTEL_CAPABILITIES_SMM_FREEZE;
    intel_found = (struct intel_found){0, 0};
    if (caps->global_control)
        platform_msr_read(MSR_INTEL_GLOBAL_CTRL, &intel_found.global_control);
    if (caps->version >= 4 || intel_smm_freeze)
        platform_msr_read(MSR_INTEL_DEBUGCTL, &intel_found.debug_control);
    if (caps->global_control && platform_msr_write(MSR_INTEL_GLOBAL_CTRL, 0)) {
        platform_log("PMU: version %u is advertised, but IA32_PERF_GLOBAL_CTRL faults; not used",
                     caps->version);
        return false;
    }
    find_held(caps);
    if (!caps->general_mask) {
        platform_log("PMU: version %u is advertised, but no counter counts; not used",
                     caps->version);
        return false;
    }
    caps->general_counters = pmu_hardware_count(caps->general_mask);
    caps->fixed_counters = caps->fixed_mask ? (uint8_t)(32 - __builtin_clz(caps->fixed_mask)) : 0;
    /* The legacy registers sign-extend bit 31; a preset must be negative. */
    caps->period_max = (1ull << ((caps->full_width_writes ? caps->general_bits : 32) - 1)) - 1;
    caps->overflow = true;
    caps->needs_encodings = true;
    caps->vendor = RUN_CPU_INTEL;
    intel_pebs_probe(caps, can);
    intel_caps = *caps;
    return true;
}

const struct pmu_driver pmu_intel = {
    .name = "intel",
    .probe = intel_probe,
    .assign = intel_assign,
    .start = intel_start,
    .stop = intel_stop,
    .reset = intel_reset,
    .read = pmu_hardware_read,
    .read_others = pmu_hardware_read_others,
    .reader = pmu_hardware_reader,
    .pause = pmu_hardware_pause,
    .resume = pmu_hardware_resume,
    .precise_start = intel_pebs_start,
    .precise_stop = intel_pebs_stop,
    .precise_served = intel_pebs_served,
};
