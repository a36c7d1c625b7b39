/* Reads and writes cpio archives in the "newc" format. */
#include "lib/program/cpio.h"

#include <stdbool.h>
#include <string.h>

#include "lib/array.h"

#define MAGIC_BYTES 6u
#define FIELD_BYTES 8u

static const uint8_t magic[MAGIC_BYTES] = {'0', '7', '0', '7', '0', '1'};
static const char trailer[] = "TRAILER!!!";

enum field { /* in the order of the header: eight hexadecimal digits each */
             FIELD_INO,
             FIELD_MODE,
             FIELD_UID,
             FIELD_GID,
             FIELD_NLINK,
             FIELD_MTIME,
             FIELD_FILESIZE,
             FIELD_DEVMAJOR,
             FIELD_DEVMINOR,
             FIELD_RDEVMAJOR,
             FIELD_RDEVMINOR,
             FIELD_NAMESIZE,
             FIELD_CHECK,
             FIELD_COUNT
};
_Static_assert(MAGIC_BYTES + FIELD_COUNT * FIELD_BYTES == CPIO_HEADER_BYTES, "newc header");

void cpio_init(struct cpio_reader *r, const void *bytes, size_t count)
{
    r->bytes = bytes;
    r->count = count;
    r->offset = 0;
}

size_t cpio_padding(size_t bytes)
{
    return (0 - bytes) & 3;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool parse_fields(const uint8_t *header, uint32_t *fields)
{
    const uint8_t *p = header + MAGIC_BYTES;

    for (int i = 0; i < FIELD_COUNT; i++) {
        uint32_t value = 0;

        for (uint32_t k = 0; k < FIELD_BYTES; k++) {
            int digit = hex_digit(*p++);

            if (digit < 0)
                return false;
            value = value << 4 | (uint32_t)digit;
        }
        fields[i] = value;
    }
    return true;
}

/* Skips `bytes` and the padding after them; returns false if they reach past the archive's end. */
static bool skip_padded(const struct cpio_reader *r, size_t *at, size_t bytes)
{
    if (bytes > r->count - *at)
        return false;
    *at += bytes;
    if (cpio_padding(*at) > r->count - *at)
        return false;
    *at += cpio_padding(*at);
    return true;
}

/* A name ends with at least one NUL, and only NULs follow. */
static bool parse_name(const char *name, size_t bytes, struct cpio_entry *entry)
{
    size_t length = 0;

    while (length < bytes && name[length] != '\0')
        length++;
    if (length == 0 || length == bytes)
        return false;
    for (size_t i = length; i < bytes; i++)
        if (name[i] != '\0')
            return false;
    entry->name = name;
    entry->name_bytes = length;
    entry->name_padding = bytes - length - 1;
    return true;
}

enum cpio_status cpio_next(struct cpio_reader *r, struct cpio_entry *entry)
{
    uint32_t fields[FIELD_COUNT];
    const uint8_t *header = r->bytes + r->offset;
    size_t at = r->offset;
    size_t name_bytes;

    if (r->count - at < MAGIC_BYTES)
        return CPIO_TRUNCATED;
    if (memcmp(header, magic, MAGIC_BYTES) != 0)
        return CPIO_BAD_MAGIC;
    if (r->count - at < CPIO_HEADER_BYTES)
        return CPIO_TRUNCATED;
    if (!parse_fields(header, fields))
        return CPIO_BAD_FIELD;
    name_bytes = fields[FIELD_NAMESIZE];
    if (name_bytes < 2)
        return CPIO_BAD_FIELD;
    if (!skip_padded(r, &at, CPIO_HEADER_BYTES + name_bytes))
        return CPIO_TRUNCATED;
    if (!parse_name((const char *)header + CPIO_HEADER_BYTES, name_bytes, entry))
        return CPIO_BAD_FIELD;
    if (entry->name_bytes == sizeof trailer - 1 &&
        memcmp(entry->name, trailer, sizeof trailer) == 0)
        return CPIO_END;
    entry->data = r->bytes + at;
    entry->bytes = fields[FIELD_FILESIZE];
    if (!skip_padded(r, &at, entry->bytes))
        return CPIO_TRUNCATED;
    entry->mode = fields[FIELD_MODE];
    entry->ino = fields[FIELD_INO];
    entry->uid = fields[FIELD_UID];
    entry->gid = fields[FIELD_GID];
    entry->nlink = fields[FIELD_NLINK];
    entry->mtime = fields[FIELD_MTIME];
    r->offset = at;
    return CPIO_OK;
}

const char *cpio_status_text(enum cpio_status status)
{
    static const char *const texts[] = {
        [CPIO_OK] = "no error",
        [CPIO_END] = "end of archive",
        [CPIO_BAD_MAGIC] = "not a cpio archive in newc format",
        [CPIO_BAD_FIELD] = "malformed header field or name",
        [CPIO_TRUNCATED] = "truncated archive",
    };

    return (size_t)status < ARRAY_COUNT(texts) ? texts[status] : "unknown status";
}

static void format_hex(uint8_t *out, uint32_t value)
{
    static const char digits[] = "0123456789abcdef";

    for (int i = FIELD_BYTES - 1; i >= 0; i--) {
        out[i] = (uint8_t)digits[value & 15];
        value >>= 4;
    }
}

size_t cpio_name_padding(size_t offset, size_t name_bytes, size_t alignment)
{
    return (0 - (offset + CPIO_HEADER_BYTES + name_bytes + 1)) & (alignment - 1);
}

size_t cpio_write_header(void *out, size_t room, const struct cpio_entry *entry)
{
    uint32_t fields[FIELD_COUNT] = {
        [FIELD_INO] = entry->ino, [FIELD_MODE] = entry->mode,   [FIELD_UID] = entry->uid,
        [FIELD_GID] = entry->gid, [FIELD_NLINK] = entry->nlink, [FIELD_MTIME] = entry->mtime,
    };
    uint8_t *p = out;
    size_t length, padding;

    if (entry->bytes > UINT32_MAX || entry->name_bytes == 0 || entry->name_bytes >= room ||
        entry->name_padding >= room - entry->name_bytes)
        return 0;
    length = CPIO_HEADER_BYTES + entry->name_bytes + 1 + entry->name_padding;
    padding = cpio_padding(length);
    if (length - CPIO_HEADER_BYTES > UINT32_MAX || length + padding > room)
        return 0;
    fields[FIELD_FILESIZE] = (uint32_t)entry->bytes;
    fields[FIELD_NAMESIZE] = (uint32_t)(length - CPIO_HEADER_BYTES);
    memcpy(p, magic, MAGIC_BYTES);
    for (int i = 0; i < FIELD_COUNT; i++)
        format_hex(p + MAGIC_BYTES + (size_t)i * FIELD_BYTES, fields[i]);
    memcpy(p + CPIO_HEADER_BYTES, entry->name, entry->name_bytes);
    memset(p + CPIO_HEADER_BYTES + entry->name_bytes, 0,
           length + padding - CPIO_HEADER_BYTES - entry->name_bytes);
    return length + padding;
}

size_t cpio_write_trailer(void *out, size_t room)
{
    const struct cpio_entry entry = {
        .name = trailer,
        .name_bytes = sizeof trailer - 1,
        .nlink = 1,
    };

    return cpio_write_header(out, room, &entry);
}
