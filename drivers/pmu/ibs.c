/* Instruction-based sampling by its registers. */
#include "drivers/pmu/ibs.h"

#include <stddef.h>

#include "drivers/platform.h"
#include "drivers/pmu/pmu_regs.h"
#include "drivers/processor/processor.h"
#include "lib/pmu/ibs_sources.h"
#include "lib/x86.h"

#define LEAF_FEATURES 0x80000001u
#define FEATURES_ECX_IBS (1u << 10)
#define LEAF_IBS 0x8000001bu
#define IBS_EAX_VALID 1u /* the other bits mean something */
#define IBS_EAX_FETCH 2u
#define IBS_EAX_OP 4u
#define IBS_EAX_OP_COUNT 16u
#define IBS_EAX_OP_WIDE 64u /* seven more bits of period */
#define IBS_EAX_RIP_CHECK 128u
#define IBS_EAX_ZEN4 (1u << 11)
#define FAMILY_FIRST 0x17u

#define IBS_CTL_LVT 0xfu
#define IBS_CTL_LVT_VALID (1u << 8)
#define LVT_ENTRIES 4u

#define FETCH_ENABLE (1ull << 48)
#define FETCH_VALID (1ull << 49)
#define FETCH_COMPLETE (1ull << 50)
#define OP_ENABLE (1ull << 17)
#define OP_VALID (1ull << 18)
#define OP_BY_OPS (1ull << 19)
#define OP_PERIOD_LOW 0xffffull
#define OP_PERIOD_HIGH 0x7f00000ull /* bits 26:20 of the period's units stand where they belong */

#define DATA_RIP_INVALID (1ull << 38)
#define DATA3_MISS (1ull << 7)
#define DATA3_MISS_NO_MAB (1ull << 16)
#define DATA3_LINEAR_VALID (1ull << 17)
#define DATA3_PREFETCH (1ull << 21)
#define KERNEL_HALF (1ull << 63)

static const char *why_not(const struct processor *p, uint64_t *control)
{
    uint32_t features;
    uint64_t value;

    if (!p->amd || p->signature.family < FAMILY_FIRST)
        return "IBS is known of AMD's processors from family 17H on";
    if (!(x86_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_IBS) || !processor_has_leaf(LEAF_IBS))
        return "CPUID does not have IBS, as in virtual machines";
    features = x86_cpuid(LEAF_IBS, 0).eax;
    if (!(features & IBS_EAX_VALID) || !(features & IBS_EAX_OP) || !(features & IBS_EAX_OP_COUNT))
        return "CPUID does not have IBS of ops, as in virtual machines";
    if (platform_msr_read(MSR_AMD_IBS_CTL, control) ||
        platform_msr_read(MSR_AMD_IBS_OP_CTL, &value) ||
        platform_msr_read(MSR_AMD_IBS_FETCH_CTL, &value))
        return "a register of IBS faults, whatever CPUID says";
    if (!(*control & IBS_CTL_LVT_VALID) || (*control & IBS_CTL_LVT) >= LVT_ENTRIES)
        return "the firmware has given IBS no interrupt";
    if (apic.registers == NULL &&
        platform_msr_read(APIC_MSR_X2APIC_BASE + ibs_lvt(*control & IBS_CTL_LVT) / 16, &value))
        return "the local APIC does not have the interrupt of IBS";
    return NULL;
}

/* Revision guides of families 17H and 19H: errata 1197 and 1293 are those of models 0 to FH. */
static void find_faults(struct ibs_caps *caps, const struct x86_signature *cpu)
{
    caps->starts_twice = cpu->family < X86_FAMILY_ZEN3;
    caps->no_hit_state = x86_signature_is_zen3(cpu);
    caps->zero_fetches = caps->loses_sources = caps->no_hit_state && cpu->model <= 0x0f;
}

