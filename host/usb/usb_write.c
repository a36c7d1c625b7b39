/* Writes an image to a device and reads it back. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/base/progress_bar.h"
#include "host/base/transfer.h"
#include "host/usb/usb_write.h"

#define PIECE_BYTES (1u << 20)
#define TAIL_BYTES (1u << 20) /* the second partition table is in it */

struct copy {
    int from, to;
    const char *path;
    uint8_t *piece;
    uint8_t *other;
    struct progress_bar bar;
    struct run_failure *failure;
};

/* Returns where the data before `limit` end; file systems without holes return `limit`. */
static uint64_t data_end(int fd, uint64_t limit)
{
    uint64_t end = 0;
    off_t data = 0;

    while ((data = lseek(fd, data, SEEK_DATA)) >= 0 && (uint64_t)data < limit) {
        off_t hole = lseek(fd, data, SEEK_HOLE);

        if (hole < 0 || (uint64_t)hole > limit)
            return limit;
        end = (uint64_t)hole;
        data = hole;
    }
    end = (end + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
    return end < limit ? end : limit;
}

static int fail(struct copy *c, const char *what, int error)
{
    progress_bar_end(&c->bar);
    return run_fail(c->failure, "%s: cannot be %s: %s", c->path, what,
                    error != 0 ? strerror(error) : "it ends too early");
}

static int read_at(int fd, uint8_t *piece, size_t count, uint64_t offset)
{
    ssize_t got = transfer_read_at(fd, piece, count, offset);

    return got < 0 ? (int)-got : (size_t)got == count ? 0 : EIO;
}

static int write_range(struct copy *c, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to; at += PIECE_BYTES) {
        size_t count = to - at < PIECE_BYTES ? (size_t)(to - at) : PIECE_BYTES;
        int error = read_at(c->from, c->piece, count, at);

        if (error == 0)
            error = -transfer_write_at(c->to, c->piece, count, at);
        if (error != 0)
            return fail(c, "written", error);
        /* Limits the unwritten data in memory, so that the bar is accurate. */
        (void)sync_file_range(c->to, (off_t)at, (off_t)count, SYNC_FILE_RANGE_WRITE);
        if (at >= from + 8ull * PIECE_BYTES)
            (void)sync_file_range(c->to, (off_t)(at - 8ull * PIECE_BYTES), PIECE_BYTES,
                                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                      SYNC_FILE_RANGE_WAIT_AFTER);
        progress_bar_add(&c->bar, count);
    }
    return 0;
}

static int compare_range(struct copy *c, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to; at += PIECE_BYTES) {
        size_t count = to - at < PIECE_BYTES ? (size_t)(to - at) : PIECE_BYTES;
        int error = read_at(c->from, c->piece, count, at);

        if (error == 0)
            error = read_at(c->to, c->other, count, at);
        if (error != 0)
            return fail(c, "read back", error);
        if (memcmp(c->piece, c->other, count) != 0) {
            progress_bar_end(&c->bar);
            return run_fail(c->failure,
                            "%s: what was written at %lu MB is not what is read there: the stick "
                            "is broken, or smaller than it says; use another one",
                            c->path, at >> 20);
        }
        progress_bar_add(&c->bar, count);
    }
    return 0;
}

/* Flushes everything to the device, and drops it from memory as far as Linux allows. */
static int settle(struct copy *c)
{
    if (fsync(c->to) != 0)
        return fail(c, "written", errno);
    (void)ioctl(c->to, BLKFLSBUF, 0);
    (void)posix_fadvise(c->to, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

static int copy(struct copy *c, uint64_t bytes, uint64_t *written)
{
    uint64_t tail = bytes - TAIL_BYTES;
    uint64_t end = data_end(c->from, tail);

    *written = end + TAIL_BYTES;
    progress_bar_begin(&c->bar, 2 * *written);
    if (write_range(c, 0, end) != 0 || write_range(c, tail, bytes) != 0 || settle(c) != 0 ||
        compare_range(c, 0, end) != 0 || compare_range(c, tail, bytes) != 0)
        return -1;
    progress_bar_end(&c->bar);
    (void)ioctl(c->to, BLKRRPART, 0); /* optional: Linux rereads when it is plugged in */
    return 0;
}

int usb_write(int from, int to, uint64_t bytes, const char *path, bool progress, uint64_t *written,
              struct run_failure *failure)
{
    struct copy c = {.from = from, .to = to, .path = path, .failure = failure};
    int result;

    c.piece = malloc(PIECE_BYTES);
    c.other = malloc(PIECE_BYTES);
    progress_bar_init(&c.bar, progress);
    if (c.piece == NULL || c.other == NULL)
        result = run_fail(failure, "out of memory; end other programs");
    else
        result = copy(&c, bytes, written);
    free(c.piece);
    free(c.other);
    return result;
}
