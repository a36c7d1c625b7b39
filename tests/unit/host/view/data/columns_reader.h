/* Reads a group of columns as the page does, for tests. */
#ifndef TESTS_UNIT_HOST_VIEW_COLUMNS_READER_H
#define TESTS_UNIT_HOST_VIEW_COLUMNS_READER_H

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/view/data/view_columns.h"

struct columns_reader {
    uint8_t *bytes;
    size_t count;
    json_t *json;
    const uint8_t *columns;
};

static inline void columns_reader_open(struct columns_reader *r, struct view_columns *columns)
{
    uint32_t text;

    if (view_columns_finish(columns, &r->bytes, &r->count) != 0)
        abort();
    memcpy(&text, r->bytes, sizeof text);
    r->json = json_loadb((const char *)r->bytes + sizeof text, text, 0, NULL);
    r->columns = r->bytes + sizeof text + text;
    view_columns_free(columns);
}

static inline void columns_reader_close(struct columns_reader *r)
{
    json_decref(r->json);
    free(r->bytes);
}

/* Whether two groups of columns come to the same bytes; frees both. */
static inline bool columns_equal(struct view_columns *a, struct view_columns *b)
{
    struct view_columns *const columns[] = {a, b};
    uint8_t *bytes[2];
    size_t count[2];
    bool equal;

    for (int i = 0; i < 2; i++) {
        if (view_columns_finish(columns[i], &bytes[i], &count[i]) != 0)
            abort();
        view_columns_free(columns[i]);
    }
    equal = count[0] == count[1] && memcmp(bytes[0], bytes[1], count[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return equal;
}

/* The column's values in one allocation; *count how many.  NULL: there is no such column. */
static inline uint64_t *columns_reader_get(const struct columns_reader *r, const char *name,
                                           size_t *count)
{
    json_t *place = json_object_get(json_object_get(r->json, "columns"), name);
    const uint8_t *at;
    uint64_t value = 0, *out;

    if (place == NULL)
        return NULL;
    at = r->columns + json_integer_value(json_array_get(place, 0));
    *count = (size_t)json_integer_value(json_array_get(place, 1));
    out = calloc(*count + 1, sizeof *out);
    for (size_t i = 0; i < *count; i++) {
        uint64_t z = 0;

        for (unsigned shift = 0;; shift += 7) {
            uint8_t byte = *at++;

            z |= (uint64_t)(byte & 127) << shift;
            if (byte < 128)
                break;
        }
        value += z >> 1 ^ -(z & 1);
        out[i] = value;
    }
    return out;
}

/* The sum of a column. */
static inline uint64_t columns_reader_sum(const struct columns_reader *r, const char *name)
{
    size_t count = 0;
    uint64_t *values = columns_reader_get(r, name, &count), sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    free(values);
    return sum;
}

#endif
