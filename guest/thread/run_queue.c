/* The queue of threads that wait for a CPU. */
#include "guest/thread/run_queue.h"

#include <stddef.h>

void run_queue_add(struct run_queue *queue, struct thread *thread)
{
    thread->queue_next = NULL;
    thread->queue_previous = queue->last;
    if (queue->last)
        queue->last->queue_next = thread;
    else
        queue->first = thread;
    queue->last = thread;
}

void run_queue_remove(struct run_queue *queue, struct thread *thread)
{
    if (thread->queue_next)
        thread->queue_next->queue_previous = thread->queue_previous;
    else
        queue->last = thread->queue_previous;
    if (thread->queue_previous)
        thread->queue_previous->queue_next = thread->queue_next;
    else
        queue->first = thread->queue_next;
    thread->queue_next = thread->queue_previous = NULL;
}

struct thread *run_queue_first(const struct run_queue *queue, uint32_t number)
{
    struct thread *thread = queue->first;

    while (thread && !(thread->allowed_cpus >> number & 1))
        thread = thread->queue_next;
    return thread;
}
