/* Builds messages of protocol buffers. */
#include "host/export/common/proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"

#define FIRST_ROOM 4096u
#define VARINT_BYTES 10u

enum { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2 };

void proto_free(struct proto *proto)
{
    free(proto->bytes);
    *proto = (struct proto){0};
}

/* Room for so many bytes more, or an error and none. */
static uint8_t *make_room(struct proto *proto, size_t bytes)
{
    size_t room = proto->room != 0 ? proto->room : FIRST_ROOM;
    uint8_t *larger;

    while (room - proto->used < bytes)
        room *= 2;
    if (room != proto->room) {
        larger = realloc(proto->bytes, room);
        if (larger == NULL) {
            proto->error = -ENOMEM;
            return NULL;
        }
        proto->bytes = larger;
        proto->room = room;
    }
    return proto->bytes + proto->used;
}

static size_t encode(uint8_t out[VARINT_BYTES], uint64_t value)
{
    size_t used = 0;

    for (; value >= 0x80; value >>= 7)
        out[used++] = (uint8_t)(value | 0x80);
    out[used++] = (uint8_t)value;
    return used;
}

static void put_bytes(struct proto *proto, const void *bytes, size_t count)
{
    uint8_t *at = make_room(proto, count);

    if (at == NULL || count == 0)
        return;
    memcpy(at, bytes, count);
    proto->used += count;
}

static void put_varint(struct proto *proto, uint64_t value)
{
    uint8_t *at = make_room(proto, VARINT_BYTES);

    if (at != NULL)
        proto->used += encode(at, value);
}

static void put_tag(struct proto *proto, uint32_t field, uint32_t wire)
{
    put_varint(proto, (uint64_t)field << 3 | wire);
}

void proto_number(struct proto *proto, uint32_t field, uint64_t value)
{
    put_tag(proto, field, WIRE_VARINT);
    put_varint(proto, value);
}

void proto_fixed(struct proto *proto, uint32_t field, uint64_t value)
{
    put_tag(proto, field, WIRE_64_BITS);
    put_bytes(proto, &value, sizeof value);
}

void proto_double(struct proto *proto, uint32_t field, double value)
{
    put_tag(proto, field, WIRE_64_BITS);
    put_bytes(proto, &value, sizeof value);
}

void proto_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count)
{
    put_tag(proto, field, WIRE_BYTES);
    put_varint(proto, count);
    put_bytes(proto, bytes, count);
}

void proto_text(struct proto *proto, uint32_t field, const char *text)
{
    char safe[PROTO_TEXT_BYTES];

    text_escape(safe, sizeof safe, text);
    proto_bytes(proto, field, safe, strlen(safe));
}

void proto_numbers(struct proto *proto, uint32_t field, const uint64_t *values, size_t count)
{
    size_t mark = proto_begin(proto, field);

    for (size_t i = 0; i < count; i++)
        put_varint(proto, values[i]);
    proto_end(proto, mark);
}

/* One byte is kept for the length, which suffices for most messages. */
size_t proto_begin(struct proto *proto, uint32_t field)
{
    put_tag(proto, field, WIRE_BYTES);
    put_bytes(proto, "", 1);
    return proto->used;
}

void proto_end(struct proto *proto, size_t mark)
{
    uint8_t length[VARINT_BYTES];
    size_t bytes = proto->used - mark;
    size_t more = encode(length, bytes) - 1;

    if (proto->error != 0 || make_room(proto, more) == NULL)
        return;
    memmove(proto->bytes + mark + more, proto->bytes + mark, bytes);
    memcpy(proto->bytes + mark - 1, length, more + 1);
    proto->used += more;
}
