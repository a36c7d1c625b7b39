/* Call stacks of hostile chunks, for fuzz_trace.c: what decodes is within its bounds, and comes out
 * the same after encoding it again.
 */
#ifndef TESTS_FUZZ_FUZZ_STACKS_H
#define TESTS_FUZZ_FUZZ_STACKS_H

#include <string.h>

#include "lib/trace/trace_chains.h"
#include "lib/trace/trace_copies.h"
#include "lib/trace/trace_stacks.h"
#include "tests/fuzz/fuzz.h"

#define STACKS_AGAIN 8u /* samples of a run that are encoded again */

struct stacks_reader {
    struct trace_chains_frame frames[HR_STACK_NODES_MAX];
    struct trace_chains_decoder chains;
    struct trace_copies_decoder copies;
    bool copies_bad; /* the chunk's state is unknown */
    uint32_t run; /* samples of the run before; 0: none */
};

struct stacks_again { /* the second way */
    struct trace_chains chains;
    struct trace_copies copies;
    struct trace_chains_frame frames[HR_STACK_NODES_MAX];
    struct trace_copies_decoder decoder;
    uint8_t records[256 * 1024];
    union {
        struct trace_slot_stack stack;
        uint8_t
            bytes[sizeof(struct trace_slot_stack) + 8 * HR_STACK_REGISTERS + HR_STACK_BYTES_MAX];
    } slot;
};

static inline void stacks_begin(struct stacks_reader *s)
{
    trace_chains_decoder_begin(&s->chains, s->frames);
    trace_copies_decoder_begin(&s->copies);
    s->copies_bad = false;
    s->run = 0;
}

static inline void stacks_slot(const struct stacks_reader *s, uint32_t node,
                               struct trace_slot_stack *stack)
{
    stack->count = 0;
    for (; node >= HR_STACK_ROOTS; node = s->frames[node].parent) {
        fuzz_check(node < s->chains.count && s->frames[node].parent < node);
        fuzz_check(s->frames[node].depth == s->frames[s->frames[node].parent].depth + 1);
        fuzz_check(stack->count < HR_STACK_FRAMES_MAX);
        stack->words[stack->count++] = s->frames[node].address;
    }
    stack->root = node;
}

static inline void stacks_same(const struct stacks_reader *s, uint32_t node,
                               const struct trace_chains_decoder *again, uint32_t node_again)
{
    while (node >= HR_STACK_ROOTS) {
        fuzz_check(node_again >= HR_STACK_ROOTS && node_again < again->count);
        fuzz_check(s->frames[node].address == again->frames[node_again].address);
        node = s->frames[node].parent;
        node_again = again->frames[node_again].parent;
    }
    fuzz_check(node == node_again);
}

static inline void stacks_encode_chains(const struct stacks_reader *s, const uint32_t *nodes,
                                        uint32_t count)
{
    static struct stacks_again a;
    struct trace_chains_decoder again;
    uint32_t nodes_again[STACKS_AGAIN] = {0}, records = 0;
    struct trace_cursor c;
    struct trace_record r;
    uint8_t *end;

    trace_chains_begin(&a.chains);
    for (uint32_t i = 0; i < count; i++) {
        stacks_slot(s, nodes[i], &a.slot.stack);
        fuzz_check(trace_chains_bound(&a.chains, &a.slot.stack) <= sizeof a.records);
        trace_chains_add(&a.chains, &a.slot.stack);
    }
    end = trace_chains_flush(&a.chains, a.records, &records);
    trace_chains_decoder_begin(&again, a.frames);
    trace_cursor_init(&c, a.records, (uint32_t)(end - a.records));
    for (; trace_next(&c, &r) == TRACE_OK; records--)
        if (r.type == HR_REC_STACK_NODES)
            fuzz_check(trace_chains_decoder_nodes(&again, &r) == TRACE_OK);
        else
            fuzz_check(trace_chains_decoder_stacks(&again, &r, nodes_again, count) == TRACE_OK);
    fuzz_check(records == 0);
    for (uint32_t i = 0; i < count; i++)
        stacks_same(s, nodes[i], &again, nodes_again[i]);
}

static inline void stacks_read_chains(struct stacks_reader *s, const struct trace_record *r)
{
    static uint32_t nodes[TRACE_RUN_SAMPLES_MAX];

    if (trace_chains_decoder_stacks(&s->chains, r, nodes, s->run) != TRACE_OK)
        return;
    for (uint32_t i = 0; i < s->run; i++)
        fuzz_check(nodes[i] < s->chains.count);
    stacks_encode_chains(s, nodes, s->run < STACKS_AGAIN ? s->run : STACKS_AGAIN);
}

/* The copy that was decoded last: alone in a chunk. */
static inline void stacks_encode_copy(const struct trace_copies_decoder *d)
{
    static struct stacks_again a;
    struct trace_slot_stack *stack = &a.slot.stack;
    struct trace_record r = {.type = HR_REC_USER_STACKS};
    uint32_t records = 0;

    stack->root = d->taken ? HR_STACK_WHOLE : HR_STACK_NONE;
    stack->count = d->taken ? d->stack_bytes : 0;
    memcpy(stack->words, d->registers, sizeof d->registers);
    memcpy(stack->words + HR_STACK_REGISTERS, d->stack, stack->count);
    trace_copies_begin(&a.copies);
    fuzz_check(trace_copies_bound(&a.copies, stack) <= sizeof a.records);
    trace_copies_add(&a.copies, stack);
    r.bytes = (uint16_t)(trace_copies_flush(&a.copies, a.records, &records) - a.records);
    fuzz_check(records == d->taken);
    if (!d->taken)
        return;
    r.bytes = (uint16_t)(r.bytes - sizeof(struct hr_record_header));
    r.body = a.records + sizeof(struct hr_record_header);
    trace_copies_decoder_begin(&a.decoder);
    trace_copies_decoder_record(&a.decoder, &r);
    fuzz_check(trace_copies_decoder_next(&a.decoder) == TRACE_OK && a.decoder.at == a.decoder.end);
    fuzz_check(a.decoder.taken && a.decoder.stack_bytes == stack->count);
    fuzz_check(memcmp(a.decoder.registers, d->registers, sizeof d->registers) == 0);
    fuzz_check(memcmp(a.decoder.stack, d->stack, stack->count) == 0);
}

static inline void stacks_read_copies(struct stacks_reader *s, const struct trace_record *r)
{
    trace_copies_decoder_record(&s->copies, r);
    for (uint32_t i = 0; i < s->run && !s->copies_bad; i++) {
        s->copies_bad = trace_copies_decoder_next(&s->copies) != TRACE_OK;
        fuzz_check(s->copies.at <= s->copies.end);
        fuzz_check(s->copies.stack_bytes <= HR_STACK_BYTES_MAX);
        if (!s->copies_bad && i < STACKS_AGAIN)
            stacks_encode_copy(&s->copies);
    }
}

/* Takes any record; `samples` is how many it has itself. */
static inline void stacks_read(struct stacks_reader *s, const struct trace_record *r,
                               uint32_t samples)
{
    uint32_t count = s->chains.count;

    if (r->type == HR_REC_STACK_NODES) {
        if (trace_chains_decoder_nodes(&s->chains, r) != TRACE_OK)
            fuzz_check(s->chains.count == count);
        fuzz_check(s->chains.count >= count && s->chains.count <= HR_STACK_NODES_MAX);
        return;
    }
    if (r->type == HR_REC_STACKS)
        stacks_read_chains(s, r);
    if (r->type == HR_REC_USER_STACKS)
        stacks_read_copies(s, r);
    s->run = samples;
}

#endif
