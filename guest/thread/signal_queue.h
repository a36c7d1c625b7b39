/* Pending signals: what was sent and is not delivered yet.
 *
 * A standard signal (1..31) is pending at most once; of a real-time one (32..64) each is kept, in
 * the order of sending.  All queues share a bounded pool.  Pure bookkeeping, by the kernel lock's
 * holder; `pending` may be read by anyone.
 */
#ifndef GUEST_THREAD_SIGNAL_QUEUE_H
#define GUEST_THREAD_SIGNAL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define SIGNAL_BIT(signal) (1ull << ((signal)-1))
#define SIGNAL_REAL_TIME 32u /* the first real-time signal */
#define SIGNAL_NOTES_MAX 2048u /* RLIMIT_SIGPENDING, of all queues together */

struct signal_note { /* a signal, and what its siginfo says */
    uint32_t signal; /* 1..64 */
    int32_t error;
    int32_t code; /* si_code */
    uint32_t reserved;
    uint64_t words[3]; /* of the siginfo's union */
    uint64_t timer; /* serial number of the POSIX timer that sent it; 0: none did */
};

struct signal_entry;

struct signal_queue { /* zeros: empty */
    uint64_t pending; /* bit N-1: signal N is; atomic */
    struct signal_entry *first, *last;
};

/* Adds a signal.  0, also for a standard signal that is pending already; -EAGAIN: a real-time
 * signal finds the pool empty.  With `lossy` it is pending all the same, without its note.  A
 * timer's note, which the timer wants back, is added in any case or is -EAGAIN. */
int signal_queue_add(struct signal_queue *queue, const struct signal_note *note, bool lossy);

/* Takes the next note of a pending signal; of one without, only note->signal is set. */
void signal_queue_take(struct signal_queue *queue, uint32_t signal, struct signal_note *note);

/* Forgets signals of the set; `forgotten` (NULL: nobody) is told the note of each that has one, and
 * does not touch the queue. */
void signal_queue_forget(struct signal_queue *queue, uint64_t set,
                         void (*forgotten)(struct signal_note *note));

#endif
