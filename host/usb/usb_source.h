/* A stick or an image of one, from which results are read with mtools.  Nothing is mounted, and an
 * image does not need root.
 *
 * Functions return 0, or -1 with the failure filled, unless noted.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/usb/usb_tool.h"

struct usb_source {
    const char *path; /* as given */
    int fd; /* its descriptor */
    char image[96]; /* for mtools: the descriptor's name and the offset of the file system */
    uint64_t bytes; /* upper bound of the file system's size, and so of a file on it */
};

/* Finds the EFI system partition; without a partition table the whole is taken as a file system.
 * Call usb_source_close also after a failure. */
int usb_source_open(struct usb_source *s, const char *path, struct run_failure *failure);
void usb_source_close(struct usb_source *s);

struct usb_names { /* names in a directory, plain ASCII */
    char (*names)[NAME_MAX + 1];
    size_t count;
};

#define USB_SOURCE_NAMES_MAX 65536

/* Lists the entries of a directory of the stick ("results"), directories with a '/' at the end.
 * The caller frees names->names.  A missing directory is a failure. */
int usb_source_list(const struct usb_source *s, const char *directory, struct usb_names *names,
                    struct run_failure *failure);

/* Passes the bytes of a file ("results/001/hr.bin") to the sink, until that does not return 0. */
enum usb_tool_end usb_source_read(const struct usb_source *s, const char *path, usb_tool_sink *sink,
                                  void *context, struct run_failure *failure);

/* Removes a file, or a directory without files. */
int usb_source_remove(const struct usb_source *s, bool directory, const char *path,
                      struct run_failure *failure);
