/* Groups of named columns of whole numbers, as the page reads them: small, and quick to decode.
 *
 * A value is stored as its difference from the one before, zigzag-coded, seven bits a byte, the
 * low ones first.  A finished group is
 *
 *   u32 bytes of JSON; the JSON text; the columns' bytes
 *
 * and the JSON's "columns" says for each its offset in those bytes and how many values it has;
 * whatever else the caller put into the JSON is there, too.  Failures are remembered: the last
 * function tells.  Never prints.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct view_column { /* a column's bytes; all zero at first */
    uint8_t *bytes; /* owned */
    size_t used;
    size_t room;
    uint64_t count;
    uint64_t previous;
};

struct view_columns {
    json_t *json; /* an object; owned */
    json_t *list; /* its "columns" */
    struct view_column all; /* the columns' bytes, and the count of the one that is put */
    size_t column_start;
    int error; /* -ENOMEM, 0 */
};

void view_columns_init(struct view_columns *c);
void view_columns_free(struct view_columns *c);

/* Between begin and end: one column's values. */
void view_columns_begin(struct view_columns *c);
void view_columns_put(struct view_columns *c, uint64_t value);
void view_columns_end(struct view_columns *c, const char *name);

/* A column that grows while others do: a value more; 0 or -ENOMEM.  Then it is put as a whole. */
int view_column_put(struct view_column *column, uint64_t value);
void view_column_free(struct view_column *column);
void view_columns_add(struct view_columns *c, const char *name, const struct view_column *column);

/* Sets a key of the JSON; takes the reference, NULL counts as no memory. */
void view_columns_set(struct view_columns *c, const char *key, json_t *value);

/* The finished group in one allocation of the caller's.  0 or -ENOMEM. */
int view_columns_finish(struct view_columns *c, uint8_t **group, size_t *group_bytes);
