/* The interpreter of call frame instructions (DWARF 5, section 6.4.2), in constant memory. */
#include "host/unwind/unwind_row.h"

#include <dwarf.h>

#define REMEMBERED_MAX 8u
#define EXPRESSION_BYTES_MAX 256u

struct row {
    struct unwind_place cfa;
    struct unwind_place registers[UNWIND_REGISTERS];
};

struct interpreter {
    const struct unwind_program *program;
    struct row row;
    struct row initial; /* what DW_CFA_restore goes back to */
    struct row remembered[REMEMBERED_MAX];
    uint32_t remembered_count;
    uint64_t location;
    bool bad;
};

/* Registers that are not followed (such as vectors) share a place that is never read. */
static void set(struct interpreter *i, uint64_t reg, enum unwind_how how, int64_t offset)
{
    if (reg < UNWIND_REGISTERS)
        i->row.registers[reg] =
            (struct unwind_place){.target = (uint8_t)reg, .how = (uint8_t)how, .offset = offset};
}

static void restore(struct interpreter *i, uint64_t reg)
{
    if (reg < UNWIND_REGISTERS)
        i->row.registers[reg] = i->initial.registers[reg];
}

static void set_register(struct interpreter *i, uint64_t reg, uint64_t from)
{
    set(i, reg, from < UNWIND_REGISTERS ? UNWIND_REGISTER : UNWIND_UNDEFINED, 0);
    if (reg < UNWIND_REGISTERS && from < UNWIND_REGISTERS)
        i->row.registers[reg].reg = (uint8_t)from;
}

static void set_cfa(struct interpreter *i, uint64_t reg, int64_t offset)
{
    if (reg >= UNWIND_REGISTERS)
        i->bad = true;
    else
        i->row.cfa =
            (struct unwind_place){.how = UNWIND_REGISTER, .reg = (uint8_t)reg, .offset = offset};
}

static struct unwind_place expression(struct interpreter *i, struct unwind_bytes *code,
                                      enum unwind_how how)
{
    struct unwind_bytes block = unwind_bytes_block(code, unwind_bytes_uleb(code));
    uint64_t bytes = (uint64_t)(block.end - block.at);

    i->bad |= bytes > EXPRESSION_BYTES_MAX;
    return (struct unwind_place){
        .how = (uint8_t)how, .bytes = (uint32_t)bytes, .expression = block.at};
}

static void set_expression(struct interpreter *i, struct unwind_bytes *code, enum unwind_how how)
{
    uint64_t reg = unwind_bytes_uleb(code);
    struct unwind_place place = expression(i, code, how);

    if (reg < UNWIND_REGISTERS) {
        place.target = (uint8_t)reg;
        i->row.registers[reg] = place;
    }
}

static int64_t factored(const struct interpreter *i, uint64_t value)
{
    return (int64_t)(value * (uint64_t)i->program->data_factor);
}

static void remember(struct interpreter *i)
{
    if (i->remembered_count == REMEMBERED_MAX)
        i->bad = true;
    else
        i->remembered[i->remembered_count++] = i->row;
}

static void recall(struct interpreter *i)
{
    if (i->remembered_count == 0)
        i->bad = true;
    else
        i->row = i->remembered[--i->remembered_count];
}

/* Executes an instruction that defines the CFA; returns false if it is not one. */
static bool define_cfa(struct interpreter *i, uint8_t op, struct unwind_bytes *code)
{
    uint64_t reg;

    switch (op) {
    case DW_CFA_def_cfa:
        reg = unwind_bytes_uleb(code);
        set_cfa(i, reg, (int64_t)unwind_bytes_uleb(code));
        return true;
    case DW_CFA_def_cfa_sf:
        reg = unwind_bytes_uleb(code);
        set_cfa(i, reg, factored(i, unwind_bytes_sleb(code)));
        return true;
    case DW_CFA_def_cfa_register:
        i->bad |= i->row.cfa.how != UNWIND_REGISTER;
        set_cfa(i, unwind_bytes_uleb(code), i->row.cfa.offset);
        return true;
    case DW_CFA_def_cfa_offset:
        i->bad |= i->row.cfa.how != UNWIND_REGISTER;
        set_cfa(i, i->row.cfa.reg, (int64_t)unwind_bytes_uleb(code));
        return true;
    case DW_CFA_def_cfa_offset_sf:
        i->bad |= i->row.cfa.how != UNWIND_REGISTER;
        set_cfa(i, i->row.cfa.reg, factored(i, unwind_bytes_sleb(code)));
        return true;
    case DW_CFA_def_cfa_expression:
        i->row.cfa = expression(i, code, UNWIND_EXPRESSION);
        return true;
    default:
        return false;
    }
}

