/* Encodes chains of return addresses; the guest runs this for every sample with -g fp. */
#include "lib/trace/trace_chains.h"

#include <stdbool.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_stacks.h"
#include "lib/trace/varint.h"

#define NODE_BYTES_MAX (3u + VARINT_BYTES_MAX) /* numbers are below 2^21 */
#define SAMPLE_BYTES_MAX (4u + 2u) /* its node and the number of repetitions */
#define HEAD_BYTES (2u * (uint32_t)sizeof(struct hr_record_header))

_Static_assert(TRACE_CHAINS_NODES <= HR_STACK_NODES_MAX, "readers take as many");
_Static_assert(TRACE_CHAINS_NODES <= UINT16_MAX, "the index holds any number");
_Static_assert(TRACE_RUN_SAMPLES_MAX *SAMPLE_BYTES_MAX <= TRACE_BODY_BYTES_MAX, "a run's stacks");

void trace_chains_init(struct trace_chains *c)
{
    memset(c, 0, sizeof *c);
}

void trace_chains_begin(struct trace_chains *c)
{
    for (uint32_t i = HR_STACK_ROOTS; i < c->count; i++)
        c->index[c->nodes[i].place] = 0;
    c->count = c->written = HR_STACK_ROOTS;
    c->address = 0;
    c->previous = HR_STACK_NONE;
    c->run_count = 0;
    c->path_root = HR_STACK_NONE;
    c->path_count = 0;
}

static uint32_t frames(const struct trace_slot_stack *stack)
{
    return stack->count < HR_STACK_FRAMES_MAX ? stack->count : HR_STACK_FRAMES_MAX;
}

uint32_t trace_chains_bound(const struct trace_chains *c, const struct trace_slot_stack *stack)
{
    uint32_t count = frames(stack);
    uint32_t bytes = (c->count - c->written + count) * NODE_BYTES_MAX;

    if (count > TRACE_CHAINS_NODES - c->count || bytes > TRACE_BODY_BYTES_MAX)
        return TRACE_STACKS_NO_ROOM;
    return HEAD_BYTES + bytes + (c->run_count + 1) * SAMPLE_BYTES_MAX;
}

static uint32_t child(struct trace_chains *c, uint32_t parent, uint64_t address)
{
    uint64_t key = address + parent * 0xff51afd7ed558ccdull;
    uint32_t place = hash_place(key, 32) % TRACE_CHAINS_INDEX;
    uint32_t number;

    for (; (number = c->index[place]) != 0; place = (place + 1) % TRACE_CHAINS_INDEX)
        if (c->nodes[number].address == address && c->nodes[number].parent == parent)
            return number;
    number = c->count++;
    c->nodes[number] = (struct trace_chains_node){address, parent, place};
    c->index[place] = (uint16_t)number;
    return number;
}

/* The outer frames are usually those of the previous stack. */
static uint32_t common_frames(const struct trace_chains *c, const uint64_t *outermost,
                              uint32_t count)
{
    uint32_t i = 0;

    if (count > c->path_count)
        count = c->path_count;
    while (i < count && outermost[-(ptrdiff_t)i] == c->path_addresses[i])
        i++;
    return i;
}

void trace_chains_add(struct trace_chains *c, const struct trace_slot_stack *stack)
{
    uint32_t root = stack->root < HR_STACK_ROOTS ? stack->root : HR_STACK_BROKEN;
    uint32_t count = frames(stack);
    const uint64_t *outermost = stack->words + count - 1;
    uint32_t i = root == c->path_root ? common_frames(c, outermost, count) : 0;
    uint32_t node = i != 0 ? c->path_nodes[i - 1] : root;

    for (; i < count; i++) {
        uint64_t address = outermost[-(ptrdiff_t)i];

        node = child(c, node, address);
        c->path_addresses[i] = address;
        c->path_nodes[i] = node;
    }
    c->path_root = root;
    c->path_count = count;
    c->run[c->run_count++] = node;
}

static uint8_t *put_nodes(struct trace_chains *c, uint8_t *at)
{
    for (; c->written < c->count; c->written++) {
        const struct trace_chains_node *node = &c->nodes[c->written];

        at = varint_put(at, c->written - node->parent);
        at = varint_put(at, trace_code_zigzag(node->address - c->address));
        c->address = node->address;
    }
    return at;
}

static uint8_t *put_run(struct trace_chains *c, uint8_t *at)
{
    uint32_t i = 0;

    while (i < c->run_count) {
        uint32_t node = c->run[i], first = i++;
        uint64_t difference;

        while (i < c->run_count && c->run[i] == node)
            i++;
        difference = trace_code_zigzag((uint64_t)node - c->previous);
        at = varint_put(at, difference << 1 | (i - first > 1));
        if (i - first > 1)
            at = varint_put(at, i - first - 1);
        c->previous = node;
    }
    return at;
}

static bool any_stack(const struct trace_chains *c)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < c->run_count; i++)
        all |= c->run[i];
    return all != HR_STACK_NONE;
}

uint8_t *trace_chains_flush(struct trace_chains *c, uint8_t *at, uint32_t *records)
{
    uint8_t *body = at + sizeof(struct hr_record_header);
    uint8_t *end;

    if (c->written != c->count) {
        end = put_nodes(c, body);
        trace_code_record(at, HR_REC_STACK_NODES, (uint32_t)(end - body));
        ++*records;
        at = end;
    }
    if (any_stack(c)) {
        body = at + sizeof(struct hr_record_header);
        end = put_run(c, body);
        trace_code_record(at, HR_REC_STACKS, (uint32_t)(end - body));
        ++*records;
        at = end;
    }
    c->run_count = 0;
    return at;
}
