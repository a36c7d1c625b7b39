/* Calls for the host's files, which a worker makes because each of them may wait for a network.
 *
 * A task has copies of all that it needs.  It knows nodes by their path and by what the guest was
 * told of them: what is no longer so gives -ESTALE.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "host/serve/serve_nodes.h"
#include "host/serve/serve_worker.h"
#include "include/run_serve.h"

/* What a node takes of an answer: see struct run_serve_node. */
#define SERVE_NODE_BYTES(name_bytes, target_bytes) \
    ((sizeof(struct run_serve_node) + (name_bytes) + (target_bytes) + 7) & ~(size_t)7)
#define SERVE_ENTRIES_MAX (RUN_SERVE_BYTES_MAX / SERVE_NODE_BYTES(1, 0))

enum serve_kind {
    SERVE_TASK_LOOKUP, /* `name` in the directory: entries[0] */
    SERVE_TASK_LIST, /* the directory's names from `position` on, as many as one answer holds */
    SERVE_TASK_READ, /* `wanted` bytes of the file at `offset`, fewer only at its end */
    SERVE_TASK_HASH, /* hash_bytes of all contents of the file */
};

struct serve_names { /* of a directory, sorted by their bytes */
    char *text;
    uint32_t *starts; /* of each name, in `text` */
    size_t text_bytes, count;
};

struct serve_entry {
    struct serve_file file;
    const char *name; /* of SERVE_TASK_LIST, in its names */
    uint32_t target; /* where a link's text begins in `bytes` */
    uint16_t target_bytes;
};

typedef ssize_t serve_pread(int fd, void *bytes, size_t count, off_t offset);

struct serve_task {
    struct serve_work work; /* the first member */
    enum serve_kind kind;
    int root; /* not the task's own */
    serve_pread *pread; /* pread, unless a test has its own */
    char path[PATH_MAX]; /* of the directory or file, relative to the root */
    struct serve_file expected; /* what it was */
    int error; /* the result: 0 or -errno */
    char name[SERVE_NODES_NAME_MAX + 1];
    struct serve_names *names; /* owned; NULL: the directory has to be read */
    size_t position; /* afterwards: of the next names; 0 at the end */
    struct serve_entry entries[SERVE_ENTRIES_MAX];
    size_t entry_count;
    int fd; /* owned, open for reading; -1: it has to be opened */
    uint64_t offset;
    size_t wanted;
    size_t used; /* bytes in `bytes` */
    uint64_t hash;
    uint8_t bytes[RUN_SERVE_BYTES_MAX]; /* contents, or texts of links */
};

/* Returns a task with nothing to do, or NULL.  */
struct serve_task *serve_task_new(int root, serve_pread *read);

/* Closes the task's descriptor, if it has one. */
void serve_task_close(struct serve_task *task);

/* Frees a task with all that it owns; it may be NULL. */
void serve_task_free(struct serve_task *task);

/* Returns whether the name, in the root or not, is one that the guest has itself. */
bool serve_task_is_guests(bool in_root, const char *name);

/* Fills `root` for the directory that is served.  Returns 0 or -errno; -EINVAL for a file system of
 * the kernel's own, such as procfs; -ENOSYS if this kernel lacks openat2. */
int serve_task_examine_root(int fd, struct serve_file *root);

/* Parts of it, each in a file of its own: */
/* Returns a descriptor without access (O_PATH) of a file as it was told, or -errno. */
int serve_open(int root, const char *path, const struct serve_file *expected);
/* Examines a name in a directory: its status, and a link's text.  Returns 0 or -errno; -ENOENT if
 * it is none that is served. */
int serve_examine(int directory, dev_t device, const char *name, struct serve_file *file,
                  char target[RUN_SERVE_TARGET_MAX + 1], uint16_t *target_bytes);
int serve_stat(int fd, struct serve_file *file);
int serve_list(struct serve_task *task);
void serve_names_free(struct serve_names *names);
int serve_read(struct serve_task *task);
int serve_hash(struct serve_task *task);
