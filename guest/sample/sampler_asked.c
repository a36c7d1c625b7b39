/* Samples that other CPUs ask for: the observer, or a program that polls all. */
#include "drivers/apic/apic.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/entry.h"
#include "guest/cpu/paravirt.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/sample/share.h"

void sampler_ask(struct cpu *cpu, uint64_t due)
{
    uint64_t none = 0;

    if (!__atomic_load_n(&cpu->cross.running, __ATOMIC_ACQUIRE) || cpu->trigger.paused ||
        !share_may_ask(cpu, due))
        return;
    if (__atomic_compare_exchange_n(&cpu->ask.due, &none, due, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
        apic_send(cpu->apic_id, VECTOR_SAMPLE);
    else
        share_skip(cpu, 1, due);
}

void sampler_ask_all(struct cpu *self)
{
    for (uint32_t i = 1; i < cpu_count; i++) {
        struct cpu *cpu = &cpus[i];

        if (cpu != self && __atomic_load_n(&cpu->cross.running, __ATOMIC_ACQUIRE) &&
            !__atomic_exchange_n(&cpu->ask.polled, true, __ATOMIC_SEQ_CST))
            apic_send(cpu->apic_id, VECTOR_SAMPLE);
    }
}

/* If the interrupt was pending while this CPU was in the kernel, the sample is late. */
static void asked(uint64_t ip)
{
    struct cpu *cpu = cpu_this();
    uint64_t now = clock_entered(cpu);
    uint64_t due = __atomic_load_n(&cpu->ask.due, __ATOMIC_ACQUIRE);

    paravirt_eoi(cpu);
    if (due && !cpu->trigger.paused && (int64_t)(now - due) >= 0) {
        sampler_take(cpu, now, ip, now - due > sampling.interval_ticks / 2 ? HR_SAMPLE_LATE : 0);
        share_took(cpu, due, cpu->clock.stop_mask);
        sampler_record_steal(cpu);
    }
    if (due)
        __atomic_store_n(&cpu->ask.due, 0, __ATOMIC_SEQ_CST); /* the observer may ask again */
    if (__atomic_exchange_n(&cpu->ask.polled, false, __ATOMIC_SEQ_CST))
        sampling.trigger->poll(cpu, ip, 0);
}

void sampler_asked(struct irq_frame *frame)
{
    asked(frame->rip);
}

void sampler_asked_saved(struct trap_frame *frame)
{
    asked(frame->rip);
}

/* Ends a request that arrives when this CPU's thread is already waiting: takes no sample. */
void sampler_asked_in_kernel(struct irq_frame *)
{
    struct cpu *cpu = cpu_this();

    paravirt_eoi(cpu);
    __atomic_store_n(&cpu->ask.due, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&cpu->ask.polled, false, __ATOMIC_SEQ_CST);
}
