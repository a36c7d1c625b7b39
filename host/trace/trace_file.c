/* Walks over the chunks of a trace file with a bounded buffer. */
#include "host/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/trace/trace_stdin.h"

#define READ_BYTES (256u << 10) /* fits into the second-level cache while it is decoded */
#define BUFFER_BYTES (sizeof(struct hr_chunk_header) + HR_CHUNK_PAYLOAD_MAX + READ_BYTES)

/* Returns the bytes from `offset` on: at least `count` of them (at most BUFFER_BYTES - READ_BYTES)
 * unless the file ends before; *available says how many.  NULL if a read failed. */
static const uint8_t *fetch(struct trace_file *file, uint64_t offset, size_t count,
                            size_t *available)
{
    uint64_t end = file->buffer_offset + file->buffer_bytes;

    if (offset < file->buffer_offset || offset > end) {
        file->buffer_bytes = 0;
    } else if (end - offset < count) {
        file->buffer_bytes = (size_t)(end - offset);
        memmove(file->buffer, file->buffer + (offset - file->buffer_offset), file->buffer_bytes);
    } else {
        *available = (size_t)(end - offset);
        return file->buffer + (offset - file->buffer_offset);
    }
    file->buffer_offset = offset;
    while (file->buffer_bytes < count) {
        uint64_t from = offset + file->buffer_bytes;
        size_t room = BUFFER_BYTES - file->buffer_bytes;
        size_t wanted = count - file->buffer_bytes;
        ssize_t got;

        if (from >= file->file_bytes)
            break;
        if (wanted < file->read_ahead)
            wanted = file->read_ahead;
        wanted = wanted < room ? wanted : room;
        if (wanted > file->file_bytes - from)
            wanted = (size_t)(file->file_bytes - from);
        got = pread(file->fd, file->buffer + file->buffer_bytes, wanted, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            file->error = -errno;
            return NULL;
        }
        if (got == 0) /* the file was truncated while we read */
            file->file_bytes = from;
        file->buffer_bytes += (size_t)got;
    }
    *available = file->buffer_bytes;
    return file->buffer;
}

static int check_start(struct trace_file *file)
{
    uint32_t first_chunk = 0;
    size_t available;
    const uint8_t *bytes = fetch(file, 0, sizeof(struct hr_file_header), &available);

    if (bytes == NULL)
        return file->error;
    switch (trace_check_file(bytes, available, &first_chunk)) {
    case TRACE_OK:
        file->first_chunk = file->position = first_chunk;
        return 0;
    case TRACE_BAD_VERSION:
        return -EPROTONOSUPPORT;
    case TRACE_BAD_CHECKSUM:
    case TRACE_BAD_LENGTH:
    case TRACE_SHORT:
        file->position = 0; /* no chunk begins here: the search finds the first one */
        return 0;
    default:
        return -EBADMSG;
    }
}

int trace_file_open(struct trace_file *file, const char *path)
{
    struct stat status;
    int error = 0;

    *file = (struct trace_file){.read_ahead = READ_BYTES};
    if (strcmp(path, "-") == 0)
        file->fd = trace_stdin_open();
    else if ((file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0) /* no FIFO waits */
        file->fd = -errno;
    if (file->fd < 0)
        return file->fd;
    if (fstat(file->fd, &status) != 0)
        error = -errno;
    else if (S_ISDIR(status.st_mode))
        error = -EISDIR;
    else if (!S_ISREG(status.st_mode))
        error = -ESPIPE;
    else if (status.st_size == 0)
        error = -ENODATA;
    else if ((file->buffer = malloc(BUFFER_BYTES)) == NULL)
        error = -ENOMEM;
    if (error == 0) {
        file->file_bytes = (uint64_t)status.st_size;
        posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        error = check_start(file);
    }
    if (error != 0)
        trace_file_close(file);
    return error;
}

void trace_file_close(struct trace_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->buffer);
    file->buffer = NULL;
    file->fd = -1;
}

int trace_file_share(struct trace_file *file, const struct trace_file *of)
{
    *file = (struct trace_file){.file_bytes = of->file_bytes,
                                .first_chunk = of->first_chunk,
                                .position = of->first_chunk,
                                .read_ahead = READ_BYTES,
                                .growing = of->growing,
                                .fd = fcntl(of->fd, F_DUPFD_CLOEXEC, 0)};
    if (file->fd < 0)
        return -errno;
    file->buffer = malloc(BUFFER_BYTES);
    if (file->buffer != NULL)
        return 0;
    trace_file_close(file);
    return -ENOMEM;
}

int trace_file_grow(struct trace_file *file)
{
    struct stat status;

    if (fstat(file->fd, &status) != 0)
        return -errno;
    if ((uint64_t)status.st_size < file->file_bytes)
        return -ESTALE;
    file->file_bytes = (uint64_t)status.st_size;
    return 0;
}

