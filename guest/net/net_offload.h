/* TCP segmentation offload: joins consecutive segments of one stream into one large frame, which
 * the card cuts again.  lwIP does not know of it: windows, losses and acknowledgements still
 * concern single segments.  Context: service CPU. */
#pragma once

#include <stdbool.h>

#include "drivers/net/net.h"

struct pbuf;

/* Forgets waiting segments.  Returns 0 or -ENOMEM. */
int net_offload_init(void);

/* Takes lwIP's frame: if the card cuts segments, keeps it until more have joined it; otherwise
 * hands it to the card after the waiting ones.  Returns 0, or the error of net_driver.send; after
 * -EAGAIN the caller must try again. */
int net_offload_send(struct net_device *card, bool cuts, const struct pbuf *p);

/* Hands the waiting segments to the card.  Returns 0, -EAGAIN if they still wait, or another error
 * if they are lost. */
int net_offload_flush(struct net_device *card);
