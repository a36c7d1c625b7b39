/* Writes a stick, for commands that plan what it does. */
#pragma once

#include "host/usb/usb_options.h"

/* Writes the image or the device that the options name, and says so on stderr.  Returns 0, or -1
 * with the failure filled. */
int usb_command_write(const struct usb_options *o, struct run_failure *failure);