const char *trace_file_error(int error)
{
    switch (error) {
    case -EBADMSG:
        return "not a trace: it does not begin with Microtome's file header; record one with "
               "'hr run'";
    case -EPROTONOSUPPORT:
        return "a trace of another format version; read it with the hr that wrote it";
    case -ESPIPE:
        return "not a regular file; a trace that comes through a pipe is read as '-'";
    case -ENODATA:
        return "the file is empty; record a trace with 'hr run'";
    case -ESTALE:
        return "the file became shorter while it was read: another program writes it; record the "
               "trace again";
    case -ENOENT:
        return "no such file; record a trace with 'hr run'";
    case -EISDIR:
        return "a directory; name the trace file in it";
    case -EACCES:
        return "permission denied; run as the user who recorded it";
    default:
        return strerror(-error);
    }
}

/* Reads the header at `offset`.  Returns TRACE_OK, or what is wrong with it. */
static enum trace_status header_at(struct trace_file *file, uint64_t offset,
                                   struct hr_chunk_header *header)
{
    size_t available;
    const uint8_t *bytes = fetch(file, offset, sizeof *header, &available);

    if (bytes == NULL)
        return TRACE_SHORT;
    return trace_check_header(bytes, available, header);
}

/* Returns the offset of the first valid chunk header at or after `offset`, or the file's end. */
static uint64_t search(struct trace_file *file, uint64_t offset)
{
    const uint32_t magic = HR_CHUNK_MAGIC;
    struct hr_chunk_header header;

    while (offset < file->file_bytes) {
        size_t available;
        const uint8_t *bytes = fetch(file, offset, sizeof header, &available);
        const uint8_t *found;

        if (bytes == NULL || available < sizeof header)
            return file->file_bytes;
        found = memmem(bytes, available, &magic, sizeof magic);
        if (found == NULL) {
            offset += available - (sizeof magic - 1);
            continue;
        }
        offset += (uint64_t)(found - bytes);
        if (header_at(file, offset, &header) == TRACE_OK)
            return offset;
        offset++;
    }
    return file->file_bytes;
}

/* Whether it depends on what is yet to be written what is before `offset`. */
static bool is_open(const struct trace_file *file, uint64_t offset)
{
    return file->growing && offset + sizeof(struct hr_chunk_header) > file->file_bytes;
}

/* As search, from where an earlier search from this offset has ended. */
static uint64_t search_on(struct trace_file *file, uint64_t offset)
{
    uint64_t from =
        offset == file->search_start && file->searched > offset ? file->searched : offset;
    uint64_t end = search(file, from);

    if (is_open(file, end) && file->file_bytes > sizeof(struct hr_chunk_header)) {
        file->search_start = offset;
        file->searched = file->file_bytes - sizeof(struct hr_chunk_header);
    }
    return end;
}

/* Returns [position, end of damage) as damage, and continues after it. */
static int damage(struct trace_file *file, struct trace_chunk *chunk, enum trace_status status)
{
    struct hr_chunk_header next;
    uint64_t end = chunk->offset + 1;

    if (chunk->has_header) {
        /* Trust the length if it leads to another chunk: then only the payload is bad. */
        end = chunk->offset + sizeof chunk->header + chunk->header.payload_bytes;
        if (!is_open(file, end) &&
            (end > file->file_bytes ||
             (end < file->file_bytes && header_at(file, end, &next) != TRACE_OK)))
            end = search_on(file, chunk->offset + sizeof chunk->header);
    } else {
        end = search_on(file, end);
    }
    if (file->error != 0)
        return file->error;
    if (is_open(file, end))
        return TRACE_STEP_END;
    chunk->status = status;
    chunk->bytes = end - chunk->offset;
    file->position = end;
    return TRACE_STEP_DAMAGE;
}

bool trace_file_peek(struct trace_file *file, struct hr_chunk_header *header)
{
    return header_at(file, file->position, header) == TRACE_OK;
}

int trace_file_next(struct trace_file *file, struct trace_chunk *chunk)
{
    enum trace_status status;
    const uint8_t *bytes;
    size_t available;

    memset(chunk, 0, sizeof *chunk);
    chunk->offset = file->position;
    if (file->position >= file->file_bytes)
        return TRACE_STEP_END;
    status = header_at(file, file->position, &chunk->header);
    if (file->error != 0)
        return file->error;
    chunk->has_header = status == TRACE_OK;
    if (!chunk->has_header) {
        memset(&chunk->header, 0, sizeof chunk->header);
        return damage(file, chunk, status);
    }
    chunk->bytes = sizeof chunk->header + chunk->header.payload_bytes;
    bytes = fetch(file, chunk->offset, (size_t)chunk->bytes, &available);
    if (bytes == NULL)
        return file->error;
    if (available < chunk->bytes)
        return damage(file, chunk, TRACE_SHORT);
    status = trace_check_payload(&chunk->header, bytes + sizeof chunk->header);
    if (status != TRACE_OK)
        return damage(file, chunk, status);
    chunk->payload = bytes + sizeof chunk->header;
    file->position = chunk->offset + chunk->bytes;
    return TRACE_STEP_CHUNK;
}

void trace_file_seek(struct trace_file *file, uint64_t offset)
{
    file->position = offset;
}
