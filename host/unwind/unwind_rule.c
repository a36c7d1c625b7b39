/* Applies unwinding rules to frames. */
#include "host/unwind/unwind_rule.h"

#include <string.h>

#define USER_END (1ull << 47) /* first address after user space */

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
        return unwind_expression(place, frame, &cfa, value);
    case UNWIND_AT_EXPRESSION:
        end = unwind_expression(place, frame, &cfa, &address);
        return end != 0 ? end : unwind_frame_read(frame, address, 8, value);
    default:
        return HR_STACK_BROKEN;
    }
}

static int find_cfa(const struct unwind_place *place, const struct unwind_frame *frame,
                    uint64_t *cfa)
{
    return place->how == UNWIND_EXPRESSION ? unwind_expression(place, frame, NULL, cfa)
                                           : find(place, frame, 0, cfa);
}

/* Returns whether the function has already restored the register, because the stack pointer has
 * passed its place. */
static bool is_restored(const struct unwind_rule *rule, const struct unwind_place *place,
                        const struct unwind_frame *frame, uint64_t cfa)
{
    return (rule->restored >> place->target & 1) != 0 && place->how == UNWIND_AT_CFA &&
           cfa + (uint64_t)place->offset < frame->registers[UNWIND_RSP];
}

/* Finds the caller's changed registers, with a bit in *known for each known one. */
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
                return HR_STACK_WHOLE; /* the ABI marks the start of a thread so */
            continue;
        }
        if (is_restored(rule, place, frame, cfa)) {
            values[i] = frame->registers[place->target];
            *known |= frame->known & bit;
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
    uint64_t cfa, values[UNWIND_REGISTERS] = {0}, sp = frame->registers[UNWIND_RSP];
    uint32_t known = frame->known & ~(1u << UNWIND_RIP);
    int end = find_cfa(&rule->cfa, frame, &cfa);

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
    if (frame->registers[UNWIND_RSP] <= sp) { /* only a handler's own stack may be anywhere */
        frame->moved = true;
        return rule->signal ? 0 : HR_STACK_BROKEN;
    }
    return 0;
}
