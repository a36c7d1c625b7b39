/* Values of microtome.toml: texts, lists of them, limits; and what is wrong with them. */
#include "host/suite/suite_reading.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"

int suite_reading_wrong(const struct suite_reading *r, const struct toml *at, const char *format,
                        ...)
{
    char text[800];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return run_fail_as(r->failure, 2, "%s:%u: %s", r->path, at->line, text);
}

int suite_reading_no_memory(const struct suite_reading *r)
{
    return run_fail(r->failure, "out of memory; end other programs");
}

int suite_reading_wrong_kind(const struct suite_reading *r, const struct toml *value,
                             const char *wanted)
{
    char key[80];

    return suite_reading_wrong(r, value, "%s is %s; it must be %s",
                               value->key != NULL ? text_escape(key, sizeof key, value->key)
                                                  : "a value",
                               toml_kind_words(value->kind), wanted);
}

int suite_reading_text(const struct suite_reading *r, const struct toml *value, const char **text)
{
    if (value->kind != TOML_STRING)
        return suite_reading_wrong_kind(r, value, "a string");
    *text = value->text;
    return 0;
}

int suite_reading_keep(const struct suite_reading *r, const struct toml *value, char **kept)
{
    const char *text = NULL;

    if (suite_reading_text(r, value, &text) != 0)
        return -1;
    free(*kept);
    *kept = strdup(text);
    return *kept != NULL ? 0 : suite_reading_no_memory(r);
}

int suite_reading_each(const struct suite_reading *r, const struct toml *value, const char *wanted,
                       struct suite_texts *texts)
{
    bool array = value->kind == TOML_ARRAY;

    for (size_t i = 0; i < (array ? value->count : 1); i++) {
        const struct toml *item = array ? value->items[i] : value;

        if (item->kind != TOML_STRING)
            return suite_reading_wrong_kind(r, item, wanted);
        if (array_append_text(&texts->list, &texts->count, item->text) != 0)
            return suite_reading_no_memory(r);
    }
    return 0;
}

void suite_texts_free(struct suite_texts *texts)
{
    array_free_texts(&texts->list, &texts->count);
}

bool suite_texts_have(const struct suite_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->list[i], text) == 0)
            return true;
    return false;
}

/* ---- limits */

static int add_limit(const struct suite_reading *r, const struct toml *value, const char *event,
                     const char *function, struct suite_limits *limits)
{
    char text[80];
    int error;

    if (value->kind != TOML_STRING)
        return suite_reading_wrong_kind(r, value,
                                        "a limit: \"0.5 %\", \"+10000\" or \"max 2000000\"");
    error = limits->count < SUITE_LIMITS_MAX
                ? suite_limits_add(limits, event, function, value->text)
                : -E2BIG;
    if (error == -EINVAL)
        return suite_reading_wrong(
            r, value, "'%s' is no limit; write \"0.5 %%\", \"+10000\" or \"max 2000000\"",
            text_escape(text, sizeof text, value->text));
    if (error == -E2BIG)
        return suite_reading_wrong(r, value, "more than %u limits of a benchmark",
                                   SUITE_LIMITS_MAX);
    return error == 0 ? 0 : suite_reading_no_memory(r);
}

/* The limits of an event replace those of the defaults. */
static int take_event_limits(const struct suite_reading *r, const struct toml *value,
                             const char *event, const char *function, struct suite_limits *limits)
{
    suite_limits_remove(limits, event, function);
    if (value->kind != TOML_ARRAY)
        return add_limit(r, value, event, function, limits);
    for (size_t i = 0; i < value->count; i++)
        if (add_limit(r, value->items[i], event, function, limits) != 0)
            return -1;
    return 0;
}

int suite_reading_limits(const struct suite_reading *r, const struct toml *table,
                         const char *function, struct suite_limits *limits)
{
    if (table->kind != TOML_TABLE)
        return suite_reading_wrong_kind(r, table, "a table: { instructions = \"0.5 %\" }");
    for (size_t i = 0; i < table->count; i++)
        if (take_event_limits(r, table->items[i], table->items[i]->key, function, limits) != 0)
            return -1;
    return 0;
}

/* NAME = "1 %" is a limit of the function's instructions; NAME = { EVENT = "1 %" } of another
 * event.
 */
int suite_reading_functions(const struct suite_reading *r, const struct toml *table,
                            struct suite_limits *limits)
{
    int result = 0;

    if (table->kind != TOML_TABLE)
        return suite_reading_wrong_kind(r, table, "a table: { NAME = \"1 %\" }");
    for (size_t i = 0; i < table->count && result == 0; i++) {
        const struct toml *value = table->items[i];

        result = value->kind == TOML_TABLE
                     ? suite_reading_limits(r, value, value->key, limits)
                     : take_event_limits(r, value, "instructions", value->key, limits);
    }
    return result;
}
