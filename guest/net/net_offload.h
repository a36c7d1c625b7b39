/* TCP segmentation offload: segments of one stream that leave one after the other are joined to one
 * large frame, which the card cuts again.  lwIP knows nothing of it: windows, losses and
 * acknowledgements stay matters of single segments.  Service CPU only.
 */
#ifndef GUEST_NET_NET_OFFLOAD_H
#define GUEST_NET_NET_OFFLOAD_H

#include <stdbool.h>

#include "drivers/net/net.h"

struct pbuf;

/* Forgets what waits.  0, -ENOMEM. */
int net_offload_init(void);

/* Takes lwIP's frame: keeps it until more have joined it, if the card cuts segments, or hands it to
 * the card after those that wait.  0, or what net_driver.send says: -EAGAIN: it is to come again.
 */
int net_offload_send(struct net_device *card, bool cuts, const struct pbuf *p);

/* Hands what waits to the card.  0; -EAGAIN: it still waits; other errors: it is lost. */
int net_offload_flush(struct net_device *card);

#endif
