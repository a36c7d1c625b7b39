/* The network: a card, an address, lwIP between them.  Service CPU only, interrupts off. */
#ifndef GUEST_NET_NET_STACK_H
#define GUEST_NET_NET_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "include/boot_info.h"

#define NET_LINK_WAIT_MS 10000u
#define NET_DHCP_WAIT_MS 30000u

/* Opens the card, waits for its link and, without a static address, for DHCP's.  `network` stays as
 * it is while the network runs.  0, or -errno with what is wrong, for people, in `problem`.
 */
int net_stack_start(const struct boot_network *network, char *problem, size_t room);

/* Takes what was received, sends what is due.  True: there was something. */
bool net_stack_poll(void);

/* Tells the card about frames that were sent since.  net_stack_poll does it, too. */
void net_stack_flush(void);

/* Whether the card says that there is a link: as of the last look. */
bool net_stack_link(void);

/* The card touches no memory any more.  Also when it was never started, or is in whatever state. */
void net_stack_stop(void);

#endif
