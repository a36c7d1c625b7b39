/* Moves bytes between files, through a kernel buffer. */
#include "guest/file/transfer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/context.h"
#include "guest/file/file_device.h"
#include "guest/file/input.h"
#include "guest/file/pipe.h"
#include "guest/fs/fs_kept.h"
#include "guest/memory/phys.h"
#include "guest/service/service.h"

#define BUFFER_ORDER 4u
#define BUFFER_BYTES ((uint64_t)PAGE_BYTES << BUFFER_ORDER)

static bool is_stream(const struct file *file)
{
    return file->type == &file_input || file->type == &file_output || file->type == &file_terminal;
}

bool transfer_can_read(const struct file *file)
{
    return file->type == &file_regular || file->type == &pipe_file_reader ||
           file->type == &pipe_file_both || file->type == &file_input ||
           file->type == &file_terminal || file->type->take != NULL;
}

bool transfer_can_write(const struct file *file)
{
    return file->type == &file_regular || file->type == &pipe_file_writer ||
           file->type == &pipe_file_both || file->type == &file_output ||
           file->type == &file_terminal || file->type == &file_device_null ||
           file->type == &file_device_zero || file->type->put != NULL;
}

/* Copies the contents of a pipe, which stay there until pipe_buffer_drop. */
static int64_t look_into_pipe(const struct pipe *pipe, uint8_t *to, uint64_t bytes)
{
    uint64_t done = 0;

    while (done < bytes && done < pipe->buffer.used) {
        const uint8_t *at;
        uint64_t part = pipe_buffer_filled(&pipe->buffer, (uint32_t)done, &at);

        if (part > bytes - done)
            part = bytes - done;
        memcpy(to + done, at, part);
        done += part;
    }
    return (int64_t)done;
}

static int64_t transfer_take(struct thread *thread, struct transfer_end *from, uint8_t *to,
                             uint64_t bytes)
{
    struct pipe *pipe = pipe_of(from->file);
    int64_t result;

    if (pipe != NULL)
        return look_into_pipe(pipe, to, bytes);
    if (from->file->type->take != NULL)
        return from->file->type->take(thread, from->file, to, bytes, from->blocks);
    if (is_stream(from->file)) {
        result =
            input_read(thread, bytes < SERVICE_BYTES_MAX ? bytes : SERVICE_BYTES_MAX, from->blocks);
        if (result > 0)
            memcpy(to, service_buffer(), (size_t)result);
        return result;
    }
    return inode_read(from->file->inode, from->offset, to, bytes);
}

/* Removes from the source what has reached the destination. */
static void transfer_took(struct transfer_end *from, uint64_t bytes)
{
    struct pipe *pipe = pipe_of(from->file);

    if (pipe != NULL) {
        uint32_t room = pipe_buffer_room(&pipe->buffer);
        pipe_buffer_drop(&pipe->buffer, (uint32_t)bytes);
        pipe_was_read(pipe, room);
    }
    from->offset += bytes;
}

static int64_t put_into_pipe(struct thread *thread, struct pipe *pipe, const uint8_t *from,
                             uint64_t bytes, bool blocks)
{
    int64_t status = pipe_wait_room(thread, pipe, 1, blocks);
    uint64_t done = 0;

    if (status < 0)
        return status;
    while (done < bytes) {
        uint8_t *at;
        uint64_t part = pipe_buffer_free(&pipe->buffer, &at);

        if (!part)
            break;
        if (part > bytes - done)
            part = bytes - done;
        memcpy(at, from + done, part);
        pipe_buffer_add(&pipe->buffer, (uint32_t)part);
        done += part;
    }
    pipe_was_written(pipe);
    return (int64_t)done;
}

