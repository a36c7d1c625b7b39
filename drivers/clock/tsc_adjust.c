/* Reads and sets IA32_TSC_ADJUST. */
#include "drivers/clock/tsc_adjust.h"

#include "drivers/platform.h"
#include "lib/x86.h"

#define MSR_TSC_ADJUST 0x3bu
#define CPUID_1_ECX_HYPERVISOR (1u << 31)
#define CPUID_7_EBX_TSC_ADJUST (1u << 1)

void tsc_adjust_read(struct tsc_adjust *own)
{
    *own = (struct tsc_adjust){.known = false};
    if (x86_cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR || x86_cpuid(0, 0).eax < 7 ||
        !(x86_cpuid(7, 0).ebx & CPUID_7_EBX_TSC_ADJUST) ||
        platform_msr_read(MSR_TSC_ADJUST, &own->found))
        return;
    own->value = own->found;
    own->known = true;
}

void tsc_adjust_follow(struct tsc_adjust *own, const struct tsc_adjust *reference)
{
    if (!own->known || !reference->known || own->value == reference->value)
        return;
    own->apart = true;
    if (platform_msr_write(MSR_TSC_ADJUST, reference->value))
        return;
    own->value = reference->value;
    own->corrected = true;
}

uint64_t tsc_adjust_distance(const struct tsc_adjust *own, const struct tsc_adjust *reference)
{
    int64_t ahead = (int64_t)(own->found - reference->value);

    return ahead < 0 ? 0 - (uint64_t)ahead : (uint64_t)ahead;
}

void tsc_adjust_restore(struct tsc_adjust *own)
{
    if (own->corrected)
        platform_msr_write(MSR_TSC_ADJUST, own->found);
    own->corrected = false;
}
