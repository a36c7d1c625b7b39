/* Open files: descriptors, what they refer to, and how paths are opened.  Functions
 * return 0 or more, or -errno.  Context: thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/limits.h"
#include "guest/thread/thread.h"
#include "guest/vm/inode.h"

#define FILES_MAX LIMITS_FILES
#define FILES_NUMBERS \
    ((uint64_t)1 << 32) /* st_ino of a file without an inode: this and its number */

struct file;
struct fs_entry;

/* What a kind of file can do.  The caller holds `file` during a call, which may wait. */
struct file_type {
    uint32_t mode; /* st_mode when there is no inode */
    uint32_t device; /* st_rdev as major << 8 | minor */
    const char *name; /* what /proc/self/fd shows when there is no path; NULL: a name by the mode */
    bool seekable;
    bool ignores_seeks; /* not seekable, but lseek gives 0 */
    /* Prepares a new file, with its inode.  Returns 0 or -errno; NULL: nothing to do. */
    int (*open)(struct thread *thread, struct file *file);
    /* Reads at most `bytes` bytes from `offset` on to user memory; NULL: not readable. */
    int64_t (*read)(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                    uint64_t bytes);
    /* NULL: not writable. */
    int64_t (*write)(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                     uint64_t bytes);
    /* As read and write, with the kernel's memory, for sendfile and splice; NULL: they refuse, but
     * for the types that guest/file/transfer.c knows. */
    int64_t (*take)(struct thread *thread, struct file *file, void *to, uint64_t bytes,
                    bool blocks);
    int64_t (*put)(struct thread *thread, struct file *file, const void *from, uint64_t bytes,
                   bool blocks);
    /* Returns the POLL* that hold now; NULL: every read and write that the type has is always
     * ready.  Call poll_changed (guest/file/poll.h) when the answer changes. */
    uint32_t (*poll)(struct thread *thread, struct file *file);
    int64_t (*ioctl)(struct thread *thread, struct file *file, uint32_t request, uint64_t argument);
    void (*closed)(const struct process *process, struct file *file); /* a descriptor was closed */
    void (*release)(struct file *file); /* called when its last user has released it */
    /* Prepares the inode of a file that is made in a directory whose type this is.  In such a
     * directory there are no other files and no links. */
    int (*make)(struct inode *inode);
};

struct file {
    const struct file_type *type;
    uint32_t references; /* descriptors and users */
    uint32_t flags; /* O_* of open */
    bool counted; /* in inode->writers */
    uint64_t offset; /* of the next read; in a directory the position of the listing */
    struct inode *inode; /* held; NULL: none, for example a pipe's */
    struct fs_entry *entry; /* held; the name it was opened by; NULL: none */
    uint64_t bytes; /* file_generated: size of the contents */
    uint64_t buffer; /* file_generated: physical address of the contents */
    unsigned buffer_order;
    int stream; /* 0, 1, 2: the command's streams; -1: none */
    uint64_t number; /* when there is no inode: both ends of a pipe have the same */
    void *state; /* the type's own: a pipe, an event counter, ... */
    struct file *next_of_pipe; /* guest/file/pipe.h, guest/ipc/mqueue.h */
    uint64_t writers_seen; /* of a FIFO: writers seen when it was opened */
    struct poll_watch *watches; /* guest/file/poll.h */
    uint32_t owner; /* guest/file/file_owner.h; 0: none */
    uint8_t owner_type; /* F_OWNER_* */
};

/* Makes the table with descriptors 0, 1 and 2.  Returns 0 or -ENOMEM. */
int files_open_streams(struct process *process);

/* Tables of descriptors.  files_table_copy gives `to` a copy of the table of `from`, for fork, and
 * files_table_share the same one.  files_table_release gives up a process's table, and closes its
 * descriptors if no other process has it.  0 or -ENOMEM. */
int files_table_copy(const struct process *from, struct process *to);
void files_table_share(const struct process *from, struct process *to);
void files_table_release(struct process *process);

struct file *files_get(const struct process *process, int64_t fd); /* NULL: EBADF */
int files_close(struct process *process, int64_t fd);

/* Adds a descriptor >= `lowest` for an open file.  Returns its number, -EMFILE or -EINVAL. */
int64_t files_add(struct process *process, struct file *file, int64_t lowest, bool close_on_exec);

/* As files_add, for a file of files_new; without a descriptor it is freed. */
int64_t files_add_new(struct process *process, struct file *file, bool close_on_exec);

/* Adds descriptors for two files that the caller holds, and copies their numbers to `user`. Returns
 * 0, or -EMFILE or -EFAULT without descriptors. */
int64_t files_add_pair(struct process *process, struct file *const files[2], uint64_t user,
                       bool close_on_exec);
/* dup2: makes `fd` refer to the file, and closes what it referred to.  Returns -EBADF if it is out
 * of range. */
int64_t files_put(struct process *process, struct file *file, int64_t fd, bool close_on_exec);

void files_limit(struct process *process, uint64_t count); /* RLIMIT_NOFILE */
bool files_room(const struct process *process); /* returns whether there is a free descriptor */

/* execve: gives the process a table of its own, if it shares one.  Returns 0 or -ENOMEM. */
int files_unshare(struct process *process);

/* execve: closes the descriptors that are to be closed then. */
void files_exec(struct process *process);

bool files_close_on_exec(const struct process *process, int64_t fd);
void files_set_close_on_exec(struct process *process, int64_t fd, bool on);

/* Makes a file without descriptors; NULL: all are in use.  It is freed when its last descriptor
 * closes, or by files_discard if it never had one. */
struct file *files_new(struct process *process, const struct file_type *type, uint32_t flags);
void files_discard(struct file *file);

/* Hold a file while a thread uses it and may wait: another thread may close it in that time. */
void files_hold(struct file *file);
void files_release(struct file *file);

uint64_t files_size(const struct file *file); /* bytes of a regular file; 0 for others */

bool files_is_terminal(const struct process *process, const struct file *file);

extern const struct file_type file_regular; /* contents in memory */
extern const struct file_type file_generated; /* /proc and /sys */
extern const struct file_type file_directory;
extern const struct file_type file_path; /* O_PATH */
extern const struct file_type file_fifo; /* becomes a type of guest/file/pipe.h when opened */
extern const struct file_type file_input; /* the command's stdin */
extern const struct file_type file_output; /* the command's stdout or stderr, by file->stream */
extern const struct file_type file_terminal;

/* RLIMIT_FSIZE: shortens *bytes to what may be written at `offset`.  Returns 0, or -EFBIG after
 * sending SIGXFSZ. */
int64_t file_size_limit(struct thread *thread, uint64_t offset, uint64_t *bytes);

/* Sends bytes of service_buffer() to stdout or stderr.  Returns 0, -EPIPE after sending SIGPIPE, or
 * another -errno. */
int64_t file_stream_write(struct thread *thread, const struct file *file, uint64_t bytes);
