/* The timer's part of sampling: from its interrupt in ring 3 to the next one. */
#include "guest/sample/sampler.h"
#include "drivers/apic/apic.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/entry.h"
#include "guest/cpu/paravirt.h"
#include "guest/sample/repeat.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/sample/share.h"

bool sampler_paused;
void (*sampler_drain)(struct cpu *cpu);

/* Ticks from arming the timer to ring 3 in shared mode, where they are off the workload clock.  If
 * it is too large, samples are late; if too small, the timer would always fire before the program
 * executed anything.  So it starts too large, and calibration in virtual time trims it to the exact
 * value. */
static int64_t arm_lead_ticks;

/* arm_lead_ticks after an interrupt that took a call stack.  The two differ so that taking stacks
 * changes no sample's time. */
static int64_t arm_lead_stacks_ticks;

static inline uint64_t first_due(const struct cpu *cpu)
{
    return cpu->trigger.next_due < cpu->trigger.attention_due ? cpu->trigger.next_due
                                                              : cpu->trigger.attention_due;
}

/* Returns the time to whichever is due first.  In shared mode the workload clock stands until ring
 * 3, at `from` and the way there. */
static inline int64_t until_due(const struct cpu *cpu, uint64_t from)
{
    if (cpu->clock.stop_mask)
        return (int64_t)(first_due(cpu) - from);
    return (int64_t)(first_due(cpu) - x86_rdtsc());
}

/* Arms the timer if anything is due: too early, because ways to ring 3 from here differ.  The
 * interrupt finds that, and arms it again with its own lead. */
static void arm_if_needed(struct cpu *cpu, uint64_t now)
{
    if (cpu->trigger.next_due >= CPU_NEVER && cpu->trigger.attention_due >= CPU_NEVER)
        return;
    repeat_end(cpu);
    apic_timer_arm(until_due(cpu, now));
}

void sampler_set_attention(struct cpu *cpu, uint64_t due)
{
    bool sooner = due < cpu->trigger.next_due && due < cpu->trigger.attention_due;

    cpu->trigger.attention_due = due;
    if (sooner && !cpu->clock.stopped_at) { /* otherwise sampler_resume comes */
        repeat_end(cpu);
        apic_timer_arm((int64_t)(due - clock_now(cpu)));
    }
}

void sampler_set_lead(int64_t ticks)
{
    arm_lead_ticks = arm_lead_stacks_ticks = ticks;
}

void sampler_trim(int64_t late_ticks, bool stacks)
{
    *(stacks ? &arm_lead_stacks_ticks : &arm_lead_ticks) -= late_ticks;
}

/* Handles an interrupt before anything is due.  Either the timer was armed before the workload
 * clock stood still, or it was armed again while this interrupt was pending.  In the second case it
 * still runs: if it expired in here, each interrupt would find the next one pending, and the
 * program would make no progress.  So puts the timer off, and returns true if it had expired
 * already.  Or nothing is awaited at all: then stops the timer and returns true. */
static bool leave_timer(const struct cpu *cpu)
{
    if (cpu->trigger.next_due >= CPU_NEVER && cpu->trigger.attention_due >= CPU_NEVER) {
        apic_timer_stop();
        return true;
    }
    apic_timer_arm(INT32_MAX);
    return apic_pending(VECTOR_TIMER);
}

/* Moves to the next grid point after `now`.  Counts those that passed while the program ran, and
 * not the kernel for it, as skipped because samples cost too much. */
static void move_on(struct cpu *cpu, uint64_t now)
{
    uint64_t due = cpu->trigger.next_due, passed;

    cpu->trigger.next_due = sample_next_due(due, now);
    if (!sampling.share_factor || !share_was_running(cpu, due))
        return;
    passed = (cpu->trigger.next_due - due) / sampling.interval_ticks - 1;
    if (passed)
        share_skip(cpu, passed, cpu->trigger.next_due - sampling.interval_ticks);
}

/* After a sample, if one was taken: gives the program its share of the time before the next. */
static inline void keep_share(struct cpu *cpu)
{
    if (cpu->trigger.next_due == cpu->share.due)
        return;
    share_took(cpu, cpu->share.due, cpu->clock.stop_mask);
    if (paravirt_steal_due(cpu))
        sampler_record_steal(cpu);
    share_next_due(cpu);
}

/* Has the handler return to trap_attention, and that to ring 3: an interrupt that the CPU sent to
 * itself would have three more exits of a virtual machine.  What the entry saved ends at the
 * frame's `ip`; below it is the handler's return address. */
