/* Keeps the emulator's main thread on the CPU where its CPU thread runs.
 *
 * In virtual time QEMU executes the guest's CPUs in one thread.  Whenever a timer of the guest
 * expires, that thread wakes the main loop, which mostly finds nothing to do.  On an idle CPU of
 * its own the main loop then competes for QEMU's lock, and both threads keep waking each other:
 * with a sample every microsecond, each took twice as long.  On the CPU thread's CPU, with
 * SCHED_BATCH, it waits until that thread sleeps or the scheduler gives it its turn.  The CPU
 * thread may run anywhere, so its CPU is looked up now and then.
 *
 * That begins when the program has run for a while.  What was looked up in /proc has to be
 * forgotten when the emulator ends, and while its last thread waits for a CPU to do so, the kernel
 * lets us spin: that took 7 ms of each short run.
 *
 * None of this is needed for a correct run, so errors only end it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch_near {
    pid_t process; /* the emulator; 0: nothing is to be done */
    pid_t cpu_thread; /* 0: not found yet */
    int cpu; /* where the main thread was put */
    uint64_t due_ns; /* CLOCK_MONOTONIC */
    uint64_t give_up_ns; /* when to stop looking for the CPU thread; 0: not begun */
};

/* For an emulator that was just started: nothing is due before launch_near_begin. */
void launch_near_start(struct launch_near *near, pid_t process);

/* The program runs, since just now or since an earlier call. */
void launch_near_begin(struct launch_near *near, uint64_t now_ns);

/* Returns when launch_near_follow is due; UINT64_MAX: never. */
uint64_t launch_near_deadline(const struct launch_near *near);

/* Moves the main thread to where the CPU thread is, if that is due. */
void launch_near_follow(struct launch_near *near, uint64_t now_ns);
