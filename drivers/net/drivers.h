/* The drivers that net_open chooses from, and what they share. */
#pragma once

#include "drivers/net/net.h"

#define NET_HEADER_BYTES 14 /* two addresses and a type: IEEE 802.3, 3.1.1 */

extern const struct net_driver virtio_net_driver; /* virtio_net.c */

#define NET_E1000_FAMILIES 6
extern const struct net_driver e1000_drivers[NET_E1000_FAMILIES]; /* e1000_cards.c */

/* An address that an interface can have: not 0, and of one station (IEEE 802.3, 3.2.3). */
static inline bool net_mac_valid(const uint8_t mac[NET_MAC_BYTES])
{
    return !(mac[0] & 1) && (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]) != 0;
}
