/* A summary as its JSON, parsed: for the tests of either. */
#ifndef TESTS_UNIT_HOST_SUMMARY_JSON_H
#define TESTS_UNIT_HOST_SUMMARY_JSON_H

#include <jansson.h>
#include <stdlib.h>

#include "host/summary/summary.h"
#include "tests/unit/test.h"

/* Owned by the caller. */
static inline json_t *summary_to_json(const struct summary *s)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    json_t *object;

    assert_int_equal(summary_print_json(out, s), 0);
    fclose(out);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    free(text);
    return object;
}

#endif
