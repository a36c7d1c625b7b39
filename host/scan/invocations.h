/* Makes invocations of one thread's entries and returns; docs/architecture/probes.md, "Matching".
 *
 * Pure code, constant memory for each thread; every hit may be a lie.  Hits come in the order of
 * time.  An open invocation has a slot; what a caller wants to keep of it is in its own array.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define INVOCATIONS_MAX 1024u /* open invocations of a thread */
#define INVOCATIONS_NONE INVOCATIONS_MAX /* no slot */
#define INVOCATIONS_STACK_BYTES (1u << 20) /* what is farther apart is on different stacks */

enum invocations_end {
    INVOCATIONS_RETURNED,
    INVOCATIONS_LEFT, /* by longjmp, an exception, or the end of the thread */
    INVOCATIONS_UNKNOWN, /* hits were lost, or the trace ends */
};

struct invocations_open {
    uint64_t sp; /* before the function's first instruction */
    uint32_t function;
    uint32_t outer; /* slot of the invocation around it on its stack, or INVOCATIONS_NONE */
};

struct invocations {
    uint32_t depth;
    uint16_t
        order[INVOCATIONS_MAX]; /* slots: `depth` open ones, the outermost first, then free ones
                                 */
    struct invocations_open open[INVOCATIONS_MAX]; /* by slot */
    uint64_t deep; /* entries that found no room: they are not invocations */
    uint64_t again; /* entries of an invocation that is open: a loop to the first instruction */
    uint64_t strays; /* returns without an entry */
};

/* Called for each invocation that ends, those inside others first; its slot is still its own. */
struct invocations_visitor {
    void *context;
    void (*ended)(void *context, uint32_t slot, const struct invocations_open *open,
                  enum invocations_end end);
};

void invocations_init(struct invocations *v);

/* Takes an entry of a function, which jumps to its first instruction if it `loops`: ends what the
 * entry shows to be left, and opens an invocation.  Returns its slot, or INVOCATIONS_NONE if it is
 * none or finds no room. */
uint32_t invocations_enter(struct invocations *v, uint32_t function, uint64_t sp, bool loops,
                           const struct invocations_visitor *visitor);

/* Takes a return.  Returns whether it ended an invocation. */
bool invocations_return(struct invocations *v, uint32_t function, uint64_t sp,
                        const struct invocations_visitor *visitor);

/* Ends all: LEFT when the thread ended, UNKNOWN after a loss and at the end of the trace. */
void invocations_end(struct invocations *v, enum invocations_end end,
                     const struct invocations_visitor *visitor);
