/* Formulas over names, such as "100 * branch-misses / branches": parsed once, computed often.
 *
 * There are numbers, names, + - * / ( ), min(a, b), max(a, b), and for thresholds < > & |, whose
 * result is 1 or 0.  A name begins with a letter or '_' and goes as far as letters, digits and
 * _ . : - do; so a minus after a name needs a space before it.  Everything is bounded: no text
 * needs more memory or a deeper stack than struct formula has.  Pure code; never prints.
 */
#pragma once

#include <stdint.h>

#define FORMULA_STEPS_MAX 64u
#define FORMULA_NAMES_MAX 16u
#define FORMULA_DEPTH_MAX 16u /* of parentheses, and of values that wait for their operator */
#define FORMULA_NAME_BYTES 64u

struct formula_step {
    uint8_t what; /* '0' a number, 'n' a name, or an operator: its sign; 'm' min, 'M' max */
    uint8_t name; /* 'n': its index */
    double number;
};

struct formula {
    struct formula_step steps[FORMULA_STEPS_MAX]; /* postfix */
    uint32_t step_count;
    char names[FORMULA_NAMES_MAX][FORMULA_NAME_BYTES]; /* each once, in the order of the text */
    uint32_t name_count;
};

/* Parses a text.  Returns NULL, or what is wrong with it, in words; *at is where. */
const char *formula_parse(struct formula *formula, const char *text, uint32_t *at);

/* Computes a formula that formula_parse took, from the value of each name.  NaN is "no value":
 * what is computed from none, or divided by zero, has none. */
double formula_value(const struct formula *formula, const double values[FORMULA_NAMES_MAX]);
