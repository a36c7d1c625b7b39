/* What is left to do for a call stack after the program continues: order and plausibility. */
#include <string.h>

#include "guest/base/layout.h"
#include "guest/sample/stack_walk.h"

static void reverse(uint64_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        uint64_t word = words[i];

        words[i] = words[count - 1 - i];
        words[count - 1 - i] = word;
    }
}

/* stack_frames leaves the first words at the end of the stack's room, the innermost last. */
static void put_in_order(struct trace_slot_stack *stack)
{
    uint64_t head = stack->count | (uint64_t)stack->root << 32;
    uint64_t pushed = stack->root >> STACK_ROOT_BITS, count = stack->count;
    uint64_t *end = stack->words + stack_walk_words;

    if (head - (uint64_t)stack->words <
        stack_walk_words * sizeof *end) { /* the last one's address */
        pushed = (uint64_t)(end - (uint64_t *)head);
        count = 0;
        stack->root = HR_STACK_WHOLE;
    }
    if (!pushed)
        return;
    memmove(stack->words + count, end - pushed, pushed * sizeof *end);
    reverse(stack->words, count + pushed);
    reverse(stack->words + pushed, count);
    stack->count = (uint32_t)(count + pushed);
    stack->root &= (1u << STACK_ROOT_BITS) - 1;
}

void stack_walk_check(struct trace_slot_stack *stack, bool kernel)
{
    uint32_t good = 0;

    put_in_order(stack);
    while (kernel && good < stack->count && stack->words[good] >= KERNEL_BASE)
        good++;
    while (good < stack->count && stack->words[good] - 1 < USER_END - 1)
        good++;
    if (good == stack->count)
        return;
    if (stack->root != HR_STACK_WHOLE || good + 1 != stack->count || stack->words[good])
        stack->root = HR_STACK_BROKEN; /* unless a zero says that there is no caller */
    stack->count = good;
}
