/* The programs that partition, format and fill a stick: sfdisk, mkfs.fat, mtools.
 *
 * They are started without a shell, and searched for in PATH and in the system's directories for
 * administration.  Functions return 0, or -1 with the failure filled, unless noted; a missing
 * program is named with its Debian package.
 */
#pragma once

#include <stddef.h>

#include "host/base/run_failure.h"

/* Runs a program to its end.  `input` is the text for its standard input; NULL: none.  Its output
 * is shown only as part of the failure. */
int usb_tool_run(const char *const argv[], const char *input, struct run_failure *failure);

/* Takes a piece of a program's standard output.  Returns 0 to continue; otherwise the program is
 * ended. */
typedef int usb_tool_sink(void *context, const void *bytes, size_t count);

enum usb_tool_end {
    USB_TOOL_DONE, /* exit status 0 */
    USB_TOOL_FAILED, /* another exit status; *failure holds its messages */
    USB_TOOL_STOPPED, /* by the sink */
    USB_TOOL_ABSENT, /* it could not be started; *failure says why */
};

/* Runs a program and passes its standard output to the sink. */
enum usb_tool_end usb_tool_read(const char *const argv[], usb_tool_sink *sink, void *context,
                                struct run_failure *failure);
