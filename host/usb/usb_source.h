/* A stick or an image of one that results are read from, through mtools: nothing is mounted, and no
 * root is needed for an image.
 *
 * Functions return 0, or -1 with the failure filled.
 */
#ifndef HOST_USB_USB_SOURCE_H
#define HOST_USB_USB_SOURCE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/usb/usb_tool.h"

struct usb_source {
    const char *path; /* as given */
    int fd; /* of it */
    char image[96]; /* as mtools wants it: the descriptor's name and the place of the file system */
    uint64_t bytes; /* of the file system at most: no file on it is longer */
};

/* Finds the EFI system partition; close what was opened, also after a failure.  Without a partition
 * table the whole is taken for a file system.
 */
int usb_source_open(struct usb_source *s, const char *path, struct run_failure *failure);
void usb_source_close(struct usb_source *s);

struct usb_names { /* names in a directory, which are plain ASCII */
    char (*names)[NAME_MAX + 1];
    size_t count;
};

#define USB_SOURCE_NAMES_MAX 65536

/* The entries of a directory of the stick ("results"), directories with a '/' at the end.  Free
 * what it gives.  A directory that is not there is a failure.
 */
int usb_source_list(const struct usb_source *s, const char *directory, struct usb_names *names,
                    struct run_failure *failure);

/* Hands the bytes of a file ("results/001/hr.bin") to the sink, until that says no. */
enum usb_tool_end usb_source_read(const struct usb_source *s, const char *path, usb_tool_sink *sink,
                                  void *context, struct run_failure *failure);

/* Removes files and then the directory that they were in. */
int usb_source_remove_file(const struct usb_source *s, const char *path,
                           struct run_failure *failure);
int usb_source_remove_directory(const struct usb_source *s, const char *path,
                                struct run_failure *failure);

#endif
