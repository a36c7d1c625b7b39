/* Builds, writes and reads the index at the end of a trace. */
#include "host/trace/trace_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/transfer.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_writer.h"

#define CHUNK_BYTES_MAX (sizeof(struct hr_chunk_header) + HR_CHUNK_PAYLOAD_MAX)
#define RECORD_ENTRIES (65535u / sizeof(struct hr_index_entry))

void trace_index_init(struct trace_index *index)
{
    memset(index, 0, sizeof *index);
}

void trace_index_free(struct trace_index *index)
{
    free(index->entries);
    trace_index_init(index);
}

static int reserve(struct trace_index *index, size_t count)
{
    size_t capacity = index->capacity;
    struct hr_index_entry *entries;

    if (count <= capacity)
        return 0;
    if (count > TRACE_INDEX_ENTRIES_MAX)
        return -E2BIG;
    while (capacity < count)
        capacity = capacity != 0 ? capacity * 2 : 256;
    entries = reallocarray(index->entries, capacity, sizeof *entries);
    if (entries == NULL)
        return -ENOMEM;
    index->entries = entries;
    index->capacity = capacity;
    return 0;
}

int trace_index_add(struct trace_index *index, const struct hr_chunk_header *header,
                    uint64_t offset)
{
    int error = reserve(index, index->count + 1);

    if (error != 0)
        return error;
    index->entries[index->count++] = (struct hr_index_entry){
        .offset = offset,
        .time_first = header->time_first,
        .time_last = header->time_last,
        .lost_count = header->lost_count,
        .sample_count = header->sample_count,
        .payload_bytes = header->payload_bytes,
        .type = header->type,
        .cpu = header->cpu,
        .sequence = header->sequence,
    };
    return 0;
}

static int flush_chunk(struct trace_writer *writer, int fd, uint64_t *total)
{
    uint32_t bytes = trace_writer_finish(writer);
    int error = transfer_write(fd, writer->buffer, bytes, NULL);

    if (error == 0)
        *total += bytes;
    return error;
}

/* Adds a record, in a new chunk if this one is full. */
static int add_record(struct trace_writer *writer, int fd, uint64_t *total, uint8_t type,
                      const void *body, uint32_t bytes)
{
    int error = trace_writer_record(writer, type, TRACE_NO_TIME, body, bytes, NULL, 0);

    if (error != -ENOSPC)
        return error;
    error = flush_chunk(writer, fd, total);
    if (error != 0)
        return error;
    trace_writer_begin(writer, HR_CHUNK_INDEX);
    return trace_writer_record(writer, type, TRACE_NO_TIME, body, bytes, NULL, 0);
}

static int write_chunks(const struct trace_index *index, struct trace_writer *writer, int fd,
                        uint64_t offset, uint64_t *total)
{
    struct hr_index_trailer trailer = {.first_offset = offset, .entry_count = index->count};
    int error = 0;

    memcpy(trailer.magic, HR_TRAILER_MAGIC, sizeof trailer.magic);
    trace_writer_begin(writer, HR_CHUNK_INDEX);
    for (size_t done = 0; done < index->count && error == 0;) {
        size_t count = index->count - done < RECORD_ENTRIES ? index->count - done : RECORD_ENTRIES;

        error = add_record(writer, fd, total, HR_INDEX_ENTRIES, index->entries + done,
                           (uint32_t)(count * sizeof(struct hr_index_entry)));
        done += count;
    }
    if (error == 0)
        error = add_record(writer, fd, total, HR_INDEX_TRAILER, &trailer, sizeof trailer);
    if (error == 0)
        error = flush_chunk(writer, fd, total);
    return error;
}

int trace_index_append(const struct trace_index *index, int fd, uint64_t offset, uint64_t *bytes)
{
    uint8_t *buffer = malloc(CHUNK_BYTES_MAX);
    struct trace_writer writer;
    uint64_t total = 0;
    int error;

    if (buffer == NULL)
        return -ENOMEM;
    trace_writer_init(&writer, buffer, CHUNK_BYTES_MAX, HR_CPU_NONE, 0);
    error = write_chunks(index, &writer, fd, offset, &total);
    free(buffer);
    if (bytes != NULL)
        *bytes = total;
    return error;
}

/* Reads exactly `count` bytes.  Returns -EBADMSG if the file ends before. */
static int read_at(int fd, void *out, size_t count, uint64_t offset)
{
    ssize_t got = transfer_read_at(fd, out, count, offset);

    return got < 0 ? (int)got : (size_t)got == count ? 0 : -EBADMSG;
}

static int add_entries(struct trace_index *index, const struct trace_record *record)
{
    size_t count = record->bytes / sizeof(struct hr_index_entry);
    int error;

    if (record->bytes % sizeof(struct hr_index_entry) != 0 ||
        count > TRACE_INDEX_ENTRIES_MAX - index->count)
        return -EBADMSG;
    error = reserve(index, index->count + count);
    if (error != 0 || count == 0)
        return error;
    memcpy(index->entries + index->count, record->body, record->bytes);
    index->count += count;
    return 0;
}

