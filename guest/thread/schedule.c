/* Gives CPUs to threads: the queue, slices, idle CPUs. */
#include "guest/base/context.h"
#include "guest/thread/process.h"
#include "guest/thread/schedule_switch.h"

#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/sample/sampler.h"
#include "guest/service/service.h"
#include "guest/thread/idle.h"
#include "guest/thread/pages.h"
#include "guest/thread/run_queue.h"
#include "guest/thread/threads.h"
#include "guest/thread/timer.h"
#include "guest/thread/translations.h"
#include "guest/thread/wait_record.h"
#include "lib/x86.h"

#define SLICE_STEP_NS 7919u
#define SLICE_VARIATION_NS 400000u

struct schedule_outside schedule_outside;
static struct run_queue queue;
static uint32_t waiting_count; /* threads that wait */

static bool may_use(const struct thread *thread, const struct cpu *cpu)
{
    return thread->schedule.allowed_cpus >> run_program_cpu(cpu->index) & 1;
}

static struct thread *first_in_queue(const struct cpu *cpu)
{
    return queue.first != NULL ? run_queue_first(&queue, run_program_cpu(cpu->index)) : NULL;
}

/* ---- what is due ---- */

void schedule_update_attention(struct cpu *cpu)
{
    uint64_t due = cpu->schedule.slice_end;

    if (cpu->schedule.timers != NULL && cpu->schedule.timers->due < due)
        due = cpu->schedule.timers->due;
    if (cpu->schedule.flush_due < due)
        due = cpu->schedule.flush_due;
    if (pages_due < due)
        due = pages_due;
    sampler_set_attention(cpu, due);
}

/* With several processes slices differ a little.  Otherwise a loop that releases a lock only for
 * the time of one system call could stay in step with its slices, so that no other thread
 * gets the lock. */
static uint64_t slice_ns(void)
{
    static uint32_t turn;

    return process_count() > 1 ? SCHEDULE_SLICE_NS + turn++ * SLICE_STEP_NS % SLICE_VARIATION_NS
                               : SCHEDULE_SLICE_NS;
}

void schedule_begin_slice(struct cpu *cpu, uint64_t now)
{
    cpu->schedule.slice_end =
        first_in_queue(cpu) != NULL ? now + run_ns_to_ticks(slice_ns()) : CPU_NEVER;
    schedule_update_attention(cpu);
}

bool schedule_stuck(void)
{
    return waiting_count == threads_count() && timer_count() == 0 && !schedule_outside.awaited();
}

/* Takes the thread that this CPU runs next off the queue; NULL: none. */
static struct thread *schedule_take(struct cpu *cpu)
{
    struct thread *thread = cpu->schedule.assigned;

    if (thread != NULL) {
        cpu->schedule.assigned = NULL;
        return thread;
    }
    thread = first_in_queue(cpu);
    if (thread != NULL)
        run_queue_remove(&queue, thread);
    return thread;
}

/* ---- threads that can run ---- */

static bool schedule_idle(const struct cpu *cpu)
{
    return cpu->ring != NULL && cpu->thread == NULL && cpu->schedule.assigned == NULL;
}

static struct cpu *idle_cpu_for(const struct thread *thread)
{
    if (schedule_idle(thread->schedule.cpu) && may_use(thread, thread->schedule.cpu))
        return thread->schedule.cpu;
    for (uint32_t i = 0; i < cpu_count; i++)
        if (schedule_idle(&cpus[i]) && may_use(thread, &cpus[i]))
            return &cpus[i];
    return NULL;
}

/* Makes the CPUs that could run the thread take slices from now on. */
static void want_slices(const struct thread *thread)
{
    struct cpu *self = cpu_this();

    for (uint32_t i = 0; i < cpu_count; i++) {
        struct cpu *cpu = &cpus[i];

        if (cpu->thread == NULL || cpu->schedule.slice_end != CPU_NEVER || !may_use(thread, cpu))
            continue;
        if (cpu == self)
            schedule_begin_slice(cpu, clock_now(cpu));
        else
            cross_call(cpu);
    }
}

static void schedule_place(struct thread *thread)
{
    struct cpu *cpu = idle_cpu_for(thread);

    thread->schedule.state = THREAD_QUEUED;
    if (cpu == NULL) {
        run_queue_add(&queue, thread);
        want_slices(thread);
        return;
    }
    cpu->schedule.assigned = thread;
    thread->schedule.cpu = cpu;
    if (cpu != cpu_this())
        cross_call(cpu);
}

void schedule_look(struct cpu *cpu)
{
    if (cpu->schedule.slice_end == CPU_NEVER)
        schedule_begin_slice(cpu, clock_now(cpu));
}

void schedule_first(struct thread *thread, struct cpu *cpu)
{
    thread->schedule.cpu = cpu;
    thread->schedule.state = THREAD_QUEUED;
    cpu->schedule.assigned = thread;
}

