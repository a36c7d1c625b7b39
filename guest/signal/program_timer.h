/* The program's own timers, which send it signals: timer_create, setitimer, alarm.
 *
 * A repeating timer is set again when its signal is taken; the expirations that it missed until
 * then are its overrun.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/clocks.h"
#include "guest/thread/signal_queue.h"
#include "guest/thread/thread.h"
#include "guest/thread/timer.h"

#define ITIMERS 3u
#define PROGRAM_TIMERS_MAX 256 /* timers of timer_create in a process */

enum program_timer_notify { PROGRAM_TIMER_PROCESS, PROGRAM_TIMER_THREAD, PROGRAM_TIMER_SILENT };

struct program_timer {
    struct timer timer;
    struct process *process; /* whose it is */
    struct program_timer *next; /* of the process's timers, by ascending id */
    uint64_t serial; /* never used twice */
    struct clocks clock;
    uint32_t id; /* si_timerid */
    uint8_t notify; /* enum program_timer_notify */
    bool interval_timer; /* of setitimer: its signal does not name it */
    bool queued; /* its signal is pending */
    bool stale; /* that signal is from before the timer was last set */
    uint32_t signal;
    uint32_t tid; /* PROGRAM_TIMER_THREAD */
    uint64_t value; /* si_value */
    uint64_t due_ns; /* time of its clock at which it expires; 0: not set */
    uint64_t interval_ns; /* 0: does not repeat */
    uint64_t used_ns; /* what its clock showed when it was set, for clocks of used time */
    uint32_t overrun; /* expirations that its pending signal stands for, minus 1 */
    uint32_t overrun_last; /* `overrun` of the last signal taken */
};

struct program_timer_setting { /* nanoseconds */
    uint64_t value; /* time until it expires; 0: not set */
    uint64_t interval;
};

/* Sets an existing timer: to `value` from now, or to `value` on its clock if `absolute`. */
void program_timer_set(struct program_timer *timer, const struct program_timer_setting *setting,
                       bool absolute);
void program_timer_get(const struct program_timer *timer, struct program_timer_setting *setting);

/* Copies a setting between the kernel and the program's struct itimerspec or itimerval, whose parts
 * of a second are of unit_ns.  Reading saturates at PROGRAM_TIMER_NS_MAX; a time that is not over
 * yet is never written as 0.  Returns 0, -EFAULT or, for times that are none, -EINVAL. */
int program_timer_read(uint64_t user, uint64_t unit_ns, struct program_timer_setting *setting);
int program_timer_write(uint64_t user, uint64_t unit_ns,
                        const struct program_timer_setting *setting);

/* Makes a timer; the caller fills in clock, notify, signal, tid and value.  Returns NULL if there
 * are too many, or no memory. */
struct program_timer *program_timer_new(struct process *process);
struct program_timer *program_timer_find(const struct process *process,
                                         uint64_t id); /* of timer_create; NULL: no such timer */
void program_timer_delete(struct program_timer *timer);

/* Deletes all timers of the process. */
void program_timer_delete_all(struct process *process);

/* execve: deletes the timers of timer_create, and drops their signals.  Those of setitimer stay. */
void program_timer_exec(struct thread *thread);

/* Returns the timer of setitimer for ITIMER_REAL, ITIMER_VIRTUAL or ITIMER_PROF; NULL: no memory.
 */
struct program_timer *program_timer_interval(struct process *process, uint32_t which);

/* Call when a signal to a thread of the process was taken: if a timer sent it, stores the overrun
 * in the note and sets the timer again if it repeats. */
void program_timer_taken(const struct process *process, struct signal_note *note);

/* Call when a pending signal was dropped because it is now ignored: if a timer sent it, the timer
 * continues, except, as on Linux, one of setitimer. */
void program_timer_forgotten(const struct process *process, struct signal_note *note);

/* Call when threads use time again: restarts the resting timers of used time. */
void program_timer_wake_all(void);
