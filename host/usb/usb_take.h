/* Copies one result from a stick: \results\NNN becomes DIR/NNN.
 *
 * Everything on the stick may be damaged or hostile.  Valid data is kept, problems are reported.
 */
#pragma once

#include <stdbool.h>

#include "host/base/progress_bar.h"
#include "host/base/run_failure.h"
#include "host/usb/usb_result.h"
#include "host/usb/usb_source.h"

#define USB_TAKE_PROBLEMS 16
#define USB_TAKE_PROBLEM_BYTES 256

enum usb_take_state {
    USB_TAKEN, /* everything is there, and unchanged */
    USB_TAKEN_INCOMPLETE, /* what is there is valid, but something is missing */
    USB_TAKEN_DAMAGED, /* something differs from what was written */
    USB_NOT_TAKEN, /* nothing was kept: DIR holds another result of this number */
};

struct usb_take {
    const struct usb_source *source;
    const char *directory; /* directory for results */
    const char *number; /* "001": the directory's name on the stick and here */
    uint64_t taken_bytes; /* read from the stick so far, earlier results included */

    struct usb_result result;
    enum usb_take_state state;
    bool known; /* an equal result was already here */
    bool has_trace;
    uint64_t bytes; /* total of all its files */
    uint64_t samples, lost_samples; /* in the trace */
    char problems[USB_TAKE_PROBLEMS][USB_TAKE_PROBLEM_BYTES];
    size_t problem_count; /* number of problems; may exceed those listed */

    /* used by the module only */
    struct usb_names names; /* files on the stick */
    char temporary[PATH_MAX];
    struct progress_bar bar;
    uint64_t trace_bytes; /* bytes of hr.bin that came from the stick */
    struct run_failure *failure;
};

/* Set by a signal handler: the current work ends soon, as a failure. */
extern volatile int usb_take_interrupted;

/* Returns 0, or -1 with the failure filled if nothing more can be copied (a full disk, an
 * interruption).  Call usb_take_free in either case. */
int usb_take(struct usb_take *t, struct run_failure *failure);
void usb_take_free(struct usb_take *t);

/* Removes the result from the stick. */
int usb_take_clear(struct usb_take *t, struct run_failure *failure);

/* For the parts of the module. */
void usb_take_problem(struct usb_take *t, enum usb_take_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
