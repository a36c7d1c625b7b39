/* Writes microtome.conf, which tells the loader what to do (lib/boot/boot_conf.h). */
#pragma once

#include "host/usb/usb_contents.h"

#define USB_PATH_KERNEL "\\microtome\\guest.elf"
#define USB_PATH_PROGRESS "\\microtome\\progress.txt"
#define USB_PATH_RUNS "\\microtome\\runs\\"

/* Returns the text of the file of progress, for free().  NULL: no memory. */
char *usb_conf_progress(const struct usb_contents *c, const struct usb_options *o);

/* Returns the text, for free(), after checking it with the loader's own parser.  NULL with the
 * failure filled. */
char *usb_conf_write(const struct usb_contents *c, const struct usb_options *o,
                     struct run_failure *failure);
