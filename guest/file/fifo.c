/* FIFOs: opening a pipe by its name. */
#include <errno.h>
#include <linux/fcntl.h>
#include <sys/stat.h>

#include "guest/file/pipe.h"
#include "guest/thread/wait.h"

/* Waits until the other end has been opened, even if it is closed again. */
static int wait_for_other(struct thread *thread, struct pipe *pipe, enum pipe_end other)
{
    uint64_t before = pipe->opened[other];

    while (pipe->opened[other] == before)
        if (wait_on(thread, WAIT_KEY(&pipe->opened[other]), WAIT_FOREVER,
                    "the opening of a FIFO") == WAIT_SIGNAL &&
            pipe->opened[other] == before)
            return -EINTR;
    return 0;
}

static void tell_other(struct pipe *pipe, enum pipe_end own)
{
    wait_wake_key(WAIT_KEY(&pipe->opened[own]), UINT32_MAX);
}

static struct pipe *pipe_of_fifo(struct inode *inode)
{
    if (inode->pipe == NULL) {
        inode->pipe = pipe_new();
        if (inode->pipe != NULL)
            inode->pipe->fifo = inode;
    }
    return inode->pipe;
}

static int open_reader(struct thread *thread, struct pipe *pipe, struct file *file)
{
    pipe_attach(pipe, file, &pipe_file_reader);
    tell_other(pipe, PIPE_READER);
    if (pipe->ends[PIPE_WRITER])
        return 0;
    if (!(file->flags & O_NONBLOCK))
        return wait_for_other(thread, pipe, PIPE_WRITER);
    file->writers_seen = pipe->opened[PIPE_WRITER];
    return 0;
}

static int open_writer(struct thread *thread, struct pipe *pipe, struct file *file)
{
    pipe_attach(pipe, file, &pipe_file_writer);
    tell_other(pipe, PIPE_WRITER);
    return pipe->ends[PIPE_READER] ? 0 : wait_for_other(thread, pipe, PIPE_READER);
}

static int open_fifo(struct thread *thread, struct file *file)
{
    uint32_t access = file->flags & O_ACCMODE;
    struct inode *inode = file->inode;
    struct pipe *pipe;

    if (access == O_ACCMODE)
        return -EINVAL;
    if (access == O_WRONLY && file->flags & O_NONBLOCK &&
        !(inode->pipe != NULL && inode->pipe->ends[PIPE_READER]))
        return -ENXIO;
    pipe = pipe_of_fifo(inode);
    if (pipe == NULL)
        return -ENOMEM;
    if (access == O_RDONLY)
        return open_reader(thread, pipe, file);
    if (access == O_WRONLY)
        return open_writer(thread, pipe, file);
    pipe_attach(pipe, file, &pipe_file_both);
    tell_other(pipe, PIPE_READER);
    tell_other(pipe, PIPE_WRITER);
    return 0;
}

const struct file_type file_fifo = {.mode = S_IFIFO | 0600, .open = open_fifo};
