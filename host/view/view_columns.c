/* Puts columns of numbers into bytes. */
#include "host/view/view_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES_MAX 10u
#define ROOM_FIRST (64u << 10)

void view_columns_init(struct view_columns *c)
{
    memset(c, 0, sizeof *c);
    c->json = json_object();
    c->list = json_object();
    view_columns_set(c, "columns", c->list);
}

void view_columns_free(struct view_columns *c)
{
    json_decref(c->json);
    free(c->bytes);
    memset(c, 0, sizeof *c);
}

void view_columns_begin(struct view_columns *c)
{
    c->column_start = c->used;
    c->column_count = 0;
    c->previous = 0;
}

static int grow(struct view_columns *c)
{
    size_t room = c->room != 0 ? 2 * c->room : ROOM_FIRST;
    uint8_t *bytes = c->error == 0 ? realloc(c->bytes, room) : NULL;

    if (bytes == NULL) {
        c->error = -ENOMEM;
        return -1;
    }
    c->bytes = bytes;
    c->room = room;
    return 0;
}

void view_columns_put(struct view_columns *c, uint64_t value)
{
    uint64_t difference = value - c->previous;
    uint64_t z = difference << 1 ^ (uint64_t)((int64_t)difference >> 63);

    if (c->room - c->used < VALUE_BYTES_MAX && grow(c) != 0)
        return;
    for (; z >= 128; z >>= 7)
        c->bytes[c->used++] = (uint8_t)(z | 128);
    c->bytes[c->used++] = (uint8_t)z;
    c->previous = value;
    c->column_count++;
}

void view_columns_end(struct view_columns *c, const char *name)
{
    json_t *place = json_pack("[I, I]", (json_int_t)c->column_start, (json_int_t)c->column_count);

    if (json_object_set_new(c->list, name, place) != 0)
        c->error = -ENOMEM;
}

void view_columns_set(struct view_columns *c, const char *key, json_t *value)
{
    if (json_object_set_new(c->json, key, value) != 0)
        c->error = -ENOMEM;
}

int view_columns_finish(struct view_columns *c, uint8_t **group, size_t *group_bytes)
{
    char *text = c->error == 0 ? json_dumps(c->json, JSON_COMPACT) : NULL;
    uint32_t text_bytes;
    uint8_t *out;

    if (text == NULL)
        return -ENOMEM;
    text_bytes = (uint32_t)strlen(text);
    *group_bytes = sizeof text_bytes + text_bytes + c->used;
    out = malloc(*group_bytes);
    if (out != NULL) {
        memcpy(out, &text_bytes, sizeof text_bytes);
        memcpy(out + sizeof text_bytes, text, text_bytes);
        if (c->used != 0)
            memcpy(out + sizeof text_bytes + text_bytes, c->bytes, c->used);
    }
    free(text);
    *group = out;
    return out != NULL ? 0 : -ENOMEM;
}
