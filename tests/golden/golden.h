/* The golden traces: built from fixed data, kept as files beside this one.
 *
 * A writer that no longer produces these bytes has changed the format: that needs a new version.
 */
#ifndef TESTS_GOLDEN_GOLDEN_H
#define TESTS_GOLDEN_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/trace/trace_slot.h"

#define GOLDEN_BYTES_MAX 65536u

struct golden {
    const char *name; /* of the file: NAME.bin */
    uint32_t event_count;
    uint32_t samples; /* in all DATA chunks */
    /* Writes the trace into GOLDEN_BYTES_MAX bytes; returns its length. */
    size_t (*build)(uint8_t *out);
    struct trace_slot (*sample)(uint32_t i); /* its samples; HR_EVENTS_MAX counters */
    void (*stack)(uint32_t i, struct trace_slot_stack *stack); /* their stacks; NULL: none */
};

extern const struct golden golden_table[]; /* ends with a NULL name */

#endif
