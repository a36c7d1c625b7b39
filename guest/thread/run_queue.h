/* The queue of threads that can run but have no CPU: first come, first served. */
#pragma once

#include "guest/thread/thread.h"

struct run_queue {
    struct thread *first, *last;
};

void run_queue_add(struct run_queue *queue, struct thread *thread);
void run_queue_remove(struct run_queue *queue, struct thread *thread);

/* Returns the first thread that may run on the program's CPU `number`, or NULL.  Leaves it in the
 * queue. */
struct thread *run_queue_first(const struct run_queue *queue, uint32_t number);
