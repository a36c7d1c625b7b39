/* Block devices that a stick may be written to: whole disks that are removable or on USB, and that
 * nobody uses.
 *
 * What Linux says about them is read from /sys and /proc below a root directory, "" for this
 * machine, so that tests have others.  Functions return 0, or -1 with the failure filled.
 */
#ifndef HOST_USB_USB_DEVICE_H
#define HOST_USB_USB_DEVICE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/base/run_failure.h"

struct usb_device {
    const char *path; /* as given */
    char directory[PATH_MAX]; /* of it in /sys */
    char name[NAME_MAX + 1]; /* of the disk: "sdb" */
    char model[96]; /* vendor and model, printable; "unknown" */
    uint64_t bytes;
};

/* Looks up the disk that is device `number` and refuses what must not be overwritten: a partition,
 * a disk that is neither removable nor on USB, that is read-only, that has other sectors than 512
 * bytes, that is mounted, swapped to or held by a device mapper or RAID, or a part of which is.
 */
int usb_device_find(struct usb_device *d, const char *root, const char *path, dev_t number,
                    struct run_failure *failure);

/* The use of the disk, or partition, that forbids changing it; see above. */
int usb_device_check_unused(const struct usb_device *d, const char *root,
                            struct run_failure *failure);

/* For a disk or partition that is only to be changed a little: fills in directory and name. */
int usb_device_look_up(struct usb_device *d, const char *root, const char *path, dev_t number,
                       struct run_failure *failure);

#endif
