/* Reads the contents of a file of the host, as long as it is the one that the guest was told of. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "host/serve/serve_task.h"
#include "lib/hash.h"

/* Opens what was found to be a regular file, and nothing that took its place since. */
static int open_contents(struct serve_task *task)
{
    char path[64];
    int place, error;

    if (task->fd >= 0)
        return 0;
    place = serve_open(task->root, task->path, &task->expected);
    if (place < 0)
        return place;
    snprintf(path, sizeof path, "/proc/self/fd/%d", place);
    task->fd = open(path, O_RDONLY | O_CLOEXEC);
    error = task->fd >= 0 ? 0 : -errno;
    close(place);
    return error;
}

/* Reads until `wanted` bytes are there, or the file ends. */
static int read_bytes(struct serve_task *task, uint64_t offset, size_t wanted)
{
    task->used = 0;
    while (task->used < wanted) {
        ssize_t count = task->pread(task->fd, task->bytes + task->used, wanted - task->used,
                                    (off_t)(offset + task->used));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (count == 0)
            break;
        task->used += (size_t)count;
    }
    return 0;
}

/* Afterwards, because it may have changed while it was read. */
static int check_same(const struct serve_task *task)
{
    struct serve_file now;
    int error = serve_stat(task->fd, &now);

    return error == 0 && !serve_nodes_is_same(&task->expected, &now) ? -ESTALE : error;
}

int serve_read(struct serve_task *task)
{
    uint64_t all = task->expected.bytes;
    uint64_t rest = task->offset < all ? all - task->offset : 0;
    size_t wanted = task->wanted < rest ? task->wanted : (size_t)rest;
    int error = open_contents(task);

    if (error == 0)
        error = read_bytes(task, task->offset, wanted);
    if (error == 0)
        error = check_same(task);
    return error == 0 && task->used < wanted ? -ESTALE : error;
}

int serve_hash(struct serve_task *task)
{
    int error = open_contents(task);

    task->hash = HASH_BYTES_START;
    for (uint64_t offset = 0; error == 0; offset += task->used) {
        if (atomic_load(&task->work.abandoned))
            return -ECANCELED;
        error = read_bytes(task, offset, sizeof task->bytes);
        if (error == 0 && task->used == 0)
            break;
        task->hash = hash_bytes(task->hash, task->bytes, task->used);
    }
    return error == 0 ? check_same(task) : error;
}
