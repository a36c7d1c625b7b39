/* Continues a trace that an earlier collector has left: reads its contents so far. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/base/transfer.h"
#include "host/collector/collect.h"
#include "lib/trace/trace_reader.h"

#define FILE_HEADER_BYTES_MAX 65536u

static int read_file_header(struct collector *c)
{
    uint32_t first_chunk = 0;
    ssize_t got = transfer_read_at(c->fd, c->memory, FILE_HEADER_BYTES_MAX, 0);

    if (got < 0)
        return (int)got;
    if (trace_check_file(c->memory, (size_t)got, &first_chunk) != TRACE_OK ||
        first_chunk > (size_t)got)
        return 0;
    c->has_header = true;
    c->offset = first_chunk;
    return 0;
}

/* Only the contents of these chunks are read.  All chunks were verified before they were written,
 * but a loss of power may have damaged the last one. */
static bool is_read(const struct hr_chunk_header *header, uint64_t end, uint64_t file_bytes)
{
    return header->type == HR_CHUNK_META || header->type == HR_CHUNK_END || end == file_bytes;
}

/* Takes the chunk at c->offset.  Returns 1 if it is complete and valid, 0 if not, or -errno. */
static int take_chunk(struct collector *c, uint64_t file_bytes)
{
    struct hr_chunk_header header;
    ssize_t got = transfer_read_at(c->fd, c->memory, sizeof header, c->offset);
    uint64_t end;

    if (got < 0)
        return (int)got;
    if (trace_check_header(c->memory, (size_t)got, &header) != TRACE_OK)
        return 0;
    end = c->offset + sizeof header + header.payload_bytes;
    if (end > file_bytes)
        return 0;
    if (is_read(&header, end, file_bytes)) {
        got = transfer_read_at(c->fd, c->memory, header.payload_bytes, c->offset + sizeof header);
        if (got < 0)
            return (int)got;
        if ((size_t)got < header.payload_bytes ||
            trace_check_payload(&header, c->memory) != TRACE_OK)
            return 0;
    }
    if (collect_note_chunk(c, &header, c->memory, c->offset) != NULL)
        return 0; /* mainly the collector's own chunks */
    c->offset = end;
    return 1;
}

/* A command that looks whether the trace is written has a shared lock for a moment. */
static bool is_taken(int fd)
{
    const struct timespec moment = {.tv_nsec = 10000000};

    for (unsigned int left = 5; flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;) {
        if (--left == 0)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

static int read_trace(struct collector *c)
{
    struct stat status;
    int result;

    if (is_taken(c->fd))
        return -EWOULDBLOCK;
    if (fstat(c->fd, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    result = read_file_header(c);
    if (c->has_header)
        do
            result = take_chunk(c, (uint64_t)status.st_size);
        while (result == 1);
    if (result < 0)
        return result;
    if ((uint64_t)status.st_size > c->offset && ftruncate(c->fd, (off_t)c->offset) != 0)
        return -errno;
    return lseek(c->fd, (off_t)c->offset, SEEK_SET) < 0 ? -errno : 0;
}

int collect_resume(struct collector *c, const char *path, size_t index_max,
                   atomic_size_t *index_shared)
{
    int result = collect_init(c, index_max);

    c->index_shared = index_shared;
    if (result == 0) {
        c->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0666);
        result = c->fd >= 0 ? read_trace(c) : -errno;
    }
    if (result == 0)
        return 0;
    if (c->fd >= 0)
        close(c->fd);
    collect_free_index(c);
    free(c->memory);
    return result;
}
