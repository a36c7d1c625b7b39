/* Parameters of hr bench: their values and combinations. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/bench/bench_words.h"

/* Begins a parameter "name=rest".  Returns the rest, or NULL with the failure filled. */
static const char *begin(struct bench_parameters *p, const char *text, struct run_failure *failure)
{
    const char *rest = strchr(text, '=');
    size_t bytes = rest != NULL ? (size_t)(rest - text) : 0;

    if (bytes == 0 || bytes >= sizeof p->all[0].name || strcspn(text, "{}") < bytes) {
        run_fail(failure, "%.100s: not a parameter; write n=1..10, or name=a,b,c for -L", text);
        return NULL;
    }
    if (p->count == BENCH_PARAMETERS_MAX) {
        run_fail(failure, "more than %u parameters; leave some out", BENCH_PARAMETERS_MAX);
        return NULL;
    }
    snprintf(p->all[p->count].name, sizeof p->all[0].name, "%.*s", (int)bytes, text);
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->all[i].name, p->all[p->count].name) == 0) {
            run_fail(failure, "the parameter %s is given twice; leave one out", p->all[i].name);
            return NULL;
        }
    p->count++;
    return rest + 1;
}

static int add_value(struct bench_parameters *p, const char *value, struct run_failure *failure)
{
    struct bench_parameter *parameter = &p->all[p->count - 1];

    if (parameter->count == BENCH_VALUES_MAX)
        return run_fail(failure, "the parameter %s has more than %u values", parameter->name,
                        BENCH_VALUES_MAX);
    if (array_append_text(&parameter->values, &parameter->count, value) != 0)
        return run_fail(failure, "out of memory; end other programs");
    return 0;
}

/* Digits after the point. */
static int decimals(const char *text, size_t bytes)
{
    const char *point = memchr(text, '.', bytes);

    return point != NULL ? (int)(bytes - (size_t)(point - text) - 1) : 0;
}

/* Reads a number that ends at ".." or at the end of the text, and passes over the dots. */
static bool take_number(const char **at, double *value, int *digits)
{
    char room[32];
    const char *dots = strstr(*at, "..");
    size_t bytes = dots != NULL ? (size_t)(dots - *at) : strlen(*at);
    char *end;

    if (bytes == 0 || bytes >= sizeof room || (dots != NULL && dots[2] == 0) ||
        strspn(*at, "-.0123456789") < bytes)
        return false;
    snprintf(room, sizeof room, "%.*s", (int)bytes, *at);
    *value = strtod(room, &end);
    *digits = decimals(*at, bytes) > *digits ? decimals(*at, bytes) : *digits;
    *at += bytes + (dots != NULL ? 2 : 0);
    return *end == 0 && isfinite(*value);
}

int bench_parameters_range(struct bench_parameters *p, const char *text,
                           struct run_failure *failure)
{
    const char *at = begin(p, text, failure);
    double from, to, step = 1;
    int digits = 0;
    char value[64];

    if (at == NULL)
        return -1;
    if (!take_number(&at, &from, &digits) || !take_number(&at, &to, &digits) ||
        (*at != 0 && !take_number(&at, &step, &digits)) || *at != 0 || step <= 0 || to < from)
        return run_fail(failure, "-P %.100s: not a range; write n=1..10 or n=1..10..3", text);
    for (size_t i = 0; from + (double)i * step <= to + step * 1e-9; i++) {
        snprintf(value, sizeof value, "%.*f", digits, from + (double)i * step);
        if (add_value(p, value, failure) != 0)
            return -1;
    }
    return 0;
}

int bench_parameters_list(struct bench_parameters *p, const char *text, struct run_failure *failure)
{
    const char *at = begin(p, text, failure);
    char value[4096];

    while (at != NULL) {
        size_t bytes = strcspn(at, ",");

        if (bytes >= sizeof value)
            return run_fail(failure, "-L %.100s: a value is too long", text);
        snprintf(value, sizeof value, "%.*s", (int)bytes, at);
        if (add_value(p, value, failure) != 0)
            return -1;
        if (at[bytes] == 0)
            return 0;
        at += bytes + 1;
    }
    return -1;
}

void bench_parameters_free(struct bench_parameters *p)
{
    for (size_t i = 0; i < p->count; i++)
        array_free_texts(&p->all[i].values, &p->all[i].count);
    p->count = 0;
}

size_t bench_parameters_combinations(const struct bench_parameters *p)
{
    size_t product = 1;

    for (size_t i = 0; i < p->count && product <= BENCH_VALUES_MAX; i++)
        product *= p->all[i].count;
    return product <= BENCH_VALUES_MAX ? product : 0;
}

const char *bench_parameters_value(const struct bench_parameters *p, size_t parameter,
                                   size_t combination)
{
    for (size_t i = p->count; i-- > parameter + 1;)
        combination /= p->all[i].count;
    return p->all[parameter].values[combination % p->all[parameter].count];
}
