/* The golden traces with call stacks, for golden.c's table. */
#ifndef TESTS_GOLDEN_GOLDEN_STACKS_H
#define TESTS_GOLDEN_GOLDEN_STACKS_H

#include "tests/golden/golden.h"

#define GOLDEN_STACKS_SAMPLES 60u
#define GOLDEN_STACKS_EVENTS 2u

struct trace_slot golden_stacks_sample(uint32_t i);

/* Return addresses; registers and copies; frames of Python, with names of other code, too. */
size_t golden_stacks_build_chains(uint8_t *out);
size_t golden_stacks_build_copies(uint8_t *out);
size_t golden_stacks_build_python(uint8_t *out);
void golden_stacks_chain(uint32_t i, struct trace_slot_stack *stack);
void golden_stacks_copy(uint32_t i, struct trace_slot_stack *stack);
void golden_stacks_python(uint32_t i, struct trace_slot_stack *stack);

#endif
