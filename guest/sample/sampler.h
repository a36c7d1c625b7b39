/* Sampling on a workload CPU: by timer here, by counter overflow in guest/sample/overflow.h.
 * Interrupts off. */
#ifndef GUEST_SAMPLE_SAMPLER_H
#define GUEST_SAMPLE_SAMPLER_H

#include "guest/cpu/cpu.h"
#include "lib/trace_slot.h"

/* Shared mode: empties a CPU's ring into the trace; set at boot. */
extern void (*sampler_drain)(struct cpu *cpu);

/* The trigger rests, by the program's wish: CPUs follow as they enter the kernel. */
extern bool sampler_paused;

/* Puts the timer's first sample one interval after `now` and arms it, if the mode is timer. */
void sampler_start(struct cpu *cpu, uint64_t now);

/* Arms the timer again after the workload clock was stopped or moved; grid points that passed
 * meanwhile are left out. */
void sampler_resume(struct cpu *cpu, uint64_t now);

/* The timer shall interrupt at `due`, too, for VECTOR_ATTENTION: guest/thread/schedule.h. */
void sampler_set_attention(struct cpu *cpu, uint64_t due);

/* A CPU that was idle runs a thread from now on: its trigger does what the program asked for
 * meanwhile.  A CPU becomes idle: its timer rests. */
void sampler_follow(struct cpu *cpu, uint64_t now);
void sampler_rest(void);

/* A thread leaves its CPU inside a system call, called at `ip`: takes the sample that the return
 * from the call would have taken. */
void sampler_leave(struct cpu *cpu, uint64_t now, uint64_t ip);

/* After service work with the timer armed (shared mode), which may have halted and so missed it. */
void sampler_rearm(struct cpu *cpu);

/* The trigger of this CPU rests until sampler_unpause; counters go on. */
void sampler_pause(struct cpu *cpu);
void sampler_unpause(struct cpu *cpu, uint64_t now);

/* Has every other CPU that runs a thread sample itself now (HR_SAMPLE_POLLED); does not wait. */
void sampler_ask_all(struct cpu *self);

/* The observer: the same for grid point `due`, which is not 0.  A CPU that has not answered the
 * last time yet is left out. */
void sampler_ask(struct cpu *cpu, uint64_t due);

/* Starts a record that is not a sample: a slot of this kind, zeroed but for time, tid and kind.
 * Makes room by service work (shared mode) or by waiting for the service CPU: never fails.
 * sampling.trigger->close publishes it.  Thread context only.
 */
struct trace_slot *sampler_record(struct cpu *cpu, enum hr_record_type kind, uint64_t time);

/* Shared mode: a lead that is certainly enough.  Before calibration; on real hardware after it,
 * too, which finds what the whole way to ring 3 may cost. */
void sampler_set_lead(int64_t ticks);

/* Calibration: samples came `late_ticks` after the grid; arm the timer that much earlier after
 * those that take call stacks, or everywhere else. */
void sampler_trim(int64_t late_ticks, bool stacks);

#endif
