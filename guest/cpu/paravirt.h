/* What KVM offers beyond a PC: its steal-time record, and ends of interrupts without an exit.
 * Linux, Documentation/virt/kvm/x86/msr.rst: MSR_KVM_STEAL_TIME, MSR_KVM_PV_EOI_EN.
 */
#ifndef GUEST_CPU_PARAVIRT_H
#define GUEST_CPU_PARAVIRT_H

#include "drivers/apic/apic.h"
#include "guest/cpu/cpu.h"
#include "lib/trace_slot.h"

/* Asks a hypervisor that has them for both, for the calling CPU.  Boot, on the CPU itself; -ENOMEM.
 */
int paravirt_prepare(struct cpu *cpu);

/* What is stolen up to now is not the program's loss.  Just before the program starts. */
void paravirt_start(struct cpu *cpu);

/* Since steal_start, in ns; the service CPU may ask too.  0 where nobody counts it. */
uint64_t paravirt_stolen_ns(const struct cpu *cpu);

#define STEAL_LEAST_NS 5000u /* less waits until there is more */

/* Is a HR_REC_GAP due for what was stolen?  Any context on the CPU itself. */
static inline bool paravirt_steal_due(const struct cpu *cpu)
{
    return __builtin_expect(cpu->paravirt.steal != NULL, 0) &&
           cpu->paravirt.steal->ns - cpu->paravirt.steal_seen > STEAL_LEAST_NS;
}

/* Fills a slot with that record: the time before `now`, when the program was found to be late. */
void paravirt_steal_fill(struct cpu *cpu, struct trace_slot *slot, uint64_t now);

/* In place of apic_eoi: an exit less where KVM waits for no other EOI. */
static inline void paravirt_eoi(struct cpu *cpu)
{
    bool cleared;

    if (apic.registers) {
        apic_eoi();
        return;
    }
    /* one instruction: the hypervisor may take the bit away between two of them */
    __asm__ volatile("btrl $0, %0" : "+m"(cpu->paravirt.eoi_word), "=@ccc"(cleared)::"memory");
    if (!cleared)
        apic_eoi();
}

#endif
