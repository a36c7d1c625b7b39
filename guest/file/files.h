/* The program's open files: descriptors, what they refer to, and how paths are opened.
 * Thread context.  Results are 0 or positive, or -errno.
 */
#ifndef GUEST_FILE_FILES_H
#define GUEST_FILE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/limits.h"
#include "guest/thread/thread.h"
#include "guest/vm/inode.h"

#define FILES_MAX LIMITS_FILES

struct file;
struct fs_entry;

/* What a kind of file can do.  `file` is held by the caller meanwhile; a call may wait. */
struct file_type {
    uint32_t mode; /* st_mode when there is no inode */
    uint32_t device; /* st_rdev as major << 8 | minor */
    const char *name; /* what /proc/self/fd says when there is no path; NULL: by the mode */
    bool seekable;
    bool ignores_seeks; /* not seekable, but lseek gives 0 */
    /* A new file, with its inode: 0, -errno; NULL: nothing is to be done. */
    int (*open)(struct thread *thread, struct file *file);
    /* At most `bytes` bytes from `offset` on to user memory; NULL: not readable. */
    int64_t (*read)(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                    uint64_t bytes);
    /* NULL: not writable. */
    int64_t (*write)(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                     uint64_t bytes);
    /* POLL* that hold now; NULL: it can always be read and written, as far as it can at all.
     * Whoever changes the answer calls poll_changed (guest/file/poll.h). */
    uint32_t (*poll)(struct thread *thread, struct file *file);
    int64_t (*ioctl)(struct thread *thread, struct file *file, uint32_t request, uint64_t argument);
    void (*release)(struct file *file); /* nobody uses it any more */
};

struct file {
    const struct file_type *type;
    uint32_t references; /* descriptors and users */
    uint32_t flags; /* O_* of open */
    uint64_t offset; /* of the next read; in a directory the iterator's position */
    struct inode *inode; /* held; NULL: none, as a pipe's */
    struct fs_entry *entry; /* held; the name that it was opened by; NULL: none */
    uint64_t bytes; /* file_generated: contents */
    uint64_t buffer; /* the same: physical */
    unsigned buffer_order;
    int stream; /* 0, 1, 2: the command's own; -1 */
    void *state; /* the type's own: a pipe, an event counter, ... */
    struct file *next_of_pipe; /* guest/file/pipe.h */
    struct file *socket; /* whose end of a pipe this is: guest/file/socket.c; NULL: none */
    uint64_t writers_seen; /* a FIFO opened before a writer: that it is alone is no end yet */
    struct poll_watch *watches; /* guest/file/poll.h */
};

/* Makes the table with descriptors 0, 1 and 2.  0, -ENOMEM. */
int files_open_streams(struct process *process);

struct file *files_get(const struct process *process, int64_t fd); /* NULL: EBADF */
int files_close(struct process *process, int64_t fd);

/* A new descriptor >= `lowest` for an open file: its number, -EMFILE, -EINVAL. */
int64_t files_add(struct process *process, struct file *file, int64_t lowest, bool close_on_exec);
/* dup2: makes `fd` refer to the file, closing what it referred to.  -EBADF when out of range. */
int64_t files_put(struct process *process, struct file *file, int64_t fd, bool close_on_exec);

void files_limit(struct process *process, uint64_t count); /* RLIMIT_NOFILE */
bool files_room(const struct process *process); /* whether there is a free descriptor */

bool files_close_on_exec(const struct process *process, int64_t fd);
void files_set_close_on_exec(struct process *process, int64_t fd, bool on);

/* A file object without descriptors, NULL when all are in use; given back when its last descriptor
 * closes, or by files_discard when it never had one. */
struct file *files_new(struct process *process, const struct file_type *type, uint32_t flags);
void files_discard(struct file *file);

/* A file that is used while its thread may wait: another one may close it meanwhile. */
void files_hold(struct file *file);
void files_release(struct file *file);

uint64_t files_size(const struct file *file); /* bytes of a regular file; 0 for others */

bool files_is_terminal(const struct process *process, const struct file *file);

extern const struct file_type file_regular; /* contents in memory */
extern const struct file_type file_generated; /* /proc and /sys */
extern const struct file_type file_directory;
extern const struct file_type file_path; /* O_PATH */
extern const struct file_type
    file_fifo; /* what becomes one of guest/file/pipe.h when it is opened */
extern const struct file_type file_input; /* the command's stdin */
extern const struct file_type file_output; /* its stdout or stderr, by file->stream */
extern const struct file_type file_terminal;

/* RLIMIT_FSIZE: shortens *bytes to what may be written at `offset`.  0; -EFBIG, with SIGXFSZ sent.
 */
int64_t file_size_limit(struct thread *thread, uint64_t offset, uint64_t *bytes);

/* Sends bytes of service_buffer() to stdout or stderr.  0; -EPIPE, with SIGPIPE sent; -errno. */
int64_t file_stream_write(struct thread *thread, const struct file *file, uint64_t bytes);

#endif