static int64_t transfer_put(struct thread *thread, struct transfer_end *to, const uint8_t *from,
                            uint64_t bytes)
{
    struct file *file = to->file;
    struct pipe *pipe = pipe_of(file);
    int64_t result;

    if (pipe != NULL)
        return put_into_pipe(thread, pipe, from, bytes, to->blocks);
    if (file->type->put != NULL)
        return file->type->put(thread, file, from, bytes, to->blocks);
    if (S_ISCHR(file->type->mode) && !is_stream(file))
        return (int64_t)bytes; /* /dev/null */
    if (is_stream(file)) {
        memcpy(service_buffer(), from, bytes);
        result = file_stream_write(thread, file, bytes);
        return result ? result : (int64_t)bytes;
    }
    result = file_size_limit(thread, to->offset, &bytes);
    if (result < 0)
        return result;
    if (inode_sealed(file->inode, to->offset, bytes))
        return -EPERM;
    result = inode_write(file->inode, to->offset, from, bytes);
    if (result > 0)
        to->offset += (uint64_t)result;
    return result == -ENOMEM ? -ENOSPC : result;
}

/* Waits until a pipe on either side is ready; if both are pipes, until both are at once. */
static int64_t wait_pipes(struct thread *thread, const struct transfer_end *from,
                          const struct transfer_end *to)
{
    struct pipe *source = pipe_of(from->file), *sink = pipe_of(to->file);
    int64_t result = 1;

    do {
        if (sink != NULL)
            result = pipe_wait_room(thread, sink, 1, to->blocks);
        if (result > 0 && source != NULL)
            result = pipe_wait_filled(thread, source, from->blocks);
    } while (result > 0 && sink != NULL && !pipe_buffer_room(&sink->buffer));
    return result;
}

/* Writes all of it; with `insists` it waits for room even if the destination does not block,
 * because bytes from stdin cannot be put back. */
static int64_t put_all(struct thread *thread, struct transfer_end *to, const uint8_t *from,
                       uint64_t bytes, bool insists)
{
    bool blocks = to->blocks;
    uint64_t done = 0;
    int64_t part = 0;

    to->blocks = blocks || insists;
    while (done < bytes && (part = transfer_put(thread, to, from + done, bytes - done)) > 0)
        done += (uint64_t)part;
    to->blocks = blocks;
    return done ? (int64_t)done : part;
}

/* Returns true if what was taken from a file could stay there. */
static bool can_put_back(const struct file *file)
{
    return !is_stream(file) && file->type->take == NULL;
}

/* Returns true if the source must lose the bytes before they are written: the write waits, and
 * others may then read the source. */
static bool must_take_first(const struct transfer_end *from, const struct transfer_end *to)
{
    bool to_socket = to->file->type->put != NULL && to->blocks;

    return is_stream(to->file) || (to_socket && pipe_of(from->file) != NULL);
}

static int64_t transfer_move(struct thread *thread, struct transfer_end *from,
                             struct transfer_end *to, uint8_t *buffer, uint64_t bytes)
{
    const struct pipe *sink = pipe_of(to->file);
    bool takes_first = must_take_first(from, to);
    int64_t result = wait_pipes(thread, from, to), done;

    if (result <= 0)
        return result;
    if (sink != NULL && bytes > pipe_buffer_room(&sink->buffer))
        bytes = pipe_buffer_room(&sink->buffer);
    result = transfer_take(thread, from, buffer, bytes < BUFFER_BYTES ? bytes : BUFFER_BYTES);
    if (result <= 0)
        return result;
    if (takes_first)
        transfer_took(from, (uint64_t)result);
    done = put_all(thread, to, buffer, (uint64_t)result, !can_put_back(from->file));
    if (!takes_first && done > 0)
        transfer_took(from, (uint64_t)done);
    if (to->file->type == &file_regular && done > 0)
        fs_kept_written(to->file->inode);
    return done;
}

int64_t transfer(struct thread *thread, struct transfer_end *from, struct transfer_end *to,
                 uint64_t bytes, bool at_once)
{
    uint64_t block = phys_alloc(BUFFER_ORDER), done = 0;
    int64_t result = 0;

    context_assert_thread();
    if (!block)
        return -ENOMEM;
    while (done < bytes) {
        result = transfer_move(thread, from, to, phys_pointer(block), bytes - done);
        if (result <= 0)
            break;
        done += (uint64_t)result;
        if (at_once) { /* afterwards, only what moves without waiting */
            from->blocks = to->blocks = false;
            if (!can_put_back(from->file))
                break;
        }
    }
    phys_free(block, BUFFER_ORDER);
    return done ? (int64_t)done : result;
}
