/* hr usb --collect: copies all results from a stick or an image, verifies them and describes them.
 */
#pragma once

#include "host/usb/usb_options.h"

/* Returns HR_EXIT_OK if every result was copied completely; HR_EXIT_FAILED if not, after reporting
 * that; -1 with the failure filled. */
int usb_collect(const struct usb_options *o, struct run_failure *failure);
