/* KVM's registers for guests: see guest/cpu/paravirt.h. */
#include "guest/cpu/paravirt.h"

#include <errno.h>

#include "drivers/platform.h"
#include "guest/base/run.h"
#include "lib/x86.h"

/* Linux, Documentation/virt/kvm/x86/cpuid.rst and msr.rst */
#define KVM_WORD 0x4b4d564bu /* "KVMK" */
#define KVM_WORD2 0x564b4d56u /* "VMKV" */
#define KVM_WORD3 0x4du /* "M" */
#define KVM_FEATURES 0x40000001u
#define KVM_FEATURE_STEAL_TIME (1u << 5)
#define KVM_FEATURE_PV_EOI (1u << 6)
#define MSR_KVM_STEAL_TIME 0x4b564d03u
#define MSR_KVM_PV_EOI_EN 0x4b564d04u
#define KVM_ENABLE 1u /* in addition to the record's physical address */

/* Returns EAX of KVM's feature leaf.  Returns 0 without KVM, and if a firmware gets its memory
 * back, because KVM must not write to it then. */
static uint32_t paravirt_features(void)
{
    struct cpuid_result leaf;

    if (run.boot->entry == BOOT_ENTRY_UEFI || !(x86_cpuid(1, 0).ecx >> 31))
        return 0;
    leaf = x86_cpuid(0x40000000, 0);
    if (leaf.ebx != KVM_WORD || leaf.ecx != KVM_WORD2 || leaf.edx != KVM_WORD3)
        return 0;
    return x86_cpuid(KVM_FEATURES, 0).eax;
}

int paravirt_prepare(struct cpu *cpu)
{
    uint32_t offered = paravirt_features();
    void *memory;

    if (offered & KVM_FEATURE_PV_EOI)
        platform_msr_write(MSR_KVM_PV_EOI_EN,
                           platform_physical_address(&cpu->paravirt.eoi_word) | KVM_ENABLE);
    if (!(offered & KVM_FEATURE_STEAL_TIME))
        return 0;
    memory = platform_allocate(sizeof *cpu->paravirt.steal);
    if (memory == NULL)
        return -ENOMEM;
    if (platform_msr_write(MSR_KVM_STEAL_TIME, platform_physical_address(memory) | KVM_ENABLE) == 0)
        cpu->paravirt.steal = memory;
    return 0;
}

void paravirt_start(struct cpu *cpu)
{
    if (cpu->paravirt.steal != NULL)
        cpu->paravirt.steal_seen = cpu->paravirt.steal_start = cpu->paravirt.steal->ns;
}

uint64_t paravirt_stolen_ns(const struct cpu *cpu)
{
    return cpu->paravirt.steal != NULL ? cpu->paravirt.steal->ns - cpu->paravirt.steal_start : 0;
}

void paravirt_steal_fill(struct cpu *cpu, struct trace_slot *slot, uint64_t now)
{
    uint64_t ns = cpu->paravirt.steal->ns;
    uint64_t ticks = run_ns_to_ticks(ns - cpu->paravirt.steal_seen);

    cpu->paravirt.steal_seen = ns;
    slot->time = ticks < now - run.start_ticks ? now - ticks : run.start_ticks;
    slot->counters[0] = now;
    slot->counters[1] = HR_GAP_STEAL;
    slot->tid = cpu->tid;
    slot->kind = HR_REC_GAP;
}
