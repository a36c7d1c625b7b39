/* Sampling on a workload CPU: by timer here, by counter overflow in guest/sample/overflow.h.
 * Context: interrupts off. */
#ifndef GUEST_SAMPLE_SAMPLER_H
#define GUEST_SAMPLE_SAMPLER_H

#include "guest/cpu/cpu.h"
#include "lib/trace/trace_slot.h"

/* Shared mode: the function that empties a CPU's ring into the trace; set at boot. */
extern void (*sampler_drain)(struct cpu *cpu);

/* The program has paused the trigger.  Each CPU follows when it next enters the kernel. */
extern bool sampler_paused;
void sampler_set_paused(bool paused);

/* In timer mode, sets the first sample one interval after `now` and arms the timer. */
void sampler_start(struct cpu *cpu, uint64_t now);

/* Arm the timer again: sampler_resume after a time in which the thread did not run, whose grid
 * points it skips; sampler_continue after the workload clock stood still.  A point that was due
 * before that is sampled at the return to ring 3, or by sampler_leave. */
void sampler_resume(struct cpu *cpu, uint64_t now);
void sampler_continue(struct cpu *cpu, uint64_t now);

/* Has the timer interrupt at `due` too, and attention follow (guest/thread/schedule.h). */
void sampler_set_attention(struct cpu *cpu, uint64_t due);

/* sampler_follow: a CPU that was idle begins to run a thread; pauses or resumes its trigger if the
 * program asked for that while it was idle.  sampler_rest: a CPU becomes idle; stops its timer. */
void sampler_follow(struct cpu *cpu, uint64_t now);
void sampler_rest(void);

/* A thread leaves its CPU inside a system call made at `ip`: takes the sample that the return from
 * the call would have taken. */
void sampler_leave(struct cpu *cpu, uint64_t now, uint64_t ip);

/* Shared mode, after service work with the timer armed: arms it again if it fired during a halt. */
void sampler_rearm(struct cpu *cpu);

/* Stops this CPU's trigger until sampler_unpause; the counters keep counting. */
void sampler_pause(struct cpu *cpu);
void sampler_unpause(struct cpu *cpu, uint64_t now);

/* Asks every other CPU that runs a thread to sample itself now (HR_SAMPLE_POLLED).  Does not wait.
 */
void sampler_ask_all(struct cpu *self);

/* The observer: asks `cpu` to sample itself for grid point `due`, which is not 0.  Skips a CPU that
 * has not yet answered the last request. */
void sampler_ask(struct cpu *cpu, uint64_t due);

/* Starts a record that is not a sample: returns a slot with time, tid and kind set and all else
 * zero. Makes room by service work (shared mode) or by waiting for the service CPU, so it never
 * fails. sampling.trigger->close publishes the slot.  Context: thread. */
struct trace_slot *sampler_record(struct cpu *cpu, enum hr_record_type kind, uint64_t time);

/* Records the call stack at `frame` like a sample without counters, which no reader counts; flags:
 * HR_SAMPLE_WAITING or HR_SAMPLE_CALLED.  Context: as sampler_record, where samples have stacks. */
void sampler_record_stack(struct cpu *cpu, uint64_t time, const struct trap_frame *frame,
                          uint8_t flags);

/* Shared mode: sets how much later the timer is armed, to allow for the way to ring 3.  Called
 * before calibration with a value that is certainly enough, and on real hardware after it with the
 * measured one. */
void sampler_set_lead(int64_t ticks);

/* Calibration: samples came `late_ticks` after the grid, so arms the timer that much earlier: after
 * samples with call stacks if `stacks`, otherwise in all other places. */
void sampler_trim(int64_t late_ticks, bool stacks);

#endif
