/* Checks archives of hr pack before they are put on a stick. */
#ifndef HOST_USB_USB_ARCHIVE_H
#define HOST_USB_USB_ARCHIVE_H

#include "host/base/run_failure.h"

/* Checks that the file is a run's archive, undamaged as far as its entries show, and that its
 * events are encoded, because a stick has no host to ask.  Returns 0, or -1 with the failure
 * filled.
 */
int usb_archive_check(const char *path, struct run_failure *failure);

#endif
