/* Reads what CPUID and the model-specific registers say of a processor. */
#include "drivers/processor/processor.h"

#include <string.h>

#include "drivers/platform.h"
#include "drivers/processor/processor_regs.h"
#include "lib/x86.h"

bool processor_has_leaf(uint32_t leaf)
{
    uint32_t first = leaf & 0x80000000, highest = x86_cpuid(first, 0).eax;

    return highest >= leaf && highest < first + 0x10000; /* none at all reads as something else */
}

static struct cpuid_result leaf_of(uint32_t leaf)
{
    return processor_has_leaf(leaf) ? x86_cpuid(leaf, 0) : (struct cpuid_result){0};
}

static bool is_amd(const char *vendor)
{
    return strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0;
}

static void read_names(struct processor *out)
{
    struct cpuid_result leaf = x86_cpuid(0, 0);

    memcpy(out->vendor, &leaf.ebx, 4);
    memcpy(out->vendor + 4, &leaf.edx, 4);
    memcpy(out->vendor + 8, &leaf.ecx, 4);
    out->intel = strcmp(out->vendor, "GenuineIntel") == 0;
    out->amd = is_amd(out->vendor);
    for (uint32_t i = 0; i < 3 && processor_has_leaf(0x80000004); i++) {
        leaf = x86_cpuid(0x80000002 + i, 0);
        memcpy(out->brand + 16 * i, &leaf, 16);
    }
    if (x86_cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR) {
        leaf = x86_cpuid(0x40000000, 0);
        memcpy(out->hypervisor, &leaf.ebx, 4);
        memcpy(out->hypervisor + 4, &leaf.ecx, 4);
        memcpy(out->hypervisor + 8, &leaf.edx, 4);
        if (!out->hypervisor[0])
            memcpy(out->hypervisor, "unnamed", 8);
    }
}

uint32_t processor_microcode(void)
{
    bool intel = x86_cpuid(0, 0).ecx == 0x6c65746e; /* "ntel" */
    uint64_t value;

    if (intel && platform_msr_write(MSR_MICROCODE, 0))
        return 0;
    x86_cpuid(1, 0);
    if (platform_msr_read(MSR_MICROCODE, &value))
        return 0;
    return (uint32_t)(intel ? value >> 32 : value);
}

uint8_t processor_core_kind(void)
{
    if (!processor_has_leaf(0x1a) || !(x86_cpuid(7, 0).edx & CPUID_7_EDX_HYBRID))
        return 0;
    return (uint8_t)(x86_cpuid(0x1a, 0).eax >> 24);
}

/* A bit of a register, or of one that does not exist. */
static enum processor_turbo turbo_unless(uint32_t msr, uint64_t off)
{
    uint64_t value;

    if (platform_msr_read(msr, &value))
        return TURBO_UNKNOWN;
    return value & off ? TURBO_OFF : TURBO_ON;
}

/* Intel's CPUID bit is clear both if there is no turbo and if the firmware has turned it off. */
static enum processor_turbo read_turbo(const struct processor *out)
{
    if (out->intel) {
        enum processor_turbo turbo = turbo_unless(MSR_MISC_ENABLE, MISC_ENABLE_TURBO_OFF);
        bool offered = leaf_of(6).eax & CPUID_6_EAX_TURBO;
        return offered || turbo == TURBO_OFF ? turbo : TURBO_NONE;
    }
    if (!out->amd)
        return TURBO_UNKNOWN;
    if (!(leaf_of(0x80000007).edx & CPUID_EXT_7_EDX_BOOST))
        return TURBO_NONE;
    return turbo_unless(MSR_HWCR, HWCR_BOOST_OFF);
}

static void read_pstates(struct processor *out)
{
    uint64_t wanted, now;

    if (out->intel && x86_cpuid(1, 0).ecx & CPUID_1_ECX_EST &&
        !platform_msr_read(MSR_PERF_CTL, &wanted) && !platform_msr_read(MSR_PERF_STATUS, &now)) {
        out->pstate_wanted = wanted >> 8 & 0xff;
        out->pstate_now = now >> 8 & 0xff;
        out->pstates = out->pstate_now != 0; /* a hypervisor's is 0 */
    }
    if (out->amd && leaf_of(0x80000007).edx & CPUID_EXT_7_EDX_PSTATES &&
        !platform_msr_read(MSR_PSTATE_CTL, &wanted) &&
        !platform_msr_read(MSR_PSTATE_STATUS, &now)) {
        out->pstate_wanted = wanted & 7;
        out->pstate_now = now & 7;
        out->pstates = true;
    }
}

static void read_hwp(struct processor *out)
{
    uint64_t value;

    if (!out->intel || !(leaf_of(6).eax & CPUID_6_EAX_HWP) ||
        platform_msr_read(MSR_HWP_ENABLE, &value) || !(value & HWP_ENABLED))
        return;
    out->hwp = platform_msr_read(MSR_HWP_REQUEST, &out->hwp_request) == 0;
}

void processor_read(struct processor *out)
{
    struct cpuid_result frequencies;

    memset(out, 0, sizeof *out);
    read_names(out);
    out->signature = x86_signature_parse(x86_cpuid(1, 0).eax, out->amd);
    out->microcode = processor_microcode();
    frequencies = leaf_of(0x16);
    out->base_mhz = frequencies.eax & 0xffff;
    out->max_mhz = frequencies.ebx & 0xffff;
    out->bus_mhz = frequencies.ecx & 0xffff;
    out->invariant_tsc = leaf_of(0x80000007).edx & CPUID_EXT_7_EDX_INVARIANT_TSC;
    out->turbo = read_turbo(out);
    read_hwp(out);
    read_pstates(out);
}
