/* The contents of a stick: loader, kernel, archives, with their sizes and checksums. */
#pragma once

#include <limits.h>
#include <stdint.h>

#include "host/usb/usb_options.h"

#define USB_FILE_BYTES_MAX (4095ull << 20) /* FAT's limit is a byte below 4 GiB */

struct usb_file {
    char source[PATH_MAX]; /* path on the host, for messages */
    int fd; /* descriptor of the source; 0: not opened */
    char name[BOOT_CONF_NAME_BYTES]; /* without its directory */
    uint64_t bytes;
    uint32_t crc32c;
};

struct usb_contents {
    struct usb_file loader;
    struct usb_file kernel;
    struct usb_file mbr; /* boot code, outside the file system */
    struct usb_file *runs; /* NAME.cpio, where NAME is the run's name */
    size_t run_count;
    uint64_t bytes; /* of all files */
    int archive; /* archive of a program, in memory; -1: none */
};

/* Finds the files, and packs the program if there is one.  Returns 0, or -1 with the failure
 * filled. */
int usb_contents_gather(struct usb_contents *c, const struct usb_options *o,
                        struct run_failure *failure);
void usb_contents_free(struct usb_contents *c);

/* Derives a name for a run, and for its archive on a FAT file system, from a file's name: without
 * directory and ".cpio", with letters, digits, '-', '_' and '.' only, and different from the names
 * of the `count` files `others`, ignoring case.  `name` has BOOT_CONF_NAME_BYTES. */
void usb_contents_name(char *name, const char *path, const struct usb_file *others, size_t count);
