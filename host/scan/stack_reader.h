/* From a chunk's records of call stacks to nodes of a tree, for the walk over a trace.
 *
 * Copies of stack memory are unwound here, those of selected samples only.  Memory is bounded and
 * taken when a trace turns out to have stacks.  Never prints.
 */
#pragma once

#include "host/symbols/symbols.h"
#include "host/trace/trace_info.h"
#include "host/unwind/stacks.h"
#include "host/unwind/unwind.h"
#include "lib/trace/trace_chains.h"
#include "lib/trace/trace_copies.h"

#define STACK_READER_SPACES 8u /* that are remembered at once */

struct stack_reader { /* all zero at first */
    /* return addresses; owned */
    struct trace_chains_decoder chains;
    struct stack_reader_translation { /* the tree's nodes for the chunk's, of one address space */
        uint32_t *nodes; /* owned */
        uint32_t count; /* how many of the chunk's have one; 0: of no space */
        uint32_t space;
    } translations[STACK_READER_SPACES];
    uint32_t next_translation; /* that another space gets */
    /* copies; owned */
    struct trace_copies_decoder *copies;
    struct unwind *unwind;
    bool copies_begun; /* in this chunk */
    uint32_t nodes[TRACE_RUN_SAMPLES_MAX]; /* of the run */
};

struct stack_reader_run { /* what a run's stacks are read with */
    struct stacks *stacks; /* NULL: nodes are roots alone, and copies are WHOLE without a look */
    const struct trace_info *info; /* outlives the reader */
    const struct symbols_options *symbols; /* NULL: the defaults */
    bool own_addresses, names; /* as struct trace_visitor says it */
    const struct trace_slot *slots; /* with addresses as they are */
    uint32_t count;
    uint32_t first; /* selected: from here ... */
    uint32_t last; /* ... to before here */
};

void stack_reader_free(struct stack_reader *reader);

/* A DATA chunk begins. */
void stack_reader_begin(struct stack_reader *reader);

/* Takes HR_REC_STACK_NODES.  *error is set to -ENOMEM when memory ran out. */
enum trace_status stack_reader_nodes(struct stack_reader *reader, const struct trace_record *record,
                                     int *error);

/* Reads the records at the cursor that belong to the run before it.  Fills `nodes` at the places of
 * the run's selected samples, sets *any when the run has stacks, and moves the cursor past the last
 * of the records. */
enum trace_status stack_reader_run(struct stack_reader *reader, const struct stack_reader_run *run,
                                   struct trace_cursor *cursor, bool *any, int *error);
