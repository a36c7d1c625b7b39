/* Puts columns of numbers into bytes. */
#include "host/view/data/view_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES_MAX 10u
#define ROOM_FIRST 4096u

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
    view_column_free(&c->all);
    memset(c, 0, sizeof *c);
}

void view_column_free(struct view_column *column)
{
    free(column->bytes);
    *column = (struct view_column){0};
}

/* Room for so many bytes more. */
static int reserve(struct view_column *column, size_t bytes)
{
    size_t room = column->room != 0 ? column->room : ROOM_FIRST;
    uint8_t *more;

    while (room - column->used < bytes)
        room *= 2;
    if (room == column->room)
        return 0;
    more = realloc(column->bytes, room);
    if (more == NULL)
        return -ENOMEM;
    column->bytes = more;
    column->room = room;
    return 0;
}

int view_column_put(struct view_column *column, uint64_t value)
{
    uint64_t difference = value - column->previous;
    uint64_t z = difference << 1 ^ (uint64_t)((int64_t)difference >> 63);

    if (column->room - column->used < VALUE_BYTES_MAX && reserve(column, VALUE_BYTES_MAX) != 0)
        return -ENOMEM;
    for (; z >= 128; z >>= 7)
        column->bytes[column->used++] = (uint8_t)(z | 128);
    column->bytes[column->used++] = (uint8_t)z;
    column->previous = value;
    column->count++;
    return 0;
}

void view_columns_begin(struct view_columns *c)
{
    c->column_start = c->all.used;
    c->all.count = 0;
    c->all.previous = 0;
}

void view_columns_put(struct view_columns *c, uint64_t value)
{
    if (c->error == 0)
        c->error = view_column_put(&c->all, value);
}

void view_columns_add(struct view_columns *c, const char *name, const struct view_column *column)
{
    view_columns_begin(c);
    if (c->error == 0 && column->used != 0)
        c->error = reserve(&c->all, column->used);
    if (c->error == 0 && column->used != 0)
        memcpy(c->all.bytes + c->all.used, column->bytes, column->used);
    c->all.used += c->error == 0 ? column->used : 0;
    c->all.count = column->count;
    view_columns_end(c, name);
}

void view_columns_end(struct view_columns *c, const char *name)
{
    json_t *place = json_pack("[I, I]", (json_int_t)c->column_start, (json_int_t)c->all.count);

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
    *group_bytes = sizeof text_bytes + text_bytes + c->all.used;
    out = malloc(*group_bytes);
    if (out != NULL) {
        memcpy(out, &text_bytes, sizeof text_bytes);
        memcpy(out + sizeof text_bytes, text, text_bytes);
        if (c->all.used != 0)
            memcpy(out + sizeof text_bytes + text_bytes, c->all.bytes, c->all.used);
    }
    free(text);
    *group = out;
    return out != NULL ? 0 : -ENOMEM;
}
