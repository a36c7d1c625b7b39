/* How to get from a frame to its caller's frame at one address, by call frame information.
 *
 * For host/unwind/unwind.c.  Rules hold no addresses, so one rule can serve many places.
 * Expressions lie in the tables that they came from and live as long as these.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/unwind/unwind.h"

/* DWARF's numbers, System V ABI x86-64, "DWARF Register Number Mapping". */
enum { UNWIND_RSP = 7, UNWIND_RIP = 16, UNWIND_REGISTERS = 17 };

enum unwind_how { /* where a register's value in the caller is */
                  UNWIND_SAME, /* the frame does not change it */
                  UNWIND_UNDEFINED,
                  UNWIND_AT_CFA, /* in memory at the CFA + offset */
                  UNWIND_CFA, /* the CFA + offset itself */
                  UNWIND_REGISTER, /* a register + offset */
                  UNWIND_AT_EXPRESSION, /* in memory where an expression says */
                  UNWIND_EXPRESSION, /* an expression's value */
};

struct unwind_place {
    uint8_t target; /* the register that this place describes */
    uint8_t how; /* enum unwind_how */
    uint8_t reg; /* for UNWIND_REGISTER */
    uint8_t zero;
    uint32_t bytes; /* length of the expression */
    union {
        int64_t offset;
        const uint8_t *expression;
    };
};

struct unwind_rule {
    struct unwind_place cfa; /* UNWIND_REGISTER or UNWIND_EXPRESSION */
    uint8_t signal; /* a signal interrupted the frame; it did not make a call */
    uint8_t return_register; /* the register that holds the caller's address */
    uint8_t count;
    uint8_t zero[3];
    uint16_t restored; /* registers with the caller's value although their place is below rsp */
    struct unwind_place places[UNWIND_REGISTERS]; /* for the registers that change */
};

struct unwind_frame { /* a frame's registers and the copied part of its stack */
    uint64_t registers[UNWIND_REGISTERS];
    uint32_t known; /* registers with a known value, a bit each */
    bool moved; /* a signal arrived on another stack than the copied one */
    uint64_t stack_start;
    const uint8_t *stack;
    uint64_t stack_bytes;
};

/* Replaces a frame by its caller's.  Returns 0, or how the stack ends: HR_STACK_WHOLE, HR_STACK_CUT
 * or HR_STACK_BROKEN; *frame is then invalid. */
int unwind_rule_step(const struct unwind_rule *rule, struct unwind_frame *frame);

/* Reads `bytes` (at most 8) of the copied stack.  Returns 0, HR_STACK_CUT or HR_STACK_BROKEN. */
int unwind_frame_read(const struct unwind_frame *frame, uint64_t address, uint32_t bytes,
                      uint64_t *value);

/* Evaluates a place's expression; for UNWIND_AT_EXPRESSION the value is an address.  The
 * expression's stack starts with the CFA, or empty if cfa is NULL.  Returns as unwind_rule_step. */
int unwind_expression(const struct unwind_place *place, const struct unwind_frame *frame,
                      const uint64_t *cfa, uint64_t *value);
