/* The frames of CPython's interpreter, from the program's memory (hr run --python).
 *
 * A frame becomes a number: its code object's number and the offset of the instruction that it
 * executes.  A code object that was not seen yet gets the next free number, and what names and
 * lines need is copied at once, since it may be gone later.
 *
 * Pure but for stack_page(), which gives the memory.  Takes no locks, allocates nothing and cannot
 * fault.  All memory read is the program's and hostile: every list is followed up to a limit, and
 * no address is used before stack_page() accepts it.  Context: any, NMIs included.
 */
#ifndef GUEST_SAMPLE_PYTHON_WALK_H
#define GUEST_SAMPLE_PYTHON_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/program/python_layout.h"
#include "lib/trace/trace_slot.h"

#define PYTHON_CODES_BITS 15u
#define PYTHON_QUEUE_BYTES (2u << 20) /* a power of two */
#define PYTHON_NAME_BYTES 1024u /* longer names and files are cut off */
#define PYTHON_LINES_BYTES 40000u /* likewise tables of lines */
#define PYTHON_RECORD_BYTES \
    (sizeof(struct hr_meta_python_code) + 2 * PYTHON_NAME_BYTES + PYTHON_LINES_BYTES)

struct python_code { /* a code object that has a number */
    uint64_t address; /* with the space in the bits that no address has; 0: free */
    uint64_t identity; /* a hash of what tells it from another one at this address */
    uint64_t start;
};

struct python_codes { /* of one CPU; all zero but for `next` at first */
    uint64_t next; /* number of the next code object */
    uint32_t count;
    bool busy; /* a walk is under way: an NMI may come then */
    uint64_t head; /* bytes ever put into the queue; the sampler's side */
    uint64_t tail; /* bytes ever taken out; the other side's */
    struct python_code all[1u << PYTHON_CODES_BITS];
    uint8_t queue[PYTHON_QUEUE_BYTES] __attribute__((aligned(8)));
};

struct python_where {
    uint64_t runtime; /* addresses */
    uint64_t code_type;
    uint16_t space; /* other code may be at the same address in another one */
};

/* Fills `stack` with the frames of thread `tid`, at most `limit`.  A thread in which no Python runs
 * has the root HR_STACK_NONE. */
void python_walk(struct python_codes *codes, struct trace_slot_stack *stack, uint32_t limit,
                 const struct python_layout *layout, const struct python_where *where,
                 uint32_t tid);

/* The other side of the queue: the body of the next HR_META_PYTHON_CODE, or NULL; and done with it.
 */
const uint8_t *python_walk_next(struct python_codes *codes, uint32_t *bytes);
void python_walk_taken(struct python_codes *codes);

#endif
