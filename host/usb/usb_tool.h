/* The programs that partition, format and fill a stick: sfdisk, mkfs.fat, mtools.
 *
 * They are started directly, never through a shell, and found in PATH and where a system keeps what
 * is for its administrator.  Functions return 0, or -1 with the failure filled; a program that is
 * missing is named with its Debian package.
 */
#ifndef HOST_USB_USB_TOOL_H
#define HOST_USB_USB_TOOL_H

#include <stddef.h>

#include "host/base/run_failure.h"

#define USB_TOOL_ARGUMENTS_MAX 24

/* Runs a program to its end.  `input` is the text on its standard input, NULL: none.  Its output is
 * shown only as a part of the failure.
 */
int usb_tool_run(const char *const argv[], const char *input, struct run_failure *failure);

/* Takes a piece of what a program writes to its standard output.  0: go on; otherwise the program
 * is ended.
 */
typedef int usb_tool_sink(void *context, const void *bytes, size_t count);

enum usb_tool_end {
    USB_TOOL_DONE, /* exit status 0 */
    USB_TOOL_FAILED, /* another; *failure holds the words, which need not be the user's business */
    USB_TOOL_STOPPED, /* by the sink */
    USB_TOOL_ABSENT, /* it could not be started; *failure says why */
};

/* Runs a program and hands its standard output to the sink. */
enum usb_tool_end usb_tool_read(const char *const argv[], usb_tool_sink *sink, void *context,
                                struct run_failure *failure);

#endif
