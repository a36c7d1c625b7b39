/* AF_NETLINK: a program asks the kernel by messages.  There is NETLINK_ROUTE (socket_route.h),
 * whose sockets are also told the cookies of mq_notify.  Nothing but the kernel can be sent to.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct file;
struct socket;

struct socket_netlink {
    uint32_t port; /* its name: nl_pid; 0: none yet */
    uint32_t groups; /* nl_groups of bind: none is ever sent to */
    struct socket *next; /* of those that have a name */
};

/* Returns the socket of a file if it is of this family, or NULL. */
struct socket *socket_netlink_of(const struct file *file);

/* Sends a datagram of the kernel's.  One for which there is no room is lost, and an error says so.
 */
void socket_netlink_put(struct socket *s, const void *message, uint32_t bytes);
