/* The network: a card, an address, lwIP between them.  Context: service CPU, interrupts off. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "include/boot_info.h"

#define NET_LINK_WAIT_MS 10000u
#define NET_DHCP_WAIT_MS 30000u

/* Opens the card, waits for its link and, without a static address, for one from DHCP.  `network`
 * must not change while the network runs.  Returns 0, or -errno with a readable reason in
 * `problem`. */
int net_stack_start(const struct boot_network *network, char *problem, size_t room);

/* Takes what was received and sends what is due.  Returns true if there was anything. */
bool net_stack_poll(void);

/* Tells the card about the frames sent since the last call.  net_stack_poll does it too. */
void net_stack_flush(void);

/* Stops the card from touching memory, in any state, also if it was never started. */
void net_stack_stop(void);
