/* Writes entries in cpio's newc format. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "host/base/transfer.h"
#include "host/pack/archive/pack_archive.h"
#include "host/pack/archive/pack_writer.h"
#include "lib/program/cpio.h"

#define BUFFER_BYTES (1u << 20)
#define HEADER_ROOM (PATH_MAX + PACK_ARCHIVE_ALIGNMENT + 128)
#define COPY_BYTES (64u << 20) /* one sendfile at most */

int pack_writer_init(struct pack_writer *w, int fd, struct run_failure *failure)
{
    *w = (struct pack_writer){.fd = fd, .next_inode = 1, .failure = failure};
    w->buffer = malloc(BUFFER_BYTES);
    return w->buffer != NULL ? 0 : run_fail(failure, "out of memory; end other programs");
}

void pack_writer_free(struct pack_writer *w)
{
    free(w->buffer);
    w->buffer = NULL;
}

int pack_writer_flush(struct pack_writer *w)
{
    int error = transfer_write(w->fd, w->buffer, w->buffered, NULL);

    if (error != 0)
        return run_fail(w->failure, "cannot write the archive: %s", strerror(-error));
    w->buffered = 0;
    return 0;
}

/* Reserves `count` bytes, at most BUFFER_BYTES, at the buffer's end; returns NULL on failure. */
static uint8_t *reserve(struct pack_writer *w, size_t count)
{
    if (count > BUFFER_BYTES - w->buffered && pack_writer_flush(w) != 0)
        return NULL;
    return w->buffer + w->buffered;
}

static void commit(struct pack_writer *w, size_t count)
{
    w->buffered += count;
    w->offset += count;
}

static int put_padding(struct pack_writer *w)
{
    size_t count = cpio_padding(w->offset);
    uint8_t *to = reserve(w, count);

    if (to == NULL)
        return -1;
    memset(to, 0, count);
    commit(w, count);
    return 0;
}

static int put_header(struct pack_writer *w, const char *name, uint64_t bytes, mode_t mode,
                      time_t mtime, size_t alignment)
{
    size_t name_bytes = strlen(name);
    const struct cpio_entry entry = {
        .name = name,
        .name_bytes = name_bytes,
        .name_padding = alignment != 0 ? cpio_name_padding(w->offset, name_bytes, alignment) : 0,
        .bytes = bytes,
        .mode = mode,
        .ino = w->next_inode++,
        .nlink = S_ISDIR(mode) ? 2 : 1,
        .mtime = (uint32_t)mtime,
    };
    uint8_t *to = reserve(w, HEADER_ROOM);
    size_t length;

    if (to == NULL)
        return -1;
    length = cpio_write_header(to, HEADER_ROOM, &entry);
    if (length == 0)
        return run_fail(w->failure, "%s: too large for the archive (a file has at most 4 GB)",
                        name);
    commit(w, length);
    return 0;
}

static int put_raw(struct pack_writer *w, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        size_t now = count < BUFFER_BYTES ? count : BUFFER_BYTES;
        uint8_t *to = reserve(w, now);

        if (to == NULL)
            return -1;
        memcpy(to, from, now);
        commit(w, now);
        from += now;
        count -= now;
    }
    return 0;
}

static int put_bytes(struct pack_writer *w, const void *bytes, size_t count)
{
    return put_raw(w, bytes, count) != 0 ? -1 : put_padding(w);
}

int pack_writer_add_bytes(struct pack_writer *w, const char *name, const void *bytes, size_t count)
{
    return put_header(w, name, count, S_IFREG | 0644, 0, 0) != 0 ? -1 : put_bytes(w, bytes, count);
}

int pack_writer_add_filled(struct pack_writer *w, const char *name, const void *bytes, size_t count,
                           size_t step)
{
    uint64_t start = w->offset;
    size_t head = (CPIO_HEADER_BYTES + strlen(name) + 1 + 3) / 4 * 4;
    size_t whole = (head + count + step - 1) / step * step;

    if (put_header(w, name, whole - head, S_IFREG | 0644, 0, 0) != 0 ||
        put_raw(w, bytes, count) != 0)
        return -1;
    while (w->offset - start < whole) {
        static const uint8_t zeros[4096];
        uint64_t left = whole - (w->offset - start);

        if (put_raw(w, zeros, left < sizeof zeros ? left : sizeof zeros) != 0)
            return -1;
    }
    return 0;
}

int pack_writer_align(struct pack_writer *w, const char *name)
{
    return put_header(w, name, 0, S_IFDIR | 0755, 0, PACK_ARCHIVE_ALIGNMENT);
}

static int shrank(struct pack_writer *w, const struct pack_entry *entry, ssize_t result)
{
    return run_fail(w->failure, "cannot copy %s into the archive: %s", entry->source,
                    result < 0 ? strerror(errno) : "it shrank while it was copied");
}

static int copy_small(struct pack_writer *w, const struct pack_entry *entry, int from)
{
    size_t bytes = (size_t)entry->status.st_size;
    uint8_t *to = reserve(w, bytes);
    ssize_t count;

    if (to == NULL)
        return -1;
    count = transfer_read(from, to, bytes);
    if (count < 0 || (size_t)count < bytes)
        return shrank(w, entry, count);
    commit(w, bytes);
    return 0;
}

static int copy_large(struct pack_writer *w, const struct pack_entry *entry, int from)
{
    size_t left = (size_t)entry->status.st_size;
    off_t offset = 0;

    if (pack_writer_flush(w) != 0)
        return -1;
    while (left > 0) {
        ssize_t copied = sendfile(w->fd, from, &offset, left < COPY_BYTES ? left : COPY_BYTES);

        if (copied < 0 && errno == EINTR)
            continue;
        if (copied <= 0)
            return shrank(w, entry, copied);
        left -= (size_t)copied;
        w->offset += (uint64_t)copied;
    }
    return 0;
}

static int add_file(struct pack_writer *w, const struct pack_entry *entry)
{
    const struct stat *status = &entry->status;
    size_t before = entry->before != NULL ? strlen(entry->before) : 0;
    bool aligned = status->st_size >= PACK_ARCHIVE_ALIGNMENT;
    int from = open(entry->source, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int result;

    if (from < 0)
        return run_fail(w->failure, "%s: %s", entry->source, strerror(errno));
    result = put_header(w, entry->name, (uint64_t)status->st_size + before, status->st_mode,
                        status->st_mtime, aligned ? PACK_ARCHIVE_ALIGNMENT : 0);
    if (result == 0 && before != 0)
        result = put_raw(w, entry->before, before);
    if (result == 0)
        result = status->st_size < BUFFER_BYTES / 2 ? copy_small(w, entry, from)
                                                    : copy_large(w, entry, from);
    close(from);
    return result == 0 ? put_padding(w) : -1;
}

int pack_writer_add_entry(struct pack_writer *w, const struct pack_entry *entry)
{
    mode_t mode = entry->status.st_mode;
    size_t bytes = S_ISLNK(mode) ? strlen(entry->target) : 0;

    if (S_ISREG(mode))
        return add_file(w, entry);
    if (put_header(w, entry->name, bytes, mode, S_ISDIR(mode) ? entry->status.st_mtime : 0, 0) != 0)
        return -1;
    return S_ISLNK(mode) ? put_bytes(w, entry->target, bytes) : 0;
}

int pack_writer_end(struct pack_writer *w)
{
    uint8_t *to = reserve(w, HEADER_ROOM);

    if (to == NULL)
        return -1;
    commit(w, cpio_write_trailer(to, HEADER_ROOM));
    return pack_writer_flush(w);
}
