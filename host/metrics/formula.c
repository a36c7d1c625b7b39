/* Parses formulas by recursive descent into postfix steps, and computes these on a stack. */
#include "host/metrics/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"
#define DIGITS_MAX 24u /* of a number */

struct parser {
    struct formula *formula;
    const char *text;
    const char *at;
    const char *error; /* NULL: none */
    uint32_t depth; /* of parentheses */
    uint32_t waiting; /* values on the stack when the steps so far are computed */
};

static void fail(struct parser *p, const char *error)
{
    if (p->error == NULL)
        p->error = error;
}

static void skip(struct parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool take(struct parser *p, char sign)
{
    skip(p);
    if (p->error != NULL || *p->at != sign)
        return false;
    p->at++;
    return true;
}

static void add(struct parser *p, struct formula_step step)
{
    bool value = step.what == '0' || step.what == 'n';

    if (p->formula->step_count == FORMULA_STEPS_MAX || (value && p->waiting == FORMULA_DEPTH_MAX)) {
        fail(p, "it is too long");
        return;
    }
    p->waiting = value ? p->waiting + 1 : p->waiting - 1;
    p->formula->steps[p->formula->step_count++] = step;
}

static void add_operator(struct parser *p, char what)
{
    if (p->error == NULL)
        add(p, (struct formula_step){.what = (uint8_t)what});
}

static void parse_number(struct parser *p)
{
    char digits[DIGITS_MAX + 1];
    size_t bytes = strspn(p->at, "0123456789.");
    char *end;

    if (bytes > DIGITS_MAX) {
        fail(p, "a number is too long");
        return;
    }
    memcpy(digits, p->at, bytes);
    digits[bytes] = 0;
    add(p, (struct formula_step){.what = '0', .number = strtod(digits, &end)});
    if (*end != 0)
        fail(p, "this is no number");
    p->at += bytes;
}

static void add_name(struct parser *p, const char *name, size_t bytes)
{
    struct formula *f = p->formula;
    uint32_t i = 0;

    while (i < f->name_count &&
           (strlen(f->names[i]) != bytes || strncasecmp(f->names[i], name, bytes) != 0))
        i++;
    if (i == FORMULA_NAMES_MAX || bytes >= FORMULA_NAME_BYTES) {
        fail(p, "it has too many names, or one that is too long");
        return;
    }
    if (i == f->name_count) {
        memcpy(f->names[i], name, bytes);
        f->names[i][bytes] = 0;
        f->name_count++;
    }
    add(p, (struct formula_step){.what = 'n', .name = (uint8_t)i});
}

static void parse_either(struct parser *p);

/* min(a, b) or max(a, b), after the name. */
static void parse_pair(struct parser *p, char what)
{
    if (!take(p, '('))
        fail(p, "'(' is missing");
    parse_either(p);
    if (!take(p, ','))
        fail(p, "',' is missing");
    parse_either(p);
    if (!take(p, ')'))
        fail(p, "')' is missing");
    add_operator(p, what);
}

static void parse_word(struct parser *p)
{
    const char *word = p->at;
    size_t bytes = strspn(word, NAME_CHARACTERS);

    p->at += bytes;
    if (bytes == 3 && strncmp(word, "min", 3) == 0)
        parse_pair(p, 'm');
    else if (bytes == 3 && strncmp(word, "max", 3) == 0)
        parse_pair(p, 'M');
    else
        add_name(p, word, bytes);
}

static void parse_value(struct parser *p)
{
    skip(p);
    if (p->error != NULL)
        return;
    if (isdigit((unsigned char)*p->at)) {
        parse_number(p);
    } else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
        parse_word(p);
    } else if (take(p, '(')) {
        parse_either(p);
        if (!take(p, ')'))
            fail(p, "')' is missing");
    } else {
        fail(p, "a value is missing");
    }
}

static void parse_product(struct parser *p)
{
    parse_value(p);
    for (;;) {
        char sign = take(p, '*') ? '*' : take(p, '/') ? '/' : 0;

        if (sign == 0)
            return;
        parse_value(p);
        add_operator(p, sign);
    }
}

static void parse_sum(struct parser *p)
{
    parse_product(p);
    for (;;) {
        char sign = take(p, '+') ? '+' : take(p, '-') ? '-' : 0;

        if (sign == 0)
            return;
        parse_product(p);
        add_operator(p, sign);
    }
}

static void parse_comparison(struct parser *p)
{
    char sign;

    parse_sum(p);
    sign = take(p, '<') ? '<' : take(p, '>') ? '>' : 0;
    if (sign == 0)
        return;
    parse_sum(p);
    add_operator(p, sign);
}

static void parse_both(struct parser *p)
{
    parse_comparison(p);
    while (take(p, '&')) {
        parse_comparison(p);
        add_operator(p, '&');
    }
}

static void parse_either(struct parser *p)
{
    if (++p->depth > FORMULA_DEPTH_MAX)
        fail(p, "it is too deep");
    if (p->error == NULL)
        parse_both(p);
    while (take(p, '|')) {
        parse_both(p);
        add_operator(p, '|');
    }
    p->depth--;
}

const char *formula_parse(struct formula *formula, const char *text, uint32_t *at)
{
    struct parser p = {.formula = formula, .text = text, .at = text};

    *formula = (struct formula){.step_count = 0};
    parse_either(&p);
    skip(&p);
    if (*p.at != 0)
        fail(&p, "an operator is missing");
    *at = (uint32_t)(p.at - p.text);
    return p.error;
}

static double apply(uint8_t what, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    switch (what) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return b != 0 ? a / b : NAN;
    case 'm':
        return a < b ? a : b;
    case 'M':
        return a > b ? a : b;
    case '<':
        return a < b;
    case '>':
        return a > b;
    case '&':
        return a != 0 && b != 0;
    default: /* | */
        return a != 0 || b != 0;
    }
}

double formula_value(const struct formula *formula, const double values[FORMULA_NAMES_MAX])
{
    double stack[FORMULA_DEPTH_MAX + 1] = {NAN}, result;
    uint32_t used = 0;

    for (uint32_t i = 0; i < formula->step_count; i++) {
        const struct formula_step *step = &formula->steps[i];

        if (step->what == '0') {
            stack[used++] = step->number;
        } else if (step->what == 'n') {
            stack[used++] = values[step->name];
        } else {
            used--;
            stack[used - 1] = apply(step->what, stack[used - 1], stack[used]);
        }
    }
    result = stack[0];
    return isfinite(result) ? result : NAN;
}
