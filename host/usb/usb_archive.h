/* Checks archives of hr pack's before they go onto a stick. */
#ifndef HOST_USB_USB_ARCHIVE_H
#define HOST_USB_USB_ARCHIVE_H

#include "host/base/run_failure.h"

/* That the file is a run's archive, undamaged as far as its entries tell, and that its events are
 * encoded: on a stick nobody can be asked.  0, or -1 with the failure filled.
 */
int usb_archive_check(const char *path, struct run_failure *failure);

#endif
