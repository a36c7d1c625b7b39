/* The queue of threads that wait for a CPU. */
#include "guest/thread/run_queue.h"

#include <stddef.h>

void run_queue_add(struct run_queue *queue, struct thread *thread)
{
    thread->schedule.next = NULL;
    thread->schedule.previous = queue->last;
    if (queue->last != NULL)
        queue->last->schedule.next = thread;
    else
        queue->first = thread;
    queue->last = thread;
}

void run_queue_remove(struct run_queue *queue, struct thread *thread)
{
    if (thread->schedule.next != NULL)
        thread->schedule.next->schedule.previous = thread->schedule.previous;
    else
        queue->last = thread->schedule.previous;
    if (thread->schedule.previous != NULL)
        thread->schedule.previous->schedule.next = thread->schedule.next;
    else
        queue->first = thread->schedule.next;
    thread->schedule.next = thread->schedule.previous = NULL;
}

struct thread *run_queue_first(const struct run_queue *queue, uint32_t number)
{
    struct thread *thread = queue->first;

    while (thread != NULL && !(thread->schedule.allowed_cpus >> number & 1))
        thread = thread->schedule.next;
    return thread;
}
