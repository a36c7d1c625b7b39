/* Copies the streams of a result: joins their parts, and compares them with result.conf.
 *
 * The copying functions return 0, or -1 with the failure filled if nothing more can be written;
 * defects of the stick are recorded as problems of the result.
 */
#pragma once

#include "host/usb/usb_take.h"

/* Returns whether the stick has the stream, or should have it. */
bool usb_take_has(const struct usb_take *t, enum usb_stream stream);

/* Copies a stream unchanged. */
int usb_take_plain(struct usb_take *t, enum usb_stream stream);

/* Copies the trace through the collector, which adds an index.  An invalid trace is kept unchanged.
 */
int usb_take_trace(struct usb_take *t);

/* Copies the files that the program created or changed. */
int usb_take_files(struct usb_take *t);
