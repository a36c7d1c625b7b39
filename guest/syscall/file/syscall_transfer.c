/* System calls that move bytes between files: sendfile, splice and their like. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/file/pipe.h"
#include "guest/file/transfer.h"
#include "guest/vm/uaccess.h"

#define SPLICE_NONBLOCK 2u /* SPLICE_F_* of <fcntl.h> */
#define SPLICE_FLAGS 15u

/* Gets the file of a descriptor that can be read, or written.  Returns 0, -EBADF or -EINVAL. */
static int64_t open_end(const struct thread *thread, uint64_t fd, bool writes,
                        struct transfer_end *end)
{
    struct file *file = files_get(thread->process, (int32_t)fd);
    uint32_t unwanted = writes ? O_RDONLY : O_WRONLY;

    if (file == NULL || (file->flags & O_PATH) || (file->flags & O_ACCMODE) == unwanted)
        return -EBADF;
    *end = (struct transfer_end){
        .file = file, .offset = file->offset, .blocks = !(file->flags & O_NONBLOCK)};
    return 0;
}

/* Gets both ends of a transfer, of which only one is written. */
static int64_t open_ends(const struct thread *thread, uint64_t from_fd, uint64_t to_fd,
                         struct transfer_end *from, struct transfer_end *to)
{
    int64_t error = open_end(thread, from_fd, false, from);

    return error ? error : open_end(thread, to_fd, true, to);
}

/* Takes the offset from the program's memory, if there is one. */
static int64_t read_offset(struct transfer_end *end, uint64_t user)
{
    int64_t offset;

    if (!user)
        return 0;
    if (!end->file->type->seekable)
        return -ESPIPE;
    if (copy_from_user(&offset, user, sizeof offset) != 0)
        return -EFAULT;
    if (offset < 0)
        return -EINVAL;
    end->offset = (uint64_t)offset;
    return 0;
}

/* Writes the offset back to the program's memory. */
static int64_t write_offset(const struct transfer_end *end, uint64_t user)
{
    if (user)
        return copy_to_user(user, &end->offset, sizeof end->offset);
    if (end->file->type->seekable)
        end->file->offset = end->offset;
    return 0;
}

static int64_t transfer_between(struct thread *thread, struct transfer_end *from,
                                uint64_t from_user, struct transfer_end *to, uint64_t to_user,
                                uint64_t bytes, bool at_once)
{
    int64_t result = read_offset(from, from_user), error;

    if (!result)
        result = read_offset(to, to_user);
    if (result)
        return result;
    if (bytes > SYSCALL_IO_MAX)
        bytes = SYSCALL_IO_MAX;
    files_hold(from->file);
    files_hold(to->file);
    result = bytes ? transfer(thread, from, to, bytes, at_once) : 0;
    error = write_offset(from, from_user);
    if (!error)
        error = write_offset(to, to_user);
    files_release(from->file);
    files_release(to->file);
    return error ? error : result;
}

static bool holds_contents(const struct file *file)
{
    return file->type == &file_regular;
}

int64_t syscall_sendfile(struct thread *thread, struct trap_frame *frame)
{
    struct transfer_end from, to;
    int64_t error = open_ends(thread, frame->rsi, frame->rdi, &from, &to);

    if (error)
        return error;
    if (!holds_contents(from.file))
        return frame->rdx && !from.file->type->seekable ? -ESPIPE : -EINVAL;
    if (!transfer_can_write(to.file) || to.file->flags & O_APPEND)
        return -EINVAL;
    return transfer_between(thread, &from, frame->rdx, &to, 0, frame->r10, false);
}

