/* Stores what was given for options. */
#include "host/base/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/units.h"

int option_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    uint64_t number;

    errno = 0;
    number = strtoull(text, NULL, 10);
    if (*text == 0 || text[strspn(text, "0123456789")] != 0 || errno != 0 || number < least ||
        number > most)
        return -EINVAL;
    *value = number;
    return 0;
}

int option_word(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

static bool read_value(const struct option_field *field, const char *text, uint64_t *value)
{
    uint64_t most = field->most != 0 ? field->most : UINT64_MAX;

    if (field->kind == OPTION_NUMBER)
        return option_number(text, field->least, most, value) == 0;
    return (field->kind == OPTION_TIME ? units_parse_time(text, UNITS_NEEDED, value)
                                       : units_parse_bytes(text, value)) == 0 &&
           *value >= field->least && *value <= most;
}

bool option_store(const struct option_field *fields, int key, char *argument, void *options,
                  const struct argp_state *state)
{
    const struct option_field *field = fields;
    char *target;

    while (field->key != 0 && field->key != key)
        field++;
    if (field->key == 0)
        return false;
    target = (char *)options + field->offset;
    if (field->kind == OPTION_TEXT)
        *(const char **)target = argument;
    else if (field->kind == OPTION_FLAG)
        *(bool *)target = true;
    else if (!read_value(field, argument, (uint64_t *)target))
        argp_error(state, "--%s %s: %s", field->name, argument, field->wrong);
    return true;
}
