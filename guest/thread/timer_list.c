/* Lists of timers, sorted. */
#include "guest/thread/timer_list.h"

#include <stddef.h>

void timer_list_add(struct timer **head, struct timer *timer)
{
    struct timer *before = NULL, *after = *head;

    while (after != NULL && after->due <= timer->due) {
        before = after;
        after = after->next;
    }
    timer->previous = before;
    timer->next = after;
    if (after != NULL)
        after->previous = timer;
    if (before != NULL)
        before->next = timer;
    else
        *head = timer;
}

void timer_list_remove(struct timer **head, struct timer *timer)
{
    if (timer->next != NULL)
        timer->next->previous = timer->previous;
    if (timer->previous != NULL)
        timer->previous->next = timer->next;
    else
        *head = timer->next;
    timer->next = timer->previous = NULL;
}
