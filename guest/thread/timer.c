/* Timers of the kernel: a list on each workload CPU, whose local APIC's timer serves it. */
#include "guest/thread/timer.h"

#include "guest/base/context.h"
#include "guest/cpu/cpu.h"
#include "guest/thread/schedule.h"
#include "guest/thread/timer_list.h"

static uint32_t set_count;

uint32_t timer_count(void)
{
    return set_count;
}

void timer_set(struct timer *timer, uint64_t due)
{
    struct cpu *cpu = cpu_this();

    cross_assert_held();
    timer_cancel(timer);
    timer->due = due < CPU_NEVER ? due : CPU_NEVER - 1;
    timer->cpu = cpu;
    timer_list_add(&cpu->schedule.timers, timer);
    set_count += !timer->background;
    if (cpu->schedule.timers == timer)
        schedule_update_attention(cpu);
}

/* If this was another CPU's earliest timer, that CPU still gets one interrupt, and finds nothing
 * due. */
void timer_cancel(struct timer *timer)
{
    cross_assert_held();
    if (timer->cpu == NULL)
        return;
    timer_list_remove(&timer->cpu->schedule.timers, timer);
    timer->cpu = NULL;
    set_count -= !timer->background;
}

/* A timer set by `expire` that is due already waits for the next call: so the loop ends. */
void timer_expire(struct cpu *cpu, uint64_t now)
{
    uint32_t due = 0;

    cross_assert_held();
    for (const struct timer *t = cpu->schedule.timers; t != NULL && t->due <= now; t = t->next)
        due++;
    cpu->schedule.expiring = true;
    while (due-- && cpu->schedule.timers != NULL && cpu->schedule.timers->due <= now) {
        struct timer *timer = cpu->schedule.timers;

        timer_cancel(timer);
        timer->expire(timer);
    }
    cpu->schedule.expiring = false;
}
