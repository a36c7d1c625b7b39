/* Tells whether a result that is here already is the one that was taken off a stick. */
#ifndef HOST_USB_USB_KNOWN_H
#define HOST_USB_USB_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether everything in the directory `taken` is in `place` with the same bytes, files of the
 * program's included; of hr.bin the first `trace_bytes` count, because the collector adds to them.
 * What `place` has beyond that does not matter.  What cannot be read is not the same: the stick may
 * lose its copy if this says yes.
 */
bool usb_known(const char *taken, const char *place, uint64_t trace_bytes);

#endif
