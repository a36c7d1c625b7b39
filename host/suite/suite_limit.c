/* Parses and compares limits. */
#include "host/suite/suite_limit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

static bool parse(const char *text, struct suite_limit *limit)
{
    const char *number = text;
    char *end;

    limit->kind = SUITE_PERCENT;
    if (text[0] == '+') {
        limit->kind = SUITE_GROWTH;
        number = text + 1;
    } else if (strncmp(text, "max ", 4) == 0) {
        limit->kind = SUITE_MOST;
        number = text + 4 + strspn(text + 4, " ");
    }
    if (number[0] < '0' || number[0] > '9')
        return false;
    limit->value = strtod(number, &end);
    end += strspn(end, " ");
    if (limit->kind == SUITE_PERCENT || *end == '%') {
        if (*end++ != '%' || limit->kind == SUITE_MOST)
            return false;
        limit->kind = SUITE_PERCENT; /* "+0.5 %" is 0.5 % */
    }
    return *end == 0 && isfinite(limit->value);
}

int suite_limits_add(struct suite_limits *limits, const char *event, const char *function,
                     const char *text)
{
    struct suite_limit limit = {0};

    if (!parse(text, &limit))
        return -EINVAL;
    limit.event = strdup(event);
    limit.function = function != NULL ? strdup(function) : NULL;
    limit.text = strdup(text);
    if (limit.event == NULL || limit.text == NULL || (function != NULL && limit.function == NULL) ||
        array_grow(&limits->list, limits->count, sizeof limits->list[0]) != 0) {
        free(limit.event);
        free(limit.function);
        free(limit.text);
        return -ENOMEM;
    }
    limits->list[limits->count++] = limit;
    return 0;
}

static void free_limit(struct suite_limit *limit)
{
    free(limit->event);
    free(limit->function);
    free(limit->text);
}

static bool is_of(const struct suite_limit *limit, const char *event, const char *function)
{
    if (strcmp(limit->event, event) != 0 || (limit->function == NULL) != (function == NULL))
        return false;
    return function == NULL || strcmp(limit->function, function) == 0;
}

void suite_limits_remove(struct suite_limits *limits, const char *event, const char *function)
{
    size_t kept = 0;

    for (size_t i = 0; i < limits->count; i++) {
        if (is_of(&limits->list[i], event, function))
            free_limit(&limits->list[i]);
        else
            limits->list[kept++] = limits->list[i];
    }
    limits->count = kept;
}

void suite_limits_free(struct suite_limits *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        free_limit(&limits->list[i]);
    free(limits->list);
    *limits = (struct suite_limits){0};
}

bool suite_limit_exceeded(const struct suite_limit *limit, uint64_t before, uint64_t after)
{
    double growth = after > before ? (double)(after - before) : 0;

    switch (limit->kind) {
    case SUITE_MOST:
        return (double)after > limit->value;
    case SUITE_GROWTH:
        return growth > limit->value;
    default:
        return growth * 100 > limit->value * (double)before;
    }
}
