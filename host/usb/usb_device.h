/* Block devices that a stick may be written to: unused whole disks that are removable or on USB.
 *
 * Linux's data about them is read from /sys and /proc below a root directory, "" for this machine;
 * tests use other ones.  Functions return 0, or -1 with the failure filled.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/base/run_failure.h"

struct usb_device {
    const char *path; /* as given */
    char directory[PATH_MAX]; /* the device's directory in /sys */
    char name[NAME_MAX + 1]; /* name of the disk: "sdb" */
    char model[96]; /* vendor and model, printable; "unknown" */
    uint64_t bytes;
};

/* Looks up the disk with device number `number`.  Refuses what must not be overwritten: a
 * partition; a disk that is neither removable nor on USB, is read-only, has sectors other than 512
 * bytes; and a disk that is mounted, swapped to or held by a device mapper or RAID, or has such a
 * partition. */
int usb_device_find(struct usb_device *d, const char *root, const char *path, dev_t number,
                    struct run_failure *failure);

/* Fails if the disk or partition is in use, as described above. */
int usb_device_check_unused(const struct usb_device *d, const char *root,
                            struct run_failure *failure);

/* Looks up a disk or partition for a small change: fills in directory and name. */
int usb_device_look_up(struct usb_device *d, const char *root, const char *path, dev_t number,
                       struct run_failure *failure);
