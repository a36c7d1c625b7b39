/* Reads a trace from memory: checks headers and checksums, walks records. */
#include "lib/trace/trace_reader.h"

#include <stdbool.h>
#include <string.h>

#include "lib/array.h"
#include "lib/crc32c.h"

const char *trace_status_text(enum trace_status status)
{
    static const char *const texts[] = {
        [TRACE_OK] = "no error",
        [TRACE_END] = "end",
        [TRACE_SHORT] = "truncated",
        [TRACE_BAD_MAGIC] = "magic number does not match",
        [TRACE_BAD_VERSION] = "written in another major version of the format",
        [TRACE_BAD_CHECKSUM] = "checksum does not match",
        [TRACE_BAD_LENGTH] = "lengths contradict each other",
        [TRACE_BAD_RECORD] = "a record does not decode",
        [TRACE_BAD_HEADER] = "the chunk's header contradicts its records",
    };

    return (size_t)status < ARRAY_COUNT(texts) ? texts[status] : "unknown status";
}

/* Compares the available bytes of a magic number, so that a short foreign file is not "truncated".
 */
static bool magic_differs(const void *bytes, size_t available, const void *magic, size_t count)
{
    return memcmp(bytes, magic, available < count ? available : count) != 0;
}

enum trace_status trace_check_file(const void *bytes, size_t available, uint32_t *first_chunk)
{
    struct hr_file_header header;

    if (available == 0)
        return TRACE_SHORT;
    if (magic_differs(bytes, available, HR_FILE_MAGIC, sizeof header.magic))
        return TRACE_BAD_MAGIC;
    if (available < sizeof header)
        return TRACE_SHORT;
    memcpy(&header, bytes, sizeof header);
    if (header.crc != crc32c(0, &header, offsetof(struct hr_file_header, crc)))
        return TRACE_BAD_CHECKSUM;
    if (header.version_major != HR_VERSION_MAJOR)
        return TRACE_BAD_VERSION;
    if (header.header_bytes < sizeof header)
        return TRACE_BAD_LENGTH;
    *first_chunk = header.header_bytes;
    return TRACE_OK;
}

enum trace_status trace_check_header(const void *bytes, size_t available,
                                     struct hr_chunk_header *header)
{
    const uint32_t magic = HR_CHUNK_MAGIC;

    if (available == 0)
        return TRACE_SHORT;
    if (magic_differs(bytes, available, &magic, sizeof magic))
        return TRACE_BAD_MAGIC;
    if (available < sizeof *header)
        return TRACE_SHORT;
    memcpy(header, bytes, sizeof *header);
    if (header->header_crc != crc32c(0, header, offsetof(struct hr_chunk_header, header_crc)))
        return TRACE_BAD_CHECKSUM;
    if (header->payload_bytes > HR_CHUNK_PAYLOAD_MAX)
        return TRACE_BAD_LENGTH;
    return TRACE_OK;
}

enum trace_status trace_check_payload(const struct hr_chunk_header *header, const void *payload)
{
    if (crc32c(0, payload, header->payload_bytes) != header->payload_crc)
        return TRACE_BAD_CHECKSUM;
    return TRACE_OK;
}

void trace_cursor_init(struct trace_cursor *c, const void *payload, uint32_t bytes)
{
    c->payload = payload;
    c->bytes = bytes;
    c->offset = 0;
}

enum trace_status trace_next(struct trace_cursor *c, struct trace_record *record)
{
    uint32_t remaining = c->bytes - c->offset;
    struct hr_record_header head;

    if (remaining == 0)
        return TRACE_END;
    if (remaining < sizeof head)
        return TRACE_BAD_LENGTH;
    memcpy(&head, c->payload + c->offset, sizeof head);
    if (head.bytes > remaining - sizeof head)
        return TRACE_BAD_LENGTH;
    record->type = head.type;
    record->bytes = head.bytes;
    record->offset = c->offset;
    record->body = c->payload + c->offset + sizeof head;
    c->offset += (uint32_t)sizeof head + head.bytes;
    return TRACE_OK;
}

int trace_body(const struct trace_record *record, void *out, size_t bytes, const uint8_t **tail,
               size_t *tail_bytes)
{
    if (record->bytes < bytes)
        return 0;
    memcpy(out, record->body, bytes);
    if (tail != NULL)
        *tail = record->body + bytes;
    if (tail_bytes != NULL)
        *tail_bytes = record->bytes - bytes;
    return 1;
}
