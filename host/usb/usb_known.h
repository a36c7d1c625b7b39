/* Tells whether a result from a stick is already here. */
#ifndef HOST_USB_USB_KNOWN_H
#define HOST_USB_USB_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether `place` contains everything in the directory `taken` with equal bytes, including
 * the program's files.  Of hr.bin only the first `trace_bytes` count, because the collector adds to
 * it.  Other contents of `place` do not matter.  An unreadable file counts as different, because
 * the stick may lose its copy if this returns true.
 */
bool usb_known(const char *taken, const char *place, uint64_t trace_bytes);

#endif
