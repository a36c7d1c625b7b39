/* What users ask of a run from outside (RUN_HOST_ASK): start, pause, poll, mark. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct run_message;

/* Takes RUN_HOST_TEXT and RUN_HOST_ASK, and calls the CPUs that are to do what is asked for.
 * Context: service. */
void service_asked_take(const struct run_message *message);

/* Calls this CPU again if something is left to do, and returns whether there is: the call that came
 * first may have come in the kernel, where nothing was done.  Context: a CPU that is about to
 * return to ring 3. */
bool service_asked_remind(const struct cpu *cpu);

/* Does on this CPU what was asked for since, except what sampler_paused says: takes a sample at
 * `ip` unless that is 0, as where no thread runs, and records marks.  `now`: workload clock.
 * Context: workload CPU, with the kernel lock. */
void service_asked_follow(struct cpu *cpu, uint64_t now, uint64_t ip);
