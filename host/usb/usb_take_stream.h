/* Copies the streams of a result: joins their parts, and compares them with what result.conf says.
 *
 * Each returns 0, or -1 with the failure filled when nothing more can be written; what is wrong
 * with the stick is noted as a problem of the result.
 */
#ifndef HOST_USB_USB_TAKE_STREAM_H
#define HOST_USB_USB_TAKE_STREAM_H

#include "host/usb/usb_take.h"

/* Whether the stick has the stream, or should have. */
bool usb_take_has(const struct usb_take *t, enum usb_stream stream);

/* A stream as it is. */
int usb_take_plain(struct usb_take *t, enum usb_stream stream);

/* The trace, through the collector: with its index.  What is no whole trace is kept as it is. */
int usb_take_trace(struct usb_take *t);

/* The files that the program made or changed. */
int usb_take_files(struct usb_take *t);

#endif