static void attend_after(const uint64_t *ip, bool saved)
{
    uint64_t bytes = saved ? offsetof(struct trap_frame, rip) : offsetof(struct irq_frame, rip);
    uint64_t *return_to = (uint64_t *)((uint64_t)ip - bytes) - 1;

    *return_to = (uint64_t)cpu_attend[saved];
}

/* Handles an interrupt off the grid, or one that finds no room.  Returns false if the timer must
 * not be armed. */
static __attribute__((noinline)) bool interrupt_off_grid(struct cpu *cpu, uint64_t now,
                                                         const uint64_t *ip, bool saved)
{
    int64_t late = (int64_t)(now - cpu->trigger.next_due);

    bool attention = now >= cpu->trigger.attention_due;

    repeat_end(cpu);
    if (attention) { /* also with a late sample: every one may be late */
        cpu->trigger.attention_due = CPU_NEVER;
        attend_after(ip, saved);
    }
    if (late < 0) {
        cpu->activity.interruptions += !attention && !cpu->clock.stop_mask; /* or when that comes */
        return attention ? cpu->trigger.next_due < CPU_NEVER : !leave_timer(cpu);
    }
    sampler_take(cpu, now, *ip, (uint64_t)late > sampling.interval_ticks / 2 ? HR_SAMPLE_LATE : 0);
    move_on(cpu, now);
    return true;
}

/* Ends an interrupt in which a sample was taken.  Calls that are not the last thing that a handler
 * does would make it save registers, so this one is.  It is a function also because all ways to
 * ring 3 from where the timer is armed must take the same time. */
static __attribute__((noinline)) void interrupt_end(struct cpu *cpu, uint64_t from)
{
    int64_t ticks = until_due(cpu, from);

    if (apic_eoi_and_arm(ticks))
        return;
    paravirt_eoi(cpu);
    apic_timer_arm(ticks);
}

/* Ends one after a sample without a stack, where the next interrupt does not come by itself. */
static __attribute__((noinline)) void interrupt_end_single(struct cpu *cpu, uint64_t now,
                                                           uint64_t late)
{
    repeat_end(cpu);
    if (!repeat_begin(cpu, late))
        interrupt_end(cpu, now - (uint64_t)arm_lead_ticks);
}

/* Ends one after a sample without a stack. */
static __attribute__((noinline)) void interrupt_end_plain(struct cpu *cpu, uint64_t now,
                                                          uint64_t late)
{
    if (repeat_on_time(cpu, late))
        apic_eoi();
    else
        interrupt_end_single(cpu, now, late);
}

/* Ends one where the program's share is to be kept. */
static __attribute__((noinline)) void interrupt_end_shared(struct cpu *cpu, int64_t lead_ticks)
{
    paravirt_eoi(cpu);
    keep_share(cpu);
    apic_timer_arm(until_due(cpu, clock_entered(cpu) - (uint64_t)lead_ticks));
}

/* Ends one after a sample, where the next one may have to wait. */
static __attribute__((noinline)) void interrupt_end_later(struct cpu *cpu)
{
    if (paravirt_steal_due(cpu))
        sampler_record_steal(cpu);
    share_next_due(cpu);
    apic_timer_arm_at(first_due(cpu));
}

/* interrupt_end_shared after a sample on the grid, which mostly leaves the program its share. */
static __attribute__((noinline)) void interrupt_end_kept(struct cpu *cpu, int64_t lead_ticks)
{
    if (__builtin_expect(cpu->clock.stop_mask != 0, 0)) {
        interrupt_end_shared(cpu, lead_ticks);
        return;
    }
    paravirt_eoi(cpu);
    share_took(cpu, cpu->share.due, false);
    if (__builtin_expect((int64_t)(cpu->share.not_before - cpu->trigger.next_due) > 0 ||
                             paravirt_steal_due(cpu),
                         0)) {
        interrupt_end_later(cpu);
        return;
    }
    cpu->share.due = cpu->trigger.next_due;
    apic_timer_arm_at(first_due(cpu));
}

static __attribute__((noinline)) void
interrupt_rare(struct cpu *cpu, uint64_t now, const uint64_t *ip, bool saved, int64_t lead_ticks)
{
    if (!interrupt_off_grid(cpu, now, ip, saved))
        paravirt_eoi(cpu);
    else if (sampling.share_factor)
        interrupt_end_shared(cpu, lead_ticks);
    else
        interrupt_end(cpu, clock_entered(cpu) - (uint64_t)lead_ticks);
}

