/* What KVM offers beyond a PC: a steal-time record, and EOIs without an exit.  Linux,
 * Documentation/virt/kvm/x86/msr.rst: MSR_KVM_STEAL_TIME, MSR_KVM_PV_EOI_EN. */
#pragma once

#include "drivers/apic/apic.h"
#include "guest/cpu/cpu.h"
#include "lib/trace/trace_slot.h"

/* Asks the hypervisor for both, if it has them, for the calling CPU.  Returns 0 or -ENOMEM.
 * Context: boot, on the CPU itself. */
int paravirt_prepare(struct cpu *cpu);

/* Counts stolen time from now on.  Called just before the program starts. */
void paravirt_start(struct cpu *cpu);

/* Returns the nanoseconds stolen since paravirt_start; 0 if the hypervisor does not count them. The
 * service CPU may ask too. */
uint64_t paravirt_stolen_ns(const struct cpu *cpu);

/* Less than STEAL_LEAST_NS is not reported until more has been stolen. */

/* True if a HR_REC_GAP is due for stolen time.  Context: any, on the CPU itself. */
static inline bool paravirt_steal_due(const struct cpu *cpu)
{
    return __builtin_expect(cpu->paravirt.steal != NULL, 0) &&
           cpu->paravirt.steal->ns - cpu->paravirt.steal_seen > STEAL_LEAST_NS;
}

/* Fills a slot with that record: the stolen time just before `now`, when it was noticed. */
void paravirt_steal_fill(struct cpu *cpu, struct trace_slot *slot, uint64_t now);

/* Replaces apic_eoi; saves an exit if KVM waits for no other EOI. */
static inline void paravirt_eoi(struct cpu *cpu)
{
    bool cleared;

    if (apic.registers != NULL) {
        apic_eoi();
        return;
    }
    /* one instruction: the hypervisor may take the bit away between two of them */
    __asm__ volatile("btrl $0, %0" : "+m"(cpu->paravirt.eoi_word), "=@ccc"(cleared)::"memory");
    if (!cleared)
        apic_eoi();
}
