/* Reads unwinding rules out of libdw's frames, and applies them. */
#include "host/unwind_rule.h"

#include <dwarf.h>
#include <string.h>

#define OPS_MAX 64u /* of one expression; real ones have a dozen */
#define USER_END (1ull << 47) /* first address behind user space */

/* The register that an operation names: in a number of its own, or in its code. */
static uint64_t register_of(const Dwarf_Op *op, uint8_t extended, uint8_t first)
{
    return op->atom == extended ? op->number : (uint64_t)op->atom - first;
}

static bool is_expression(const Dwarf_Op *ops, size_t count, const Dwarf_Op *room)
{
    return ops != room && count <= OPS_MAX;
}

static bool read_cfa(struct unwind_place *place, Dwarf_Frame *frame)
{
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0 || count > OPS_MAX)
        return false;
    if (count == 1 && (ops[0].atom == DW_OP_bregx ||
                       (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31))) {
        /* the operation lies in the frame, which goes: take what it says */
        bool extended = ops[0].atom == DW_OP_bregx;
        uint64_t reg = register_of(ops, DW_OP_bregx, DW_OP_breg0);

        if (reg >= UNWIND_REGISTERS)
            return false;
        place->how = UNWIND_REGISTER;
        place->reg = (uint8_t)reg;
        place->offset = (int64_t)(extended ? ops[0].number2 : ops[0].number);
        return true;
    }
    place->how = UNWIND_EXPRESSION;
    place->op_count = (uint32_t)count;
    place->ops = ops;
    return true;
}

/* The CFA, or the CFA and a constant, as libdw puts the simple rules. */
static bool from_cfa(struct unwind_place *place, const Dwarf_Op *ops, size_t count)
{
    bool value = count > 1 && ops[count - 1].atom == DW_OP_stack_value;
    size_t left = count - value;

    if (ops[0].atom != DW_OP_call_frame_cfa || left > 2 ||
        (left == 2 && ops[1].atom != DW_OP_plus_uconst))
        return false;
    place->how = value ? UNWIND_CFA : UNWIND_AT_CFA;
    place->offset = left == 2 ? (int64_t)ops[1].number : 0;
    return true;
}

static bool read_place(struct unwind_place *place, const Dwarf_Op *ops, size_t count,
                       const Dwarf_Op *room)
{
    if (count == 0) {
        place->how = UNWIND_UNDEFINED;
        return true;
    }
    if (from_cfa(place, ops, count))
        return true;
    if (count == 1 &&
        (ops[0].atom == DW_OP_regx || (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
        uint64_t reg = register_of(ops, DW_OP_regx, DW_OP_reg0);

        place->how = UNWIND_REGISTER;
        place->reg = (uint8_t)reg;
        return reg < UNWIND_REGISTERS;
    }
    place->how =
        ops[count - 1].atom == DW_OP_stack_value ? UNWIND_EXPRESSION : UNWIND_AT_EXPRESSION;
    place->op_count = (uint32_t)count;
    place->ops = ops;
    return is_expression(ops, count, room);
}

bool unwind_rule_read(struct unwind_rule *rule, Dwarf_Frame *frame)
{
    bool signal = false;
    int return_register = dwarf_frame_info(frame, NULL, NULL, &signal);

    memset(rule, 0, sizeof *rule); /* padding too: rules are compared as bytes */
    if (return_register < 0 || return_register >= UNWIND_REGISTERS || !read_cfa(&rule->cfa, frame))
        return false;
    rule->signal = signal;
    rule->return_register = (uint8_t)return_register;
    for (int i = 0; i < UNWIND_REGISTERS; i++) {
        struct unwind_place *place = &rule->places[rule->count];
        Dwarf_Op room[3], *ops;
        size_t count;

        if (dwarf_frame_register(frame, i, room, &ops, &count) != 0)
            return false;
        if (count == 0 && ops == NULL) /* the same as in this frame */
            continue;
        if (!read_place(place, ops, count, room))
            return false;
        place->target = (uint8_t)i;
        rule->count++;
    }
    return true;
}

int unwind_frame_read(const struct unwind_frame *frame, uint64_t address, uint32_t bytes,
                      uint64_t *value)
{
    uint64_t offset = address - frame->stack_start;

    *value = 0;
    if (address < frame->stack_start || address >= USER_END)
        return frame->moved && address < USER_END ? HR_STACK_CUT : HR_STACK_BROKEN;
    if (offset > frame->stack_bytes || frame->stack_bytes - offset < bytes)
        return HR_STACK_CUT;
    memcpy(value, frame->stack + offset, bytes);
    return 0;
}

static int find(const struct unwind_place *place, const struct unwind_frame *frame, uint64_t cfa,
                uint64_t *value)
{
    uint64_t address;
    int end;

    switch (place->how) {
    case UNWIND_AT_CFA:
        return unwind_frame_read(frame, cfa + (uint64_t)place->offset, 8, value);
    case UNWIND_CFA:
        *value = cfa + (uint64_t)place->offset;
        return 0;
    case UNWIND_REGISTER:
        *value = frame->registers[place->reg] + (uint64_t)place->offset;
        return frame->known >> place->reg & 1 ? 0 : HR_STACK_BROKEN;
    case UNWIND_EXPRESSION:
        return unwind_expression(place, frame, cfa, value);
    case UNWIND_AT_EXPRESSION:
        end = unwind_expression(place, frame, cfa, &address);
        return end != 0 ? end : unwind_frame_read(frame, address, 8, value);
    default:
        return HR_STACK_BROKEN;
    }
}

/* What the caller's changed registers hold; a bit in *known for each that can be told. */
static int find_changes(const struct unwind_rule *rule, const struct unwind_frame *frame,
                        uint64_t cfa, uint64_t *values, uint32_t *known)
{
    for (uint32_t i = 0; i < rule->count; i++) {
        const struct unwind_place *place = &rule->places[i];
        uint32_t bit = 1u << place->target;
        int end;

        *known &= ~bit;
        if (place->how == UNWIND_UNDEFINED) {
            if (place->target == rule->return_register)
                return HR_STACK_WHOLE; /* as the ABI's start of a thread says it */
            continue;
        }
        end = find(place, frame, cfa, &values[i]);
        if (end == 0)
            *known |= bit;
        else if (place->target == rule->return_register || place->target == UNWIND_RSP)
            return end;
    }
    return 0;
}

int unwind_rule_step(const struct unwind_rule *rule, struct unwind_frame *frame)
{
    uint64_t cfa, values[UNWIND_REGISTERS], sp = frame->registers[UNWIND_RSP];
    uint32_t known = frame->known & ~(1u << UNWIND_RIP);
    int end = find(&rule->cfa, frame, 0, &cfa);

    if (end == 0)
        end = find_changes(rule, frame, cfa, values, &known);
    if (end != 0)
        return end;
    for (uint32_t i = 0; i < rule->count; i++)
        if (rule->places[i].how != UNWIND_UNDEFINED)
            frame->registers[rule->places[i].target] = values[i];
    if ((known >> rule->return_register & 1) == 0 || (known >> UNWIND_RSP & 1) == 0)
        return HR_STACK_BROKEN;
    frame->registers[UNWIND_RIP] = frame->registers[rule->return_register];
    frame->known = known | 1u << UNWIND_RIP;
    if (frame->registers[UNWIND_RSP] <= sp) { /* only a handler's own stack lies anywhere */
        frame->moved = true;
        return rule->signal ? 0 : HR_STACK_BROKEN;
    }
    return 0;
}
