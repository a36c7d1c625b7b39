/* The kernel lock, and calls between workload CPUs. */
#include "guest/cpu/cross.h"

#include "drivers/apic/apic.h"
#include "guest/base/context.h"
#include "guest/memory/vm_table.h"
#include "lib/x86.h"

bool cross_several;
struct cross_hooks cross_hooks;

static bool held __attribute__((aligned(64)));

/* The last request.  Only the lock's holder writes it, after all CPUs that it asked have answered
 * the one before; what another CPU makes of it does not matter. */
static struct {
    uint64_t generation;
    uint64_t start;
    uint64_t end;
} flush __attribute__((aligned(64)));
static struct cpu *ender; /* the CPU that ends the run; NULL: none does */

void cross_lock_wait(struct cpu *cpu)
{
    while (__atomic_test_and_set(&held, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&held, __ATOMIC_RELAXED)) {
            cross_answer(cpu);
            if (cpu->ring == NULL) /* the holder may wait for room in its ring */
                cross_hooks.relieve();
            x86_pause();
        }
    }
    context_note_holder(cpu);
}

void cross_lock_give(void)
{
    context_note_holder(NULL);
    __atomic_clear(&held, __ATOMIC_RELEASE);
}

void cross_call(const struct cpu *cpu)
{
    apic_send(cpu->apic_id, VECTOR_ATTENTION);
}

/* What a sampler knows of the page tables is as old as what the processor knows. */
static void forget(struct cpu *cpu, uint64_t start, uint64_t end)
{
    vm_table_forget(start, end);
    cpu->frames.floor = CPU_NO_PAGE;
}

void cross_answer(struct cpu *cpu)
{
    uint64_t generation = __atomic_load_n(&flush.generation, __ATOMIC_ACQUIRE);
    const struct cpu *by = __atomic_load_n(&ender, __ATOMIC_ACQUIRE);

    if (cpu->cross.flushed != generation &&
        __atomic_load_n(&cpu->thread, __ATOMIC_ACQUIRE) != NULL) {
        forget(cpu, flush.start, flush.end);
        __atomic_store_n(&cpu->cross.flushed, generation, __ATOMIC_SEQ_CST);
    }
    if (by != NULL && by != cpu && cpu->ring != NULL)
        cross_hooks.stop(cpu);
}

void cross_catch_up(struct cpu *cpu)
{
    if (cpu->cross.flushed == flush.generation)
        return;
    forget(cpu, 0, UINT64_MAX);
    cpu->cross.flushed = flush.generation;
}

uint64_t cross_looks __attribute__((aligned(64)));

static void await_look(void)
{
    uint64_t look = __atomic_load_n(&cross_looks, __ATOMIC_SEQ_CST);

    while (look & 1 && __atomic_load_n(&cross_looks, __ATOMIC_ACQUIRE) == look)
        x86_pause();
}

/* A CPU without a thread needs no call: see cross_catch_up. */
static bool is_asked(const struct cpu *cpu, const struct cpu *self, const struct vm_space *space)
{
    return cpu != self && (space == NULL || cpu->space == space) &&
           __atomic_load_n(&cpu->thread, __ATOMIC_ACQUIRE) != NULL;
}

static void flush_others(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct cpu *self = cpu_this();

    if (!cross_several)
        return;
    flush.start = start;
    flush.end = end;
    __atomic_store_n(&flush.generation, flush.generation + 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 1; i < cpu_count; i++)
        if (is_asked(&cpus[i], self, space))
            cross_call(&cpus[i]);
    for (uint32_t i = 1; i < cpu_count; i++)
        while (is_asked(&cpus[i], self, space) &&
               __atomic_load_n(&cpus[i].cross.flushed, __ATOMIC_ACQUIRE) != flush.generation)
            x86_pause();
    await_look();
}

void cross_flush(const struct vm_space *space, uint64_t start, uint64_t end)
{
    cross_assert_held();
    forget(cpu_this(), start, end);
    flush_others(space, start, end);
}

void cross_stop_others(struct cpu *self)
{
    __atomic_store_n(&ender, self, __ATOMIC_SEQ_CST);
    for (uint32_t i = 1; i < cpu_count; i++)
        if (&cpus[i] != self && cpus[i].ring != NULL)
            cross_call(&cpus[i]);
    for (uint32_t i = 1; i < cpu_count; i++)
        while (&cpus[i] != self && cpus[i].ring != NULL &&
               !__atomic_load_n(&cpus[i].cross.stopped, __ATOMIC_ACQUIRE))
            x86_pause();
}
