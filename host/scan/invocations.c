/* Matches entries and returns of one thread. */
#include "host/scan/invocations.h"

#define NOT_FOUND INVOCATIONS_MAX

void invocations_init(struct invocations *v)
{
    v->depth = 0;
    v->deep = v->again = v->strays = 0;
    for (uint32_t i = 0; i < INVOCATIONS_MAX; i++)
        v->order[i] = (uint16_t)i;
}

static inline bool is_near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= INVOCATIONS_STACK_BYTES;
}

static inline const struct invocations_open *nth(const struct invocations *v, uint32_t n)
{
    return &v->open[v->order[n]];
}

/* Ends the invocation at place `n` of the order; its slot becomes the first free one. */
static void end_one(struct invocations *v, uint32_t n, enum invocations_end end,
                    const struct invocations_visitor *visitor)
{
    uint16_t slot = v->order[n];

    visitor->ended(visitor->context, slot, &v->open[slot], end);
    v->depth--;
    for (; n < v->depth; n++)
        v->order[n] = v->order[n + 1];
    v->order[n] = slot;
}

/* Ends those that are inside the invocation at place `n`, on its stack.  A deep stack is larger
 * than the distance of two stacks, but no two frames on it that follow each other are. */
static void leave_inside(struct invocations *v, uint32_t n,
                         const struct invocations_visitor *visitor)
{
    uint64_t sp = nth(v, n)->sp, last = sp;
    uint16_t inside[INVOCATIONS_MAX];
    uint32_t count = 0;

    for (uint32_t i = n + 1; i < v->depth; i++)
        if (nth(v, i)->sp <= sp && is_near(nth(v, i)->sp, last)) {
            last = nth(v, i)->sp;
            inside[count++] = (uint16_t)i;
        }
    while (count != 0)
        end_one(v, inside[--count], INVOCATIONS_LEFT, visitor);
}

/* Ends those whose frames are at or below `sp`. */
static void leave_below(struct invocations *v, uint64_t sp,
                        const struct invocations_visitor *visitor)
{
    uint32_t outermost = NOT_FOUND;

    for (uint32_t i = v->depth; i-- > 0;) {
        if (!is_near(nth(v, i)->sp, sp))
            continue;
        if (nth(v, i)->sp > sp)
            break;
        outermost = i;
    }
    if (outermost == NOT_FOUND)
        return;
    leave_inside(v, outermost, visitor);
    end_one(v, outermost, INVOCATIONS_LEFT, visitor);
}

/* Returns the place of the innermost invocation with this stack pointer, or NOT_FOUND. */
static inline uint32_t find(const struct invocations *v, uint32_t function, uint64_t sp)
{
    for (uint32_t i = v->depth; i-- > 0;) {
        const struct invocations_open *open = nth(v, i);

        if (open->sp == sp && open->function == function)
            return i;
        if (open->sp > sp && is_near(open->sp, sp))
            break; /* those around it on this stack are above, too */
    }
    return NOT_FOUND;
}

/* Returns the slot of the innermost invocation on the stack of `sp`. */
static uint32_t around(const struct invocations *v, uint64_t sp)
{
    for (uint32_t i = v->depth; i-- > 0;)
        if (is_near(nth(v, i)->sp, sp))
            return v->order[i];
    return INVOCATIONS_NONE;
}

uint32_t invocations_enter(struct invocations *v, uint32_t function, uint64_t sp, bool loops,
                           const struct invocations_visitor *visitor)
{
    uint32_t open = loops ? find(v, function, sp) : NOT_FOUND, slot;

    if (open != NOT_FOUND) {
        leave_inside(v, open, visitor);
        v->again++;
        return INVOCATIONS_NONE;
    }
    leave_below(v, sp, visitor);
    if (v->depth == INVOCATIONS_MAX) {
        v->deep++;
        return INVOCATIONS_NONE;
    }
    slot = v->order[v->depth];
    v->open[slot] = (struct invocations_open){sp, function, around(v, sp)};
    v->depth++;
    return slot;
}

bool invocations_return(struct invocations *v, uint32_t function, uint64_t sp,
                        const struct invocations_visitor *visitor)
{
    uint32_t open = find(v, function, sp);

    if (open == NOT_FOUND) {
        leave_below(v, sp, visitor);
        v->strays++;
        return false;
    }
    if (open + 1 != v->depth)
        leave_inside(v, open, visitor);
    end_one(v, open, INVOCATIONS_RETURNED, visitor);
    return true;
}

void invocations_end(struct invocations *v, enum invocations_end end,
                     const struct invocations_visitor *visitor)
{
    while (v->depth != 0)
        end_one(v, v->depth - 1, end, visitor);
}
