/* AMD's memory controllers and data fabric by their registers. */
#include "drivers/pmu/pmu_umc.h"

#include "drivers/platform.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/processor/processor.h"
#include "drivers/processor/processor_regs.h"
#include "lib/x86.h"

#define MSR_UMC_CTL0 0xc0010800u /* select and counter alternate; a controller's are in a row */
#define UMC_ENABLE (1ull << 31)
#define UMC_CAS 0x0aull /* column accesses, of 64 bytes: */
#define UMC_CAS_READS (1ull << 8)
#define UMC_CAS_WRITES (2ull << 8)
#define LEAF_PERFMON 0x80000022u
#define PERFMON_EAX_V2 1u

#define MSR_FABRIC_CTL0 0xc0010240u
#define FABRIC_ENABLE (1ull << 22)
#define FABRIC_DATA 0x3800ull /* unit mask of a channel's event: requests with data */
#define FABRIC_CHANNEL 0x07u /* that event; the next channel's is 40H on */
#define FABRIC_CHANNEL_STEP 0x40u
#define LEAF_FEATURES 0x80000001u
#define FEATURES_ECX_FABRIC (1u << 24)

static uint32_t controllers;
static uint32_t stride; /* in registers, from one controller's first select to the next one's */

bool pmu_umc_probe(void)
{
    struct processor p;
    struct cpuid_result leaf;
    uint32_t counters;
    uint64_t value;

    processor_read(&p);
    if (!p.amd || p.signature.family < X86_FAMILY_ZEN3 || !processor_has_leaf(LEAF_PERFMON))
        return false;
    leaf = x86_cpuid(LEAF_PERFMON, 0);
    controllers = pmu_hardware_count(leaf.ecx);
    counters = controllers ? (leaf.ebx >> 16 & 0x3f) / controllers : 0;
    stride = 2 * counters;
    return leaf.eax & PERFMON_EAX_V2 && counters >= 2 &&
           platform_msr_read(MSR_UMC_CTL0, &value) == 0 &&
           platform_msr_read(MSR_UMC_CTL0 + (controllers - 1) * stride + 3, &value) == 0;
}

void pmu_umc_start(void)
{
    for (uint32_t i = 0; i < controllers; i++) {
        uint32_t first = MSR_UMC_CTL0 + i * stride;

        x86_wrmsr(first + 1, 0); /* they stop at the end of their range */
        x86_wrmsr(first, UMC_CAS | UMC_CAS_READS | UMC_ENABLE);
        x86_wrmsr(first + 3, 0);
        x86_wrmsr(first + 2, UMC_CAS | UMC_CAS_WRITES | UMC_ENABLE);
    }
}

uint64_t pmu_umc_read(bool writes)
{
    uint64_t lines = 0;

    for (uint32_t i = 0; i < controllers; i++)
        lines += x86_rdmsr(MSR_UMC_CTL0 + i * stride + (writes ? 3 : 1));
    return lines;
}

bool pmu_umc_fabric_probe(void)
{
    struct processor p;
    uint64_t value;

    processor_read(&p); /* after Zen 3 the numbers of events changed */
    return p.amd && x86_signature_is_zen2_or_3(&p.signature) &&
           !(x86_cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR) &&
           x86_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_FABRIC &&
           platform_msr_read(MSR_FABRIC_CTL0, &value) == 0;
}

void pmu_umc_fabric_start(uint32_t msr, uint32_t channel)
{
    uint64_t event = FABRIC_CHANNEL + channel * FABRIC_CHANNEL_STEP;

    x86_wrmsr(msr - 1, 0);
    x86_wrmsr(msr, 0);
    x86_wrmsr(msr - 1, (event & 0xff) | (event >> 8) << 32 | FABRIC_DATA | FABRIC_ENABLE);
}

uint32_t pmu_umc_fabric_msr(uint32_t counter)
{
    return MSR_FABRIC_CTL0 + 2 * counter + 1;
}
