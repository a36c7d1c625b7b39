/* Pipes.  Context: thread, with the kernel lock held. */
#pragma once

#include "guest/file/files.h"
#include "guest/file/pipe_buffer.h"

#define PIPE_ATOMIC_BYTES 4096u /* PIPE_BUF: a write of up to so many bytes is not split */

enum pipe_end { PIPE_READER, PIPE_WRITER };

struct pipe {
    struct pipe_buffer buffer;
    unsigned order; /* of the buffer's memory */
    struct file *files; /* open files, by next_of_pipe; the last one to close frees the pipe */
    struct inode *fifo; /* the FIFO's inode; NULL: the pipe has no name */
    uint32_t ends[2]; /* number of files that read, that write; 0: closed */
    uint64_t opened[2]; /* how often each end was opened */
    uint32_t waiting[2]; /* threads that wait to read, to write */
};

extern const struct file_type pipe_file_reader, pipe_file_writer;
extern const struct file_type pipe_file_both; /* a FIFO, opened with O_RDWR */

/* Returns the pipe of a file, or NULL. */
struct pipe *pipe_of(const struct file *file);

/* pipe_new makes a pipe without files; NULL: no memory.  pipe_attach makes `file` one of its files,
 * of a type that reads, writes or does both. */
struct pipe *pipe_new(void);
void pipe_attach(struct pipe *pipe, struct file *file, const struct file_type *type);

/* Waits until there is something to read.  Returns 1, 0 at the end, -EAGAIN or -EINTR.  The caller
 * holds the reader's file. */
int64_t pipe_wait_filled(struct thread *thread, struct pipe *pipe, bool blocks);

/* Waits until there is room for `bytes` bytes.  Returns 1, -EPIPE after SIGPIPE, -EAGAIN or -EINTR.
 */
int64_t pipe_wait_room(struct thread *thread, struct pipe *pipe, uint32_t bytes, bool blocks);

/* Call after the contents changed: wake those that wait. */
void pipe_was_read(struct pipe *pipe, uint32_t room_before);
void pipe_was_written(struct pipe *pipe);

int64_t pipe_resize(struct pipe *pipe, uint64_t bytes); /* F_SETPIPE_SZ: the size or -errno */
