/* Writes a stick directly, instead of an image for one. */
#ifndef HOST_USB_USB_STICK_H
#define HOST_USB_USB_STICK_H

#include <sys/types.h>

#include "host/usb/usb_contents.h"
#include "host/usb/usb_device.h"

/* Refuses a device that must not be overwritten, before any work is done.  Returns 0, or -1 with
 * the failure filled.
 */
int usb_stick_check(struct usb_device *d, const struct usb_options *o, dev_t number,
                    struct run_failure *failure);

/* Makes the image in a temporary file, asks on the terminal unless told not to, writes the image to
 * the device and compares.  Returns 0, or -1 with the failure filled.
 */
int usb_stick_write(const struct usb_device *d, const struct usb_contents *c,
                    const struct usb_options *o, struct run_failure *failure);

#endif
