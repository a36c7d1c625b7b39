/* Encodes the call stacks of a writer's samples: chooses by their kind. */
#include "lib/trace/trace_stacks.h"

#include "lib/trace/stack_kinds.h"
#include "lib/trace/trace_chains.h"
#include "lib/trace/trace_copies.h"

struct trace_stacks {
    bool is_chains;
    union {
        struct trace_chains chains;
        struct trace_copies copies;
    };
};

size_t trace_stacks_bytes(enum hr_stack_kind kind)
{
    return offsetof(struct trace_stacks, chains) +
           (stack_kinds_chains(kind) ? sizeof(struct trace_chains) : sizeof(struct trace_copies));
}

struct trace_stacks *trace_stacks_init(void *memory, enum hr_stack_kind kind)
{
    struct trace_stacks *s = memory;

    s->is_chains = stack_kinds_chains(kind);
    if (s->is_chains)
        trace_chains_init(&s->chains);
    else
        trace_copies_init(&s->copies);
    return s;
}

void trace_stacks_begin(struct trace_stacks *s)
{
    if (s->is_chains)
        trace_chains_begin(&s->chains);
    else
        trace_copies_begin(&s->copies);
}

uint32_t trace_stacks_bound(const struct trace_stacks *s, const struct trace_slot_stack *stack)
{
    if (s->is_chains)
        return trace_chains_bound(&s->chains, stack);
    return trace_copies_bound(&s->copies, stack);
}

void trace_stacks_add(struct trace_stacks *s, const struct trace_slot_stack *stack)
{
    if (s->is_chains)
        trace_chains_add(&s->chains, stack);
    else
        trace_copies_add(&s->copies, stack);
}

uint8_t *trace_stacks_flush(struct trace_stacks *s, uint8_t *at, uint32_t *records)
{
    if (s->is_chains)
        return trace_chains_flush(&s->chains, at, records);
    return trace_copies_flush(&s->copies, at, records);
}
