/* Pending signals: each queue is a list in the order of sending. */
#include "guest/thread/signal_queue.h"
#include "guest/base/context.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

struct signal_entry {
    struct signal_entry *next;
    struct signal_note note;
};

static struct signal_entry pool[SIGNAL_NOTES_MAX];
static struct signal_entry *unused; /* entries that were given back */
static uint32_t fresh; /* pool entries from here on were never used */

static struct signal_entry *new_entry(void)
{
    struct signal_entry *entry = unused;

    if (entry != NULL)
        unused = entry->next;
    else if (fresh < SIGNAL_NOTES_MAX)
        entry = &pool[fresh++];
    return entry;
}

static void set_pending(struct signal_queue *queue, uint64_t pending)
{
    __atomic_store_n(&queue->pending, pending, __ATOMIC_SEQ_CST);
}

int signal_queue_add(struct signal_queue *queue, const struct signal_note *note, bool lossy)
{
    uint64_t bit = SIGNAL_BIT(note->signal);
    struct signal_entry *entry;

    cross_assert_held();
    if (note->signal < SIGNAL_REAL_TIME && queue->pending & bit && !note->timer)
        return 0;
    entry = new_entry();
    if (entry == NULL && (note->timer || (note->signal >= SIGNAL_REAL_TIME && !lossy)))
        return -EAGAIN;
    if (entry != NULL) {
        *entry = (struct signal_entry){.note = *note};
        if (queue->last != NULL)
            queue->last->next = entry;
        else
            queue->first = entry;
        queue->last = entry;
    }
    set_pending(queue, queue->pending | bit);
    return 0;
}

/* Unlinks what follows `previous` (NULL: the first). */
static void signal_queue_drop(struct signal_queue *queue, struct signal_entry *previous)
{
    struct signal_entry *entry = previous != NULL ? previous->next : queue->first;

    if (previous != NULL)
        previous->next = entry->next;
    else
        queue->first = entry->next;
    if (queue->last == entry)
        queue->last = previous;
    entry->next = unused;
    unused = entry;
}

void signal_queue_take(struct signal_queue *queue, uint32_t signal, struct signal_note *note)
{
    struct signal_entry *previous = NULL, *entry = queue->first;
    bool more = false;

    *note = (struct signal_note){.signal = signal};
    for (; entry != NULL && entry->note.signal != signal; entry = entry->next)
        previous = entry;
    if (entry != NULL) {
        *note = entry->note;
        for (const struct signal_entry *e = entry->next; e != NULL && !more; e = e->next)
            more = e->note.signal == signal;
        signal_queue_drop(queue, previous);
    }
    if (!more)
        set_pending(queue, queue->pending & ~SIGNAL_BIT(signal));
}

void signal_queue_forget(struct signal_queue *queue, uint64_t set,
                         void (*forgotten)(void *context, struct signal_note *note), void *context)
{
    struct signal_entry *previous = NULL, *entry = queue->first;

    if (!(queue->pending & set))
        return;
    while (entry != NULL) {
        struct signal_entry *next = entry->next;

        if (set & SIGNAL_BIT(entry->note.signal)) {
            if (forgotten != NULL)
                forgotten(context, &entry->note);
            signal_queue_drop(queue, previous);
        } else {
            previous = entry;
        }
        entry = next;
    }
    set_pending(queue, queue->pending & ~set);
}

void signal_queue_forget_timers(struct signal_queue *queue)
{
    struct signal_entry *previous = NULL, *entry = queue->first;
    uint64_t dropped = 0, kept = 0;

    while (entry != NULL) {
        struct signal_entry *next = entry->next;

        if (entry->note.timer && entry->note.code == SI_TIMER) {
            dropped |= SIGNAL_BIT(entry->note.signal);
            signal_queue_drop(queue, previous);
        } else {
            kept |= SIGNAL_BIT(entry->note.signal);
            previous = entry;
        }
        entry = next;
    }
    set_pending(queue, queue->pending & ~(dropped & ~kept));
}