int64_t syscall_copy_file_range(struct thread *thread, struct trap_frame *frame)
{
    struct transfer_end from, to;
    int64_t error = open_ends(thread, frame->rdi, frame->rdx, &from, &to);

    if (error)
        return error;
    if (frame->r9)
        return -EINVAL;
    if (from.file->type == &file_directory || to.file->type == &file_directory)
        return -EISDIR;
    if (!holds_contents(from.file) || !holds_contents(to.file))
        return -EINVAL;
    if (to.file->flags & O_APPEND)
        return -EBADF;
    if (from.file->inode == to.file->inode) {
        uint64_t bytes = frame->r8 > SYSCALL_IO_MAX ? SYSCALL_IO_MAX : frame->r8;

        error = read_offset(&from, frame->rsi);
        if (!error)
            error = read_offset(&to, frame->r10);
        if (error)
            return error;
        if (from.offset < to.offset + bytes && to.offset < from.offset + bytes)
            return -EINVAL;
    }
    return transfer_between(thread, &from, frame->rsi, &to, frame->r10, frame->r8, false);
}

int64_t syscall_splice(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->r9;
    struct transfer_end from, to;
    int64_t error;

    if (!frame->r8)
        return 0;
    if (flags & ~SPLICE_FLAGS)
        return -EINVAL;
    error = open_ends(thread, frame->rdi, frame->rdx, &from, &to);
    if (error)
        return error;
    if ((frame->rsi && pipe_of(from.file) != NULL) || (frame->r10 && pipe_of(to.file) != NULL))
        return -ESPIPE;
    if ((pipe_of(from.file) == NULL && pipe_of(to.file) == NULL) ||
        pipe_of(from.file) == pipe_of(to.file) || !transfer_can_read(from.file) ||
        !transfer_can_write(to.file) || (to.file->flags & O_APPEND))
        return -EINVAL;
    if (flags & SPLICE_NONBLOCK) {
        from.blocks = from.blocks && pipe_of(from.file) == NULL;
        to.blocks = to.blocks && pipe_of(to.file) == NULL;
    }
    return transfer_between(thread, &from, frame->rsi, &to, frame->r10, frame->r8, true);
}

/* Copies the contents of one pipe into another. */
static int64_t copy_pipe(struct pipe *from, struct pipe *to, uint64_t bytes)
{
    uint32_t done = 0;

    while (done < bytes && done < from->buffer.used) {
        const uint8_t *at;
        uint8_t *free;
        uint32_t part = pipe_buffer_filled(&from->buffer, done, &at);
        uint32_t room = pipe_buffer_free(&to->buffer, &free);

        if (!room)
            break;
        part = part < room ? part : room;
        part = part < bytes - done ? part : (uint32_t)(bytes - done);
        memcpy(free, at, part);
        pipe_buffer_add(&to->buffer, part);
        done += part;
    }
    if (done)
        pipe_was_written(to);
    return done;
}

int64_t syscall_tee(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->r10;
    struct transfer_end from, to;
    int64_t result;
    struct pipe *source, *sink;

    if (flags & ~SPLICE_FLAGS)
        return -EINVAL;
    if (!frame->rdx)
        return 0;
    result = open_ends(thread, frame->rdi, frame->rsi, &from, &to);
    if (result)
        return result;
    source = pipe_of(from.file);
    sink = pipe_of(to.file);
    if (source == NULL || sink == NULL || source == sink)
        return -EINVAL;
    files_hold(from.file);
    files_hold(to.file);
    do {
        result = pipe_wait_filled(thread, source, from.blocks && !(flags & SPLICE_NONBLOCK));
        if (result > 0)
            result = pipe_wait_room(thread, sink, 1, to.blocks && !(flags & SPLICE_NONBLOCK));
    } while (result > 0 && !source->buffer.used); /* emptied during the wait for room */
    if (result > 0)
        result = copy_pipe(source, sink, frame->rdx);
    files_release(from.file);
    files_release(to.file);
    return result;
}

/* Copies memory to or from a pipe: there are no pages to give away. */
int64_t syscall_vmsplice(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    if ((uint32_t)frame->r10 & ~SPLICE_FLAGS)
        return -EINVAL;
    if (file == NULL || pipe_of(file) == NULL)
        return -EBADF;
    return file->type == &pipe_file_reader ? syscall_readv(thread, frame)
                                           : syscall_writev(thread, frame);
}