void schedule_ready(struct thread *thread)
{
    struct cpu *cpu = cpu_this();

    cross_assert_held();
    if (thread->schedule.state == THREAD_WAITING) {
        waiting_count--;
        thread->schedule.woken_at = clock_now(cpu);
    }
    thread->schedule.waker_tid = cpu->schedule.expiring ? 0 : cpu->tid;
    cpu->activity.wakeups += thread->schedule.waker_tid != 0;
    schedule_place(thread);
}

void schedule_move(struct thread *thread)
{
    struct cpu *cpu = thread->schedule.cpu;

    cross_assert_held();
    if (thread->schedule.state == THREAD_RUNNING && !may_use(thread, cpu)) {
        if (cpu == cpu_this())
            schedule_yield(thread);
        else
            cross_call(cpu);
    } else if (thread->schedule.state == THREAD_QUEUED) {
        if (cpu->schedule.assigned == thread)
            cpu->schedule.assigned = NULL;
        else
            run_queue_remove(&queue, thread);
        schedule_place(thread);
    }
}

/* ---- threads that stop ---- */

static void note_idle(struct cpu *cpu, const struct thread *thread, enum hr_gap_reason reason)
{
    cpu->schedule.idle_since = clock_stopped_time(cpu);
    cpu->schedule.idle_tid = thread->tid;
    cpu->schedule.idle_reason = reason;
}

void schedule_block(struct thread *thread, enum hr_gap_reason reason, const char *what)
{
    struct cpu *cpu = thread->schedule.cpu;
    struct thread *next;

    context_assert_thread();
    schedule_stop(cpu);
    thread->schedule.state = THREAD_WAITING;
    thread->wait.what = what;
    if (run.waits)
        wait_record(cpu, thread);
    waiting_count++;
    if (schedule_stuck())
        threads_deadlock(what);
    next = schedule_take(cpu);
    if (next == NULL)
        note_idle(cpu, thread, reason);
    schedule_switch_to(cpu, next, HR_SWITCH_BLOCK);
    schedule_go_on(cpu_this());
}

/* Lets queued threads run first.  Call after schedule_stop(). */
static void step_aside(struct cpu *cpu, struct thread *thread, enum hr_switch_reason reason)
{
    struct thread *next = schedule_take(cpu);

    if (next == NULL && may_use(thread, cpu))
        return;
    if (next == NULL)
        note_idle(cpu, thread, HR_GAP_WAIT);
    schedule_place(thread);
    schedule_switch_to(cpu, next, reason);
}

void schedule_yield(struct thread *thread)
{
    struct cpu *cpu = thread->schedule.cpu;

    context_assert_thread();
    if (may_use(thread, cpu) && first_in_queue(cpu) == NULL)
        return;
    schedule_stop(cpu);
    step_aside(cpu, thread, HR_SWITCH_YIELD);
    schedule_go_on(cpu_this());
}

struct cpu *schedule_attend(struct cpu *cpu)
{
    struct thread *thread = cpu->thread;
    uint64_t now;

    cpu->clock.stopped_at = cpu->clock.enter_ticks;
    service_hold_counters(cpu);
    now = clock_stopped_time(cpu);
    timer_expire(cpu, now);
    translations_attend(cpu, now);
    pages_attend(cpu, now);
    if (!may_use(thread, cpu) || (now >= cpu->schedule.slice_end && first_in_queue(cpu) != NULL))
        step_aside(cpu, thread, HR_SWITCH_SLICE);
    else if (now >= cpu->schedule.slice_end || cpu->schedule.slice_end == CPU_NEVER)
        schedule_begin_slice(cpu, now);
    else
        schedule_update_attention(cpu);
    return cpu_this();
}

void schedule_exit(struct thread *thread)
{
    struct cpu *cpu = thread->schedule.cpu;
    struct thread *next;

    threads_remove(thread);
    schedule_stop(cpu);
    if (schedule_stuck())
        threads_deadlock("the last running thread ended");
    cpu->schedule.dead = thread;
    next = schedule_take(cpu);
    if (next == NULL)
        note_idle(cpu, thread, HR_GAP_WAIT);
    schedule_switch_to(cpu, next, HR_SWITCH_EXIT);
    __builtin_unreachable();
}

bool schedule_run_next(struct cpu *cpu)
{
    struct thread *next = schedule_take(cpu);

    if (next == NULL)
        return false;
    if (!run.shared) {
        x86_take_interrupts(); /* take pending calls now: they would disturb the thread */
        schedule_stop(cpu);
    }
    cross_catch_up(cpu);
    idle_ends(cpu, clock_stopped_time(cpu));
    sampler_follow(cpu, clock_stopped_time(cpu));
    schedule_switch_to(cpu, next, next->schedule.started ? HR_SWITCH_WAKE : HR_SWITCH_START);
    cpu->schedule.slice_end = CPU_NEVER;
    sampler_rest();
    return true;
}
