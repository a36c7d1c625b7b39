/* Call stacks as chains of return addresses (-g fp): HR_REC_STACK_NODES and HR_REC_STACKS.
 *
 * A chunk's stacks form a tree.  A node has a number, a return address and the node of its caller.
 * Freestanding; the decoder's input is hostile.
 */
#pragma once

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_slot.h"

#define TRACE_CHAINS_NODES 16384u /* per chunk written here, roots included */
#define TRACE_CHAINS_INDEX (2 * TRACE_CHAINS_NODES)

struct trace_chains_node {
    uint64_t address;
    uint32_t parent;
    uint32_t place; /* position in the index */
};

struct trace_chains { /* the encoder, for trace_stacks.c */
    uint32_t count; /* nodes, roots included */
    uint32_t written; /* nodes that are in records; the others belong to the open run */
    uint64_t address; /* of the node written last */
    uint32_t previous; /* node of the sample written last */
    uint32_t run_count;
    uint32_t run[TRACE_RUN_SAMPLES_MAX]; /* nodes of the open run's samples */
    /* the previous stack, from the outermost frame */
    uint32_t path_root;
    uint32_t path_count;
    uint64_t path_addresses[HR_STACK_FRAMES_MAX];
    uint32_t path_nodes[HR_STACK_FRAMES_MAX];
    struct trace_chains_node nodes[TRACE_CHAINS_NODES];
    uint16_t index[TRACE_CHAINS_INDEX]; /* hash table of node numbers; 0: free */
};

/* These are trace_stacks_init to trace_stacks_flush for chains. */
void trace_chains_init(struct trace_chains *c);
void trace_chains_begin(struct trace_chains *c);
uint32_t trace_chains_bound(const struct trace_chains *c, const struct trace_slot_stack *stack);
void trace_chains_add(struct trace_chains *c, const struct trace_slot_stack *stack);
uint8_t *trace_chains_flush(struct trace_chains *c, uint8_t *at, uint32_t *records);

struct trace_chains_frame { /* a node as read */
    uint64_t address; /* 0 for a root */
    uint32_t parent; /* a lower number; its own for a root */
    uint16_t depth; /* frames from here to the root, at most HR_STACK_FRAMES_MAX; 0 for a root */
    uint16_t root; /* enum hr_stack_root */
};

struct trace_chains_decoder {
    struct trace_chains_frame *frames; /* the caller's memory: HR_STACK_NODES_MAX frames */
    uint32_t count; /* roots included */
    uint32_t previous; /* node of the previous sample */
};

/* Starts a DATA chunk. */
void trace_chains_decoder_begin(struct trace_chains_decoder *d, struct trace_chains_frame *frames);

/* Takes HR_REC_STACK_NODES: adds frames from d->count on.  Returns TRACE_OK, or TRACE_BAD_RECORD
 * and adds none. */
enum trace_status trace_chains_decoder_nodes(struct trace_chains_decoder *d,
                                             const struct trace_record *record);

/* Takes HR_REC_STACKS: stores the nodes of the run's `count` samples. */
enum trace_status trace_chains_decoder_stacks(struct trace_chains_decoder *d,
                                              const struct trace_record *record, uint32_t *nodes,
                                              uint32_t count);
