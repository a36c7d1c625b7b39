/* Pending signals: sent, but not yet delivered.
 *
 * A standard signal (1..31) is pending at most once; of a real-time signal (32..64) every instance
 * is kept, in the order of sending.  All queues share a bounded pool.
 *
 * Context: with the kernel lock held; any context may read `pending`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SIGNAL_BIT(signal) (1ull << ((signal)-1))
#define SIGNAL_REAL_TIME 32u /* the first real-time signal */
#define SIGNAL_NOTES_MAX 2048u /* RLIMIT_SIGPENDING, of all queues together */

struct signal_note { /* a signal and the contents of its siginfo */
    uint32_t signal; /* 1..64 */
    int32_t error;
    int32_t code; /* si_code */
    uint32_t reserved;
    uint64_t words[3]; /* of the siginfo's union */
    uint64_t timer; /* serial number of the POSIX timer that sent it; 0: not from a timer */
};

struct signal_entry;

struct signal_queue { /* zeros: empty */
    uint64_t pending; /* bit N-1: signal N is pending; atomic */
    struct signal_entry *first, *last;
};

/* Adds a signal.  Returns 0, also if a standard signal was pending already, or -EAGAIN if the pool
 * is empty for a real-time signal.  With `lossy` a real-time signal then becomes pending without
 * its note.  A timer's note is always added, because the timer needs it back, or fails with
 * -EAGAIN. */
int signal_queue_add(struct signal_queue *queue, const struct signal_note *note, bool lossy);

/* Takes the next note of a pending signal.  If it has none, sets only note->signal. */
void signal_queue_take(struct signal_queue *queue, uint32_t signal, struct signal_note *note);

/* Removes all signals of the set.  Calls `forgotten`, unless it is NULL, for each note removed; it
 * must not change the queue. */
void signal_queue_forget(struct signal_queue *queue, uint64_t set,
                         void (*forgotten)(void *context, struct signal_note *note), void *context);

/* Removes the signals that timers of timer_create have sent. */
void signal_queue_forget_timers(struct signal_queue *queue);
