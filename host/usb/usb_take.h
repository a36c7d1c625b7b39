/* Takes one result off a stick: \results\NNN becomes DIR/NNN.
 *
 * Everything on the stick may be damaged or hostile.  What came out right is kept, what did not is
 * said.
 */
#ifndef HOST_USB_USB_TAKE_H
#define HOST_USB_USB_TAKE_H

#include <stdbool.h>

#include "host/base/progress_bar.h"
#include "host/base/run_failure.h"
#include "host/usb/usb_result.h"
#include "host/usb/usb_source.h"

#define USB_TAKE_PROBLEMS 16
#define USB_TAKE_PROBLEM_BYTES 256

enum usb_take_state {
    USB_TAKEN, /* everything is there and as it was written */
    USB_TAKEN_INCOMPLETE, /* what is there is in order, but it is not all */
    USB_TAKEN_DAMAGED, /* some of it is not as it was written */
    USB_NOT_TAKEN, /* nothing was kept: DIR holds another result of this number */
};

struct usb_take {
    const struct usb_source *source;
    const char *directory; /* where results go */
    const char *number; /* "001": the directory's name, there and here */
    uint64_t taken_bytes; /* of the stick until now, results before this one included */

    struct usb_result result;
    enum usb_take_state state;
    bool known; /* the same result was here before */
    bool has_trace;
    uint64_t bytes; /* of all its files */
    uint64_t samples, lost_samples; /* in the trace */
    char problems[USB_TAKE_PROBLEMS][USB_TAKE_PROBLEM_BYTES];
    size_t problem_count; /* more may have been found */

    /* the module's */
    struct usb_names names; /* of files on the stick */
    char temporary[PATH_MAX];
    struct progress_bar bar;
    uint64_t trace_bytes; /* of hr.bin that came from the stick */
    struct run_failure *failure;
};

/* Set by a signal handler: what is going on ends soon, and counts as a failure. */
extern volatile int usb_take_interrupted;

/* 0, or -1 with the failure filled: nothing more can be taken (a full disk, an interruption).
 * usb_take_free in either case.
 */
int usb_take(struct usb_take *t, struct run_failure *failure);
void usb_take_free(struct usb_take *t);

/* Removes the result from the stick. */
int usb_take_clear(struct usb_take *t, struct run_failure *failure);

/* For the parts of the module. */
void usb_take_problem(struct usb_take *t, enum usb_take_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