/* `frame`: all registers; NULL without call stacks. */
static inline __attribute__((always_inline)) void
interrupt(const uint64_t *ip, const struct trap_frame *frame, const int64_t *lead_ticks)
{
    struct cpu *cpu = cpu_this();
    uint64_t now = clock_entered(cpu);
    uint64_t late = now - cpu->trigger.next_due;

    if (__builtin_expect(late + late > sampling.interval_ticks || !ring_has_room(cpu->ring), 0)) {
        interrupt_rare(cpu, now, ip, frame != NULL, *lead_ticks);
        return;
    }
    cpu->trigger.next_due += sampling.interval_ticks;
    sampler_fill(cpu, now, &cpu->clock.enter_ticks, *ip, 0, frame);
    if (__builtin_expect(sampling.share_factor != 0, 0))
        interrupt_end_kept(cpu, *lead_ticks);
    else if (frame == NULL)
        interrupt_end_plain(cpu, now, late);
    else
        interrupt_end(cpu, now - (uint64_t)*lead_ticks);
}

void sampler_interrupt(struct irq_frame *frame)
{
    interrupt(&frame->rip, NULL, &arm_lead_ticks);
}

void sampler_interrupt_saved(struct trap_frame *frame)
{
    interrupt(&frame->rip, frame, &arm_lead_stacks_ticks);
}

/* The timer fired while a workload CPU waited in the kernel: sampler_resume arms it again, or
 * sampler_rearm. */
void sampler_interrupt_in_kernel(struct irq_frame *)
{
    struct cpu *cpu = cpu_this();

    cpu->trigger.timer_missed = true;
    if (cpu->trigger.repeats_at) { /* each further one would end the wait, too */
        repeat_end(cpu);
        apic_timer_stop();
    }
    paravirt_eoi(cpu);
}

void sampler_rearm(struct cpu *cpu)
{
    if (!cpu->trigger.timer_missed)
        return;
    cpu->trigger.timer_missed = false;
    arm_if_needed(cpu, clock_entered(cpu)); /* nothing after it was on the workload clock */
}

void sampler_start(struct cpu *cpu, uint64_t now)
{
    cpu->trigger.next_due = sampling.trigger->timer && !cpu->trigger.paused ? now : CPU_NEVER;
    sampler_resume(cpu, now);
}

void sampler_resume(struct cpu *cpu, uint64_t now)
{
    if ((int64_t)(now - cpu->trigger.next_due) >= 0)
        cpu->trigger.next_due = sample_next_due(cpu->trigger.next_due, now);
    sampler_continue(cpu, now);
}

void sampler_continue(struct cpu *cpu, uint64_t now)
{
    if (sampling.share_factor)
        share_next_due(cpu);
    cpu->trigger.timer_missed = false;
    arm_if_needed(cpu, now);
}

void sampler_follow(struct cpu *cpu, uint64_t now)
{
    if (sampler_paused == cpu->trigger.paused)
        return;
    if (sampler_paused)
        sampler_pause(cpu);
    else
        sampler_unpause(cpu, now - (now - run.start_ticks) % sampling.interval_ticks);
}

void sampler_leave(struct cpu *cpu, uint64_t now, uint64_t ip)
{
    uint64_t late = now - cpu->trigger.next_due, start = x86_rdtsc();

    if ((int64_t)late < 0)
        return;
    if (ring_has_room(cpu->ring) || sampler_make_room(cpu, now))
        sampler_fill(cpu, now, &start, ip, late > sampling.interval_ticks / 2 ? HR_SAMPLE_LATE : 0,
                     stack_frame(cpu));
    cpu->trigger.next_due = sample_next_due(cpu->trigger.next_due, now);
    if (sampling.share_factor)
        keep_share(cpu);
}

void sampler_rest(void)
{
    apic_timer_stop();
}

void sampler_set_paused(bool paused)
{
    sampler_paused = paused;
    run_state.after_call.paused = true;
}

void sampler_pause(struct cpu *cpu)
{
    cpu->trigger.paused = true;
    cpu->trigger.next_due = CPU_NEVER; /* a pending one will count as early */
    sampling.trigger->pause(cpu);
}

void sampler_unpause(struct cpu *cpu, uint64_t now)
{
    cpu->trigger.paused = false;
    sampling.trigger->resume(cpu, now);
}
