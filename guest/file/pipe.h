/* Pipes.  Thread context, by the kernel lock's holder. */
#ifndef GUEST_FILE_PIPE_H
#define GUEST_FILE_PIPE_H

#include "guest/file/files.h"
#include "guest/file/pipe_buffer.h"

#define PIPE_ATOMIC_BYTES 4096u /* PIPE_BUF: a write of so many is whole */

enum pipe_end { PIPE_READER, PIPE_WRITER };

struct pipe {
    struct pipe_buffer buffer;
    unsigned order; /* of its memory */
    struct file *files; /* that are open, by next_of_pipe; the last one frees it */
    struct inode *fifo; /* whose pipe it is; NULL: it has no name */
    uint32_t ends[2]; /* files that read, that write; 0: closed */
    uint64_t opened[2]; /* how often each end was opened */
    uint32_t waiting[2]; /* threads that wait to read, to write */
};

extern const struct file_type file_pipe_reader, file_pipe_writer;
extern const struct file_type file_pipe_both; /* a FIFO, opened with O_RDWR */

/* The pipe of a file, or NULL. */
struct pipe *pipe_of(const struct file *file);

/* A pipe without files: NULL: no memory.  pipe_attach makes `file` one of its files, of a type that
 * reads, writes or does both. */
struct pipe *pipe_new(void);
void pipe_free(struct pipe *pipe); /* one without files */
void pipe_attach(struct pipe *pipe, struct file *file, const struct file_type *type);
void pipe_detach(struct file *file); /* frees the pipe when the file was the last one */

/* No file has this end any more, as if it were closed. */
void pipe_shut(struct pipe *pipe, enum pipe_end end);

/* What read and write do, of a pipe with a file that the caller holds. */
enum pipe_how { PIPE_BLOCKS = 1, PIPE_QUIET = 2 /* EPIPE without SIGPIPE */ };
int64_t pipe_read(struct thread *thread, struct pipe *pipe, uint64_t user, uint64_t bytes,
                  uint32_t how);
int64_t pipe_write(struct thread *thread, struct pipe *pipe, uint64_t user, uint64_t bytes,
                   uint32_t how);

/* Waits until there is something to read: 1; 0 at the end; -EAGAIN, -EINTR.  The reader's file is
 * held. */
int64_t pipe_wait_filled(struct thread *thread, struct pipe *pipe, bool blocks);

/* Waits until there is room for `bytes` bytes: 1; -EPIPE after SIGPIPE, -EAGAIN, -EINTR. */
int64_t pipe_wait_room(struct thread *thread, struct pipe *pipe, uint32_t bytes, bool blocks);

/* What is in it changed: tells those who wait. */
void pipe_was_read(struct pipe *pipe, uint32_t room_before);
void pipe_was_written(struct pipe *pipe);

int64_t pipe_resize(struct pipe *pipe, uint64_t bytes); /* F_SETPIPE_SZ: the size, or -errno */

#endif
