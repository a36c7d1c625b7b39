/* A queue whose members know whether they are in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct epoll_link {
    struct epoll_link *next;
    struct epoll_link *previous;
    bool queued;
};

struct epoll_queue {
    struct epoll_link *first;
    struct epoll_link *last;
    uint32_t length;
};

/* Adds a link at the end.  Does nothing if it is queued already. */
static inline void epoll_queue_add(struct epoll_queue *q, struct epoll_link *link)
{
    if (link->queued)
        return;
    *link = (struct epoll_link){.previous = q->last, .queued = true};
    if (q->last != NULL)
        q->last->next = link;
    else
        q->first = link;
    q->last = link;
    q->length++;
}

/* Removes a link.  Does nothing if it is not queued. */
static inline void epoll_queue_remove(struct epoll_queue *q, struct epoll_link *link)
{
    if (!link->queued)
        return;
    if (link->previous != NULL)
        link->previous->next = link->next;
    else
        q->first = link->next;
    if (link->next != NULL)
        link->next->previous = link->previous;
    else
        q->last = link->previous;
    *link = (struct epoll_link){0};
    q->length--;
}
