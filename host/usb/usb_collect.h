/* hr usb --collect: takes all results off a stick or an image, verifies them, says what they are.
 */
#ifndef HOST_USB_USB_COLLECT_H
#define HOST_USB_USB_COLLECT_H

#include "host/usb/usb_options.h"

/* HR_EXIT_OK: every result is here, whole; HR_EXIT_FAILED: something is not, and that was said; -1
 * with the failure filled.
 */
int usb_collect(const struct usb_options *o, struct run_failure *failure);

#endif
