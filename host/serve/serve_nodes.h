/* What the guest was told of the host's files: a table of nodes by number, and by directory and
 * name.
 *
 * The server's thread alone uses it.  Functions return 0 or -errno.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVE_NODES_MAX (1u << 20)
#define SERVE_NODES_NAME_MAX 255u

struct serve_file { /* a file's identity and status */
    dev_t device;
    ino_t inode;
    uint64_t bytes;
    uint64_t modified, changed; /* nanoseconds since 1970 */
    uint32_t mode; /* the owner's bits say what the user may do */
};

struct serve_node {
    struct serve_file file; /* as first told */
    uint32_t parent; /* number of its directory */
    uint32_t next; /* number of another node in its bucket; 0: the last */
    uint32_t name; /* where its name begins in `names` */
    bool read; /* the guest has some of its contents */
    bool stale; /* it has changed, and the guest asked for it afterwards */
};

struct serve_nodes {
    struct serve_node *all; /* by number; number 0 is none */
    size_t count; /* number 0 included */
    char *names; /* each with a NUL */
    size_t names_used, names_room;
    uint32_t *buckets; /* the first node of each; as many as a power of two */
    size_t bucket_count;
};

/* Makes a table that holds only the root, number 1. */
int serve_nodes_init(struct serve_nodes *n, const struct serve_file *root);
void serve_nodes_free(struct serve_nodes *n);

/* Returns the node of a number, which is valid until the next one is added; NULL if there is none.
 */
struct serve_node *serve_nodes_get(const struct serve_nodes *n, uint64_t number);

/* Returns the number of a name in a directory, 0 if it was never told. */
uint32_t serve_nodes_find(const struct serve_nodes *n, uint32_t parent, const char *name);

/* Adds a name that is not in the table yet.  Returns -ENFILE if there are too many. */
int serve_nodes_add(struct serve_nodes *n, uint32_t parent, const char *name,
                    const struct serve_file *file, uint32_t *number);

/* Stores the path relative to the root, "." for the root itself.  Returns -ENAMETOOLONG if it does
 * not fit. */
int serve_nodes_path(const struct serve_nodes *n, uint32_t number, char path[PATH_MAX]);

/* Returns whether two files are the same one and unchanged; of directories only the identity
 * counts. */
bool serve_nodes_is_same(const struct serve_file *a, const struct serve_file *b);
