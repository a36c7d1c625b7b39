/* Repeats read and write calls until all is done. */
#include "host/base/transfer.h"

#include <errno.h>
#include <unistd.h>

#define HERE UINT64_MAX /* where the file's own offset is */

static ssize_t read_all(int fd, uint8_t *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;

    while (done < count) {
        ssize_t got = offset == HERE
                          ? read(fd, bytes + done, count - done)
                          : pread(fd, bytes + done, count - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static int write_all(int fd, const uint8_t *bytes, size_t count, uint64_t offset, size_t *written)
{
    size_t done = 0;
    int error = 0;

    while (done < count && error == 0) {
        ssize_t put = offset == HERE
                          ? write(fd, bytes + done, count - done)
                          : pwrite(fd, bytes + done, count - done, (off_t)(offset + done));

        if (put > 0)
            done += (size_t)put;
        else if (put == 0 || errno != EINTR)
            error = put == 0 ? -ENOSPC : -errno;
    }
    if (written != NULL)
        *written = done;
    return error;
}

ssize_t transfer_read(int fd, void *bytes, size_t count)
{
    return read_all(fd, bytes, count, HERE);
}

ssize_t transfer_read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
    return read_all(fd, bytes, count, offset);
}

int transfer_write(int fd, const void *bytes, size_t count, size_t *written)
{
    return write_all(fd, bytes, count, HERE, written);
}

int transfer_write_at(int fd, const void *bytes, size_t count, uint64_t offset)
{
    return write_all(fd, bytes, count, offset, NULL);
}
