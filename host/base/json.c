/* Values of a JSON object that need care. */
#include "host/base/json.h"

#include <errno.h>

#include "host/base/text.h"

json_t *json_number(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *json_text(const char *text)
{
    char safe[16384];

    return json_string(text_escape(safe, sizeof safe, text));
}

int json_print(FILE *out, json_t *object)
{
    int error;

    if (object == NULL)
        return -ENOMEM;
    error = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    fputc('\n', out);
    return error == 0 || ferror(out) ? 0 : -ENOMEM;
}
