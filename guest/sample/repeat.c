/* Begins and ends the timer's periodic mode. */
#include "guest/sample/repeat.h"

#include "guest/base/layout.h"
#include "lib/x86.h"

#define PERIOD_MAX 0x7fffffff /* as of apic_timer_arm */

struct repeat repeat;

/* Takes `ticks` instructions more than with 0. */
static void wait_ticks(uint64_t ticks)
{
    uint64_t turns = ticks / 2 + 1;

    __asm__ volatile("testb $1, %b1\n\t"
                     "jz 1f\n\t"
                     "nop\n"
                     "1: decq %0\n\t"
                     "jnz 1b"
                     : "+r"(turns)
                     : "q"(ticks)
                     : "cc");
}

bool repeat_begin(struct cpu *cpu, uint64_t late)
{
    uint64_t period = sampling.interval_ticks + repeat.handler;

    if (repeat.handler == 0 || late || cpu->trigger.attention_due <= cpu->trigger.next_due ||
        period > PERIOD_MAX)
        return false;
    apic_eoi();
    cpu->trigger.repeats_at = x86_rdtsc() + repeat.lag + period;
    apic_timer_arm((int64_t)period - 1); /* QEMU's periods are a count longer */
    apic_timer_repeat(VECTOR_TIMER, true);
    wait_ticks(repeat.wait);
    return true;
}

void repeat_end_mode(struct cpu *cpu)
{
    repeat.missed = cpu->clock.enter_ticks - cpu->trigger.repeats_at;
    cpu->trigger.repeats_at = 0;
    apic_timer_repeat(VECTOR_TIMER, false);
}
