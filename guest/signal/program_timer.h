/* The program's own timers, which send it signals: timer_create, setitimer, alarm.
 *
 * One that repeats is set again when its signal is taken; what it missed until then is its overrun.
 * Thread context, by the kernel lock's holder.
 */
#ifndef GUEST_SIGNAL_PROGRAM_TIMER_H
#define GUEST_SIGNAL_PROGRAM_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/clocks.h"
#include "guest/thread/signal_queue.h"
#include "guest/thread/thread.h"
#include "guest/thread/timer.h"

#define PROGRAM_TIMERS_MAX 256 /* of timer_create */

enum program_timer_notify { PROGRAM_TIMER_PROCESS, PROGRAM_TIMER_THREAD, PROGRAM_TIMER_SILENT };

struct program_timer {
    struct timer timer;
    uint64_t serial; /* never used twice; 0: there is no such timer */
    struct clocks clock;
    uint32_t id; /* si_timerid */
    uint8_t notify; /* enum program_timer_notify */
    bool interval_timer; /* of setitimer: it is not named in its signal */
    bool queued; /* its signal is pending */
    bool stale; /* and the timer was set anew since */
    uint32_t signal;
    uint32_t tid; /* PROGRAM_TIMER_THREAD */
    uint64_t value; /* si_value */
    uint64_t due_ns; /* of its clock; 0: it is not set */
    uint64_t interval_ns; /* 0: it does not repeat */
    uint64_t used_ns; /* what its clock of used time showed when it was set */
    uint32_t overrun; /* expirations that its pending signal stands for, less one */
    uint32_t overrun_last; /* the same of the last signal taken */
};

struct program_timer_setting { /* nanoseconds */
    uint64_t value; /* until it expires; 0: it is not set */
    uint64_t interval;
};

/* Sets the timer, which exists: `value` from now, or at that time of its clock if `absolute`. */
void program_timer_set(struct program_timer *timer, const struct program_timer_setting *setting,
                       bool absolute);
void program_timer_get(const struct program_timer *timer, struct program_timer_setting *setting);

/* A new timer, whose clock, notify, signal, tid and value are the caller's; NULL: too many. */
struct program_timer *program_timer_new(void);
struct program_timer *program_timer_find(uint64_t id); /* of timer_create; NULL: no such timer */
void program_timer_delete(struct program_timer *timer);

/* setitimer's: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF. */
struct program_timer *program_timer_interval(uint32_t which);

/* A signal was taken: what its timer, if it is one's, says in the note. */
void program_timer_taken(struct signal_note *note);

/* A pending signal was forgotten because it is ignored from now on: its timer goes on, but as on
 * Linux not one of setitimer. */
void program_timer_forgotten(struct signal_note *note);

/* Time is used again: timers of used time, which rested, go on. */
void program_timer_wake_all(void);

#endif
