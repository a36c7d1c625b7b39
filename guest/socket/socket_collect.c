/* Finds sockets whose only holders are packets of sockets like them, and empties their queues.
 *
 * A socket is reached if its file has a holder that is no packet, or if a socket that is reached
 * has it in a packet or among its connections to accept.  Only packets hold the others. */
#include "guest/base/context.h"
#include "guest/socket/socket.h"

static struct socket *all;

void socket_collect_add(struct socket *s)
{
    cross_assert_held();
    s->all_next = all;
    if (all != NULL)
        all->all_previous = s;
    all = s;
}

void socket_collect_remove(struct socket *s)
{
    if (s->all_next != NULL)
        s->all_next->all_previous = s->all_previous;
    if (s->all_previous != NULL)
        s->all_previous->all_next = s->all_next;
    else
        all = s->all_next;
}

const struct socket *socket_collect_next(const struct socket *s)
{
    return s != NULL ? s->all_next : all;
}

/* Calls a function for each socket in the packets of another one. */
static void each_in_packets(const struct socket *s, struct socket **list,
                            void (*call)(struct socket *s, struct socket **list))
{
    for (const struct socket_packet *p = s->in.first; p != NULL; p = p->next)
        for (uint32_t i = 0; i < p->rights.count; i++)
            if (socket_of(p->rights.files[i]) != NULL)
                call(socket_of(p->rights.files[i]), list);
}

static void count_holder(struct socket *s, struct socket ** /* list */)
{
    s->in_packets++;
}

static void reach(struct socket *s, struct socket **list)
{
    if (s->reached)
        return;
    s->reached = true;
    s->reached_next = *list;
    *list = s;
}

static void reach_all(void)
{
    struct socket *list = NULL;

    for (struct socket *s = all; s != NULL; s = s->all_next)
        if (s->outside || (s->file != NULL && s->file->references > s->in_packets))
            reach(s, &list);
    while (list != NULL) {
        struct socket *s = list;

        list = s->reached_next;
        each_in_packets(s, &list, reach);
        for (struct socket *child = s->accepted.first; child != NULL; child = child->next)
            reach(child, &list);
    }
}

void socket_collect(void)
{
    struct socket_packet *doomed = NULL, *packet;

    cross_assert_held();
    for (struct socket *s = all; s != NULL; s = s->all_next) {
        s->in_packets = 0;
        s->reached = false;
    }
    for (struct socket *s = all; s != NULL; s = s->all_next)
        each_in_packets(s, NULL, count_holder);
    reach_all();
    for (struct socket *s = all; s != NULL; s = s->all_next) {
        if (s->reached)
            continue;
        s->urgent = (struct socket_urgent){0}; /* its mark is in the queue */
        while ((packet = socket_queue_take(&s->in)) != NULL) {
            packet->next = doomed;
            doomed = packet;
        }
    }
    while ((packet = doomed) != NULL) { /* last: this frees sockets */
        doomed = packet->next;
        socket_packet_free(packet);
    }
}