void ibs_probe(struct ibs_caps *caps)
{
    struct processor processor;
    uint64_t control = 0;
    uint32_t features;

    processor_read(&processor);
    *caps = (struct ibs_caps){.missing = why_not(&processor, &control)};
    if (caps->missing != NULL)
        return;
    features = x86_cpuid(LEAF_IBS, 0).eax;
    caps->fetch = features & IBS_EAX_FETCH;
    caps->checks_ip = features & IBS_EAX_RIP_CHECK;
    caps->fine_sources = features & IBS_EAX_ZEN4;
    caps->op_period_max = features & IBS_EAX_OP_WIDE ? 0x7fffff0u : 0xffff0u;
    caps->lvt = control & IBS_CTL_LVT;
    find_faults(caps, &processor.signature);
}

void ibs_op_start(uint64_t period)
{
    uint64_t units = period / IBS_PERIOD_UNIT;

    x86_wrmsr(MSR_AMD_IBS_OP_CTL, (units & OP_PERIOD_LOW) |
                                      (units * IBS_PERIOD_UNIT & OP_PERIOD_HIGH) | /* in ops */
                                      OP_BY_OPS | OP_ENABLE);
}

void ibs_fetch_start(const struct ibs_caps *caps, uint64_t period)
{
    uint64_t units = period / IBS_PERIOD_UNIT;

    if (caps->starts_twice)
        x86_wrmsr(MSR_AMD_IBS_FETCH_CTL, units);
    x86_wrmsr(MSR_AMD_IBS_FETCH_CTL, units | FETCH_ENABLE);
}

void ibs_stop(const struct ibs_caps *caps)
{
    x86_wrmsr(MSR_AMD_IBS_OP_CTL, 0);
    if (caps->fetch)
        x86_wrmsr(MSR_AMD_IBS_FETCH_CTL, 0);
}

static uint64_t read_source(const struct ibs_caps *caps, uint64_t data3)
{
    uint64_t data2 = x86_rdmsr(MSR_AMD_IBS_OP_DATA2);

    if (caps->loses_sources && data3 & (DATA3_PREFETCH | DATA3_MISS_NO_MAB))
        data2 = 0;
    if (caps->no_hit_state)
        data2 |= IBS_SOURCE_HIT_STATE;
    return (data3 & IBS_SOURCE_DATA3) << IBS_SOURCE_DATA3_SHIFT | (data2 & IBS_SOURCE_DATA2);
}

static void read_access(const struct ibs_caps *caps, struct ibs_sample *sample)
{
    uint64_t data3 = x86_rdmsr(MSR_AMD_IBS_OP_DATA3);

    sample->what = data3 & (IBS_LOAD | IBS_STORE);
    if (!sample->what)
        return;
    sample->source = read_source(caps, data3);
    if (data3 & DATA3_LINEAR_VALID)
        sample->address = x86_rdmsr(MSR_AMD_IBS_DC_LINEAR);
    if (data3 & IBS_LOAD && data3 & DATA3_MISS)
        sample->latency = data3 >> 32 & 0xffff;
}

bool ibs_op_take(const struct ibs_caps *caps, struct ibs_sample *sample)
{
    uint64_t ip;

    *sample = (struct ibs_sample){0};
    if (!(x86_rdmsr(MSR_AMD_IBS_OP_CTL) & OP_VALID))
        return false;
    ip = x86_rdmsr(MSR_AMD_IBS_OP_RIP);
    if (ip & KERNEL_HALF || (caps->checks_ip && x86_rdmsr(MSR_AMD_IBS_OP_DATA) & DATA_RIP_INVALID))
        return true;
    sample->ip = ip;
    read_access(caps, sample);
    return true;
}

bool ibs_fetch_take(const struct ibs_caps *caps, struct ibs_sample *sample)
{
    uint64_t control = x86_rdmsr(MSR_AMD_IBS_FETCH_CTL), ip;

    *sample = (struct ibs_sample){0};
    if (!(control & FETCH_VALID))
        return false;
    ip = x86_rdmsr(MSR_AMD_IBS_FETCH_LINEAR);
    if (ip & KERNEL_HALF || (caps->zero_fetches && ip == 0))
        return true;
    *sample = (struct ibs_sample){
        .ip = ip,
        .address = ip,
        .source = control >> IBS_SOURCE_FETCH_SHIFT | IBS_SOURCE_FETCH,
        .latency = control & FETCH_COMPLETE ? control >> 32 & 0xffff : 0,
    };
    return true;
}
