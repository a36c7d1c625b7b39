/* Instruction-based sampling by its registers. */
#include "drivers/pmu/ibs.h"

#include <errno.h>
#include <stddef.h>

#include "drivers/apic/apic.h"
#include "drivers/platform.h"
#include "drivers/processor/processor.h"
#include "lib/x86.h"

#define MSR_FETCH_CTL 0xc0011030u
#define MSR_FETCH_LINEAR 0xc0011031u
#define MSR_OP_CTL 0xc0011033u
#define MSR_OP_RIP 0xc0011034u
#define MSR_OP_DATA 0xc0011035u
#define MSR_OP_DATA2 0xc0011036u
#define MSR_OP_DATA3 0xc0011037u
#define MSR_DC_LINEAR 0xc0011038u
#define MSR_IBS_CTL 0xc001103au

#define LEAF_FEATURES 0x80000001u
#define FEATURES_ECX_IBS (1u << 10)
#define LEAF_IBS 0x8000001bu
#define IBS_EAX_VALID 1u /* the other bits mean something */
#define IBS_EAX_FETCH 2u
#define IBS_EAX_OP 4u
#define IBS_EAX_OP_COUNT 16u
#define IBS_EAX_OP_WIDE 64u /* seven more bits of period */
#define IBS_EAX_RIP_CHECK 128u
#define FAMILY_LEAST 0x17u

#define IBS_CTL_LVT 0xfu
#define IBS_CTL_LVT_VALID (1u << 8)
#define APIC_LVT_EXTENDED 0x500u /* 10H apart */
#define LVT_NMI (4u << 8)

#define FETCH_ENABLE (1ull << 48)
#define FETCH_VALID (1ull << 49)
#define FETCH_COMPLETE (1ull << 50)
#define FETCH_RANDOM (1ull << 57)
#define FETCH_KEPT (0xffffull | FETCH_RANDOM) /* what starts it again */
#define OP_ENABLE (1ull << 17)
#define OP_VALID (1ull << 18)
#define OP_BY_OPS (1ull << 19)
#define OP_PERIOD_LOW 0xffffull
#define OP_PERIOD_HIGH 0x7f00000ull /* bits 26:20 of the period's units stand where they belong */
#define OP_KEPT (OP_PERIOD_LOW | OP_PERIOD_HIGH | OP_BY_OPS)

#define DATA_RIP_INVALID (1ull << 38)
#define DATA2_SOURCE 0xffull
#define DATA3_LOAD 1ull
#define DATA3_STORE 2ull
#define DATA3_MISS (1ull << 7)
#define DATA3_LINEAR_VALID (1ull << 17)
#define KERNEL_HALF (1ull << 63)

static const char *why_not(const struct processor *p)
{
    uint64_t value;

    if (!p->amd || p->signature.family < FAMILY_LEAST)
        return "IBS is known of AMD's processors from family 17H on";
    if (!(x86_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_IBS) || !processor_has_leaf(LEAF_IBS) ||
        !(x86_cpuid(LEAF_IBS, 0).eax & IBS_EAX_VALID))
        return "CPUID does not have IBS, as in virtual machines";
    if (platform_msr_read(MSR_IBS_CTL, &value) || platform_msr_read(MSR_OP_CTL, &value) ||
        platform_msr_read(MSR_FETCH_CTL, &value))
        return "a register of IBS faults, whatever CPUID says";
    if (platform_msr_read(MSR_IBS_CTL, &value) || !(value & IBS_CTL_LVT_VALID))
        return "the firmware has given IBS no interrupt";
    return NULL;
}

void ibs_probe(struct ibs_caps *caps)
{
    struct processor processor;
    uint64_t control = 0;
    uint32_t features;

    processor_read(&processor);
    *caps = (struct ibs_caps){.missing = why_not(&processor)};
    if (caps->missing != NULL)
        return;
    features = x86_cpuid(LEAF_IBS, 0).eax;
    (void)platform_msr_read(MSR_IBS_CTL, &control);
    caps->fetch = features & IBS_EAX_FETCH;
    caps->op = features & IBS_EAX_OP;
    caps->counts_ops = features & IBS_EAX_OP_COUNT;
    caps->checks_ip = features & IBS_EAX_RIP_CHECK;
    caps->op_period_max = features & IBS_EAX_OP_WIDE ? 0x7fffff0u : 0xffff0u;
    caps->lvt = control & IBS_CTL_LVT;
}