/* Takes one INDEX chunk at `offset`; stores where the next one begins. */
static int load_chunk(struct trace_index *index, int fd, uint8_t *buffer, uint64_t *offset)
{
    struct hr_chunk_header header;
    struct trace_cursor cursor;
    struct trace_record record;
    enum trace_status status;
    uint8_t *payload = buffer + sizeof header;
    int error = read_at(fd, buffer, sizeof header, *offset);

    if (error != 0)
        return error;
    if (trace_check_header(buffer, sizeof header, &header) != TRACE_OK ||
        header.type != HR_CHUNK_INDEX)
        return -EBADMSG;
    error = read_at(fd, payload, header.payload_bytes, *offset + sizeof header);
    if (error != 0)
        return error;
    if (trace_check_payload(&header, payload) != TRACE_OK)
        return -EBADMSG;
    trace_cursor_init(&cursor, payload, header.payload_bytes);
    while ((status = trace_next(&cursor, &record)) == TRACE_OK && error == 0)
        if (record.type == HR_INDEX_ENTRIES)
            error = add_entries(index, &record);
    *offset += sizeof header + header.payload_bytes;
    return error != 0 ? error : status == TRACE_END ? 0 : -EBADMSG;
}

/* Returns whether the entries describe chunks in order, from the file header to the first INDEX
 * chunk.  Damaged stretches between them are allowed; overlap and disorder are not. */
static bool entries_plausible(const struct trace_index *index)
{
    uint64_t end = sizeof(struct hr_file_header);

    for (size_t i = 0; i < index->count; i++) {
        const struct hr_index_entry *entry = &index->entries[i];

        if (entry->offset < end || entry->offset >= index->first_offset ||
            entry->payload_bytes > HR_CHUNK_PAYLOAD_MAX)
            return false;
        end = entry->offset + sizeof(struct hr_chunk_header) + entry->payload_bytes;
    }
    return end <= index->first_offset;
}

static int load_chunks(struct trace_index *index, int fd, const struct hr_index_trailer *trailer,
                       uint64_t file_bytes)
{
    uint8_t *buffer = malloc(CHUNK_BYTES_MAX);
    uint64_t offset = trailer->first_offset;
    int error = buffer != NULL ? 0 : -ENOMEM;

    while (error == 0 && offset < file_bytes)
        error = load_chunk(index, fd, buffer, &offset);
    free(buffer);
    if (error != 0)
        return error;
    index->first_offset = trailer->first_offset;
    return index->count == trailer->entry_count && entries_plausible(index) ? 0 : -EBADMSG;
}

int trace_index_load(struct trace_index *index, int fd)
{
    struct hr_index_trailer trailer;
    struct stat file;
    uint64_t bytes;
    int error;

    trace_index_init(index);
    if (fstat(fd, &file) != 0)
        return -errno;
    bytes = (uint64_t)file.st_size;
    if (bytes < sizeof(struct hr_file_header) + sizeof trailer)
        return -ENODATA;
    error = read_at(fd, &trailer, sizeof trailer, bytes - sizeof trailer);
    if (error != 0)
        return error;
    if (memcmp(trailer.magic, HR_TRAILER_MAGIC, sizeof trailer.magic) != 0)
        return -ENODATA;
    if (trailer.first_offset < sizeof(struct hr_file_header) || trailer.first_offset >= bytes ||
        trailer.entry_count > TRACE_INDEX_ENTRIES_MAX)
        return -EBADMSG;
    error = load_chunks(index, fd, &trailer, bytes);
    if (error != 0)
        trace_index_free(index);
    return error;
}

int trace_index_walk(struct trace_index *index, int fd, uint64_t offset, uint64_t file_bytes)
{
    struct hr_chunk_header header;
    uint8_t bytes[sizeof header];

    trace_index_init(index);
    while (offset < file_bytes) {
        int error = read_at(fd, bytes, sizeof bytes, offset);

        if (error == 0 && (trace_check_header(bytes, sizeof bytes, &header) != TRACE_OK ||
                           header.payload_bytes + sizeof header > file_bytes - offset))
            error = -EBADMSG;
        if (error == 0)
            error = trace_index_add(index, &header, offset);
        if (error != 0)
            return error;
        offset += sizeof header + header.payload_bytes;
    }
    return 0;
}

struct hr_chunk_header trace_index_header(const struct hr_index_entry *entry)
{
    return (struct hr_chunk_header){
        .magic = HR_CHUNK_MAGIC,
        .type = entry->type,
        .cpu = entry->cpu,
        .sequence = entry->sequence,
        .payload_bytes = entry->payload_bytes,
        .time_first = entry->time_first,
        .time_last = entry->time_last,
        .sample_count = entry->sample_count,
        .lost_count = entry->lost_count,
    };
}

bool trace_index_matches(const struct hr_index_entry *entry, const struct hr_chunk_header *header,
                         uint64_t offset)
{
    return entry->offset == offset && entry->time_first == header->time_first &&
           entry->time_last == header->time_last && entry->lost_count == header->lost_count &&
           entry->sample_count == header->sample_count &&
           entry->payload_bytes == header->payload_bytes && entry->type == header->type &&
           entry->cpu == header->cpu && entry->sequence == header->sequence;
}
