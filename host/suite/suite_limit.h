/* A limit of a benchmark: how much an event may grow, in all or in a function.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUITE_LIMITS_MAX 256u /* of a benchmark */

struct suite_limit {
    char *event; /* owned */
    char *function; /* as people write it; owned; NULL: of the whole program */
    char *text; /* "0.5 %", "+10000", "max 2000000"; owned */
    enum { SUITE_PERCENT, SUITE_GROWTH, SUITE_MOST } kind;
    double value;
};

struct suite_limits {
    struct suite_limit *list; /* owned */
    size_t count;
};

/* Adds a limit.  Returns 0, -EINVAL: `text` is none, or -ENOMEM. */
int suite_limits_add(struct suite_limits *limits, const char *event, const char *function,
                     const char *text);

/* Removes the limits of an event, in all or in a function. */
void suite_limits_remove(struct suite_limits *limits, const char *event, const char *function);
void suite_limits_free(struct suite_limits *limits);

/* Returns whether a count is above the limit; `before` is not looked at where the limit is a number
 * for the count itself. */
bool suite_limit_exceeded(const struct suite_limit *limit, uint64_t before, uint64_t after);