static int ibs_begin(const struct ibs_caps *caps, uint32_t msr, uint64_t control)
{
    apic_write(APIC_LVT_EXTENDED + 0x10u * caps->lvt, LVT_NMI);
    return platform_msr_write(msr, control) != 0 ? -EIO : 0;
}

int ibs_op_start(const struct ibs_caps *caps, uint64_t period, bool by_ops)
{
    uint64_t units = period / IBS_PERIOD_UNIT;

    if (!caps->op || (by_ops && !caps->counts_ops) || period < IBS_PERIOD_MIN ||
        period > caps->op_period_max)
        return -EINVAL;
    return ibs_begin(caps, MSR_OP_CTL,
                     (units & OP_PERIOD_LOW) |
                         (units * IBS_PERIOD_UNIT & OP_PERIOD_HIGH) | /* in ops, not units */
                         (by_ops ? OP_BY_OPS : 0) | OP_ENABLE);
}

int ibs_fetch_start(const struct ibs_caps *caps, uint64_t period, bool jitter)
{
    if (!caps->fetch || period < IBS_PERIOD_MIN || period > IBS_FETCH_PERIOD_MAX)
        return -EINVAL;
    return ibs_begin(caps, MSR_FETCH_CTL,
                     period / IBS_PERIOD_UNIT | (jitter ? FETCH_RANDOM : 0) | FETCH_ENABLE);
}

void ibs_stop(const struct ibs_caps *caps)
{
    if (caps->op)
        x86_wrmsr(MSR_OP_CTL, 0);
    if (caps->fetch)
        x86_wrmsr(MSR_FETCH_CTL, 0);
}

static void read_op(struct hr_access *access)
{
    uint64_t data3 = x86_rdmsr(MSR_OP_DATA3);

    *access = (struct hr_access){0};
    if (!(data3 & (DATA3_LOAD | DATA3_STORE)))
        return;
    access->source = (data3 & UINT32_MAX) << 32 | (x86_rdmsr(MSR_OP_DATA2) & DATA2_SOURCE);
    if (data3 & DATA3_LINEAR_VALID)
        access->address = x86_rdmsr(MSR_DC_LINEAR);
    if (data3 & DATA3_LOAD && data3 & DATA3_MISS)
        access->latency = data3 >> 32 & 0xffff;
}

enum ibs_result ibs_op_take(const struct ibs_caps *caps, bool kernel, uint64_t *ip,
                            struct hr_access *access)
{
    uint64_t control = x86_rdmsr(MSR_OP_CTL);
    bool wanted;

    if (!(control & OP_VALID))
        return IBS_NOTHING;
    *ip = x86_rdmsr(MSR_OP_RIP);
    wanted = (kernel || !(*ip & KERNEL_HALF)) &&
             !(caps->checks_ip && x86_rdmsr(MSR_OP_DATA) & DATA_RIP_INVALID);
    if (wanted)
        read_op(access);
    x86_wrmsr(MSR_OP_CTL, (control & OP_KEPT) | OP_ENABLE); /* the count begins at 0 */
    return wanted ? IBS_SAMPLE : IBS_DROPPED;
}

enum ibs_result ibs_fetch_take(bool kernel, uint64_t *ip, struct hr_access *access)
{
    uint64_t control = x86_rdmsr(MSR_FETCH_CTL);
    bool wanted;

    if (!(control & FETCH_VALID))
        return IBS_NOTHING;
    *ip = x86_rdmsr(MSR_FETCH_LINEAR);
    wanted = kernel || !(*ip & KERNEL_HALF);
    if (wanted)
        *access = (struct hr_access){
            .address = *ip,
            .source = control >> 48 | IBS_SOURCE_FETCH,
            .latency = control & FETCH_COMPLETE ? control >> 32 & 0xffff : 0,
        };
    x86_wrmsr(MSR_FETCH_CTL, (control & FETCH_KEPT) | FETCH_ENABLE);
    return wanted ? IBS_SAMPLE : IBS_DROPPED;
}
