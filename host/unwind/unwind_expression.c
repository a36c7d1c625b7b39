/* Evaluates the DWARF expressions of call frame information: a stack machine, bounded. */
#include <dwarf.h>
#include <stddef.h>

#include "host/unwind/unwind_bytes.h"
#include "host/unwind/unwind_rule.h"

#define DEPTH_MAX 32u
#define STEPS_MAX 512u

struct machine {
    const struct unwind_frame *frame;
    const uint8_t *code;
    struct unwind_bytes next;
    uint64_t stack[DEPTH_MAX];
    uint32_t depth;
    int end; /* HR_STACK_*, why it stopped */
};

static void push(struct machine *m, uint64_t value)
{
    if (m->depth == DEPTH_MAX)
        m->end = HR_STACK_BROKEN;
    else
        m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
    if (m->depth == 0) {
        m->end = HR_STACK_BROKEN;
        return 0;
    }
    return m->stack[--m->depth];
}

static void push_register(struct machine *m, uint64_t reg, uint64_t offset)
{
    if (reg >= UNWIND_REGISTERS || (m->frame->known >> reg & 1) == 0)
        m->end = HR_STACK_BROKEN;
    else
        push(m, m->frame->registers[reg] + offset);
}

static void push_memory(struct machine *m, uint64_t bytes)
{
    uint64_t value = 0, address = pop(m);

    if (m->end != 0)
        return;
    m->end = bytes >= 1 && bytes <= 8
                 ? unwind_frame_read(m->frame, address, (uint32_t)bytes, &value)
                 : HR_STACK_BROKEN;
    push(m, value);
}

/* Pushes a copy of the value `depth` below the top. */
static void push_copy(struct machine *m, uint64_t depth)
{
    if (depth >= m->depth)
        m->end = HR_STACK_BROKEN;
    else
        push(m, m->stack[m->depth - 1 - depth]);
}

static void swap_top(struct machine *m)
{
    uint64_t b = pop(m), a = pop(m);

    push(m, b);
    push(m, a);
}

static void rotate(struct machine *m)
{
    uint64_t c = pop(m), b = pop(m), a = pop(m);

    push(m, c);
    push(m, a);
    push(m, b);
}

static void jump(struct machine *m, uint64_t distance, bool taken)
{
    uint64_t target = (uint64_t)(m->next.at - m->code) + distance;

    if (!taken)
        return;
    if (target <= (uint64_t)(m->next.end - m->code))
        m->next.at = m->code + target;
    else
        m->end = HR_STACK_BROKEN;
}

static uint64_t shift(uint8_t atom, uint64_t value, uint64_t count)
{
    if (atom == DW_OP_shra) {
        uint64_t sign = value >> 63 != 0 ? UINT64_MAX : 0;

        return count >= 64 ? sign : count == 0 ? value : value >> count | sign << (64 - count);
    }
    if (count >= 64)
        return 0;
    return atom == DW_OP_shl ? value << count : value >> count;
}

/* Returns whether an operation takes two values. */
static bool is_binary(uint8_t atom)
{
    return atom >= DW_OP_and && atom <= DW_OP_ne && atom != DW_OP_neg && atom != DW_OP_not &&
           atom != DW_OP_plus_uconst && atom != DW_OP_bra;
}

static uint64_t combine(struct machine *m, uint8_t atom, uint64_t a, uint64_t b)
{
    switch (atom) {
    case DW_OP_and:
        return a & b;
    case DW_OP_minus:
        return a - b;
    case DW_OP_mul:
        return a * b;
    case DW_OP_or:
        return a | b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_eq:
        return a == b;
    case DW_OP_ne:
        return a != b;
    case DW_OP_ge:
        return (int64_t)a >= (int64_t)b;
    case DW_OP_gt:
        return (int64_t)a > (int64_t)b;
    case DW_OP_le:
        return (int64_t)a <= (int64_t)b;
    case DW_OP_lt:
        return (int64_t)a < (int64_t)b;
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
        return shift(atom, a, b);
    default: /* DW_OP_div and DW_OP_mod: call frame information never divides */
        m->end = HR_STACK_BROKEN;
        return 0;
    }
}

static void binary(struct machine *m, uint8_t atom)
{
    uint64_t b = pop(m), a = pop(m);

    push(m, combine(m, atom, a, b));
}

/* Performs operations on the stack or one value, and branches. */
static void other(struct machine *m, uint8_t atom)
{
    switch (atom) {
    case DW_OP_dup:
        push_copy(m, 0);
        break;
    case DW_OP_over:
        push_copy(m, 1);
        break;
    case DW_OP_pick:
        push_copy(m, unwind_bytes_number(&m->next, 1));
        break;
    case DW_OP_drop:
        pop(m);
        break;
    case DW_OP_swap:
        swap_top(m);
        break;
    case DW_OP_rot:
        rotate(m);
        break;
    case DW_OP_neg:
        push(m, 0 - pop(m));
        break;
    case DW_OP_not:
        push(m, ~pop(m));
        break;
    case DW_OP_plus_uconst:
        push(m, pop(m) + unwind_bytes_uleb(&m->next));
        break;
    case DW_OP_skip:
        jump(m, unwind_bytes_signed(&m->next, 2), true);
        break;
    case DW_OP_bra:
        jump(m, unwind_bytes_signed(&m->next, 2), pop(m) != 0);
        break;
    case DW_OP_nop:
        break;
    default:
        m->end = HR_STACK_BROKEN;
    }
}

/* DW_OP_const1u is followed by 1s, 2u, 2s, 4u, 4s, 8u, 8s. */
static uint64_t constant(struct machine *m, uint8_t atom)
{
    uint32_t kind = atom - DW_OP_const1u;

    if (atom == DW_OP_constu)
        return unwind_bytes_uleb(&m->next);
    if (atom == DW_OP_consts)
        return unwind_bytes_sleb(&m->next);
    return (kind & 1) != 0 ? unwind_bytes_signed(&m->next, 1u << kind / 2)
                           : unwind_bytes_number(&m->next, 1u << kind / 2);
}

static void step(struct machine *m)
{
    uint8_t atom = (uint8_t)unwind_bytes_number(&m->next, 1);
    uint64_t reg;

    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        push(m, atom - DW_OP_lit0);
    } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        push_register(m, atom - DW_OP_breg0, unwind_bytes_sleb(&m->next));
    } else if (atom == DW_OP_bregx) {
        reg = unwind_bytes_uleb(&m->next);
        push_register(m, reg, unwind_bytes_sleb(&m->next));
    } else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
        push(m, constant(m, atom));
    } else if (atom == DW_OP_deref) {
        push_memory(m, 8);
    } else if (atom == DW_OP_deref_size) {
        push_memory(m, unwind_bytes_number(&m->next, 1));
    } else if (is_binary(atom)) {
        binary(m, atom);
    } else {
        other(m, atom);
    }
    if (m->next.bad)
        m->end = HR_STACK_BROKEN;
}

int unwind_expression(const struct unwind_place *place, const struct unwind_frame *frame,
                      const uint64_t *cfa, uint64_t *value)
{
    struct machine m = {
        .frame = frame,
        .code = place->expression,
        .next = {place->expression, place->expression + place->bytes, false},
    };

    if (cfa != NULL)
        push(&m, *cfa);
    for (uint32_t steps = 0; m.end == 0 && m.next.at < m.next.end; steps++) {
        if (steps == STEPS_MAX)
            return HR_STACK_BROKEN;
        step(&m);
    }
    *value = pop(&m);
    return m.end;
}