/* Executes instructions that say where registers are, with numbers of any size. */
static void define_register(struct interpreter *i, uint8_t op, struct unwind_bytes *code)
{
    uint64_t reg =
        op != DW_CFA_expression && op != DW_CFA_val_expression && op != DW_CFA_GNU_args_size
            ? unwind_bytes_uleb(code)
            : 0;

    switch (op) {
    case DW_CFA_offset_extended:
        set(i, reg, UNWIND_AT_CFA, factored(i, unwind_bytes_uleb(code)));
        break;
    case DW_CFA_offset_extended_sf:
        set(i, reg, UNWIND_AT_CFA, factored(i, unwind_bytes_sleb(code)));
        break;
    case DW_CFA_GNU_negative_offset_extended:
        set(i, reg, UNWIND_AT_CFA, factored(i, 0 - unwind_bytes_uleb(code)));
        break;
    case DW_CFA_val_offset:
        set(i, reg, UNWIND_CFA, factored(i, unwind_bytes_uleb(code)));
        break;
    case DW_CFA_val_offset_sf:
        set(i, reg, UNWIND_CFA, factored(i, unwind_bytes_sleb(code)));
        break;
    case DW_CFA_restore_extended:
        restore(i, reg);
        break;
    case DW_CFA_undefined:
        set(i, reg, UNWIND_UNDEFINED, 0);
        break;
    case DW_CFA_same_value:
        set(i, reg, UNWIND_SAME, 0);
        break;
    case DW_CFA_register:
        set_register(i, reg, unwind_bytes_uleb(code));
        break;
    case DW_CFA_expression:
        set_expression(i, code, UNWIND_AT_EXPRESSION);
        break;
    case DW_CFA_val_expression:
        set_expression(i, code, UNWIND_EXPRESSION);
        break;
    case DW_CFA_GNU_args_size: /* for throwing exceptions */
        unwind_bytes_uleb(code);
        break;
    default:
        i->bad = true;
    }
}

/* Returns how far the instruction moves the location; 0 if it does not. */
static uint64_t advance(const struct interpreter *i, uint8_t op, struct unwind_bytes *code)
{
    switch (op) {
    case DW_CFA_advance_loc1:
        return unwind_bytes_number(code, 1) * i->program->code_factor;
    case DW_CFA_advance_loc2:
        return unwind_bytes_number(code, 2) * i->program->code_factor;
    case DW_CFA_advance_loc4:
        return unwind_bytes_number(code, 4) * i->program->code_factor;
    default:
        return 0;
    }
}

/* Executes until the location is past `address`. */
static void execute(struct interpreter *i, struct unwind_bytes code, uint64_t address)
{
    while (!i->bad && code.at < code.end) {
        uint8_t op = (uint8_t)unwind_bytes_number(&code, 1), low = op & 0x3f;

        if ((op & 0xc0) == DW_CFA_advance_loc)
            i->location += low * i->program->code_factor;
        else if ((op & 0xc0) == DW_CFA_offset)
            set(i, low, UNWIND_AT_CFA, factored(i, unwind_bytes_uleb(&code)));
        else if ((op & 0xc0) == DW_CFA_restore)
            restore(i, low);
        else if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4)
            i->location += advance(i, op, &code);
        else if (op == DW_CFA_remember_state)
            remember(i);
        else if (op == DW_CFA_restore_state)
            recall(i);
        else if (op != DW_CFA_nop && !define_cfa(i, op, &code))
            define_register(i, op, &code);
        i->bad |= code.bad;
        if (i->location > address)
            return;
    }
}

bool unwind_row_at(const struct unwind_program *program, uint64_t address, struct unwind_rule *rule)
{
    struct interpreter i = {.program = program, .location = program->start};

    if (program->return_register >= UNWIND_REGISTERS)
        return false;
    set(&i, UNWIND_RSP, UNWIND_CFA, 0); /* the ABI's default */
    execute(&i, program->initial, UINT64_MAX);
    i.initial = i.row;
    i.location = program->start;
    execute(&i, program->own, address);
    if (i.bad || i.row.cfa.how == UNWIND_SAME)
        return false;
    memset(rule, 0, sizeof *rule); /* padding too: rules are compared as bytes */
    rule->cfa = i.row.cfa;
    rule->signal = program->signal;
    rule->return_register = (uint8_t)program->return_register;
    for (uint32_t reg = 0; reg < UNWIND_REGISTERS; reg++)
        if (i.row.registers[reg].how != UNWIND_SAME)
            rule->places[rule->count++] = i.row.registers[reg];
    return true;
}
