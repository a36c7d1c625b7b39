/* A directory of the host that stores the files of a guest; no name from the guest reaches outside
 * it.
 *
 * Contents arrive under numbers and go to temporary files; names come later and move these into
 * place.  Names are walked component by component, and a symbolic link on the way is an error.
 * Functions return 0 or -errno: -EINVAL, -ELOOP and -E2BIG are the guest's fault, others the file
 * system's.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KEEP_STORE_PREFIX "microtome-incomplete-" /* name of the directory for temporary files */
#define KEEP_STORE_FILE_BYTES_MAX (1ull << 40) /* including holes */
#define KEEP_STORE_FILES_MAX 1000000u
#define KEEP_STORE_NAME_SHARE 1024u /* bytes of allowed contents per allowed name */

struct keep_store {
    int directory;
    int temporary;
    unsigned int mask; /* the umask: permissions that files do not get */
    char temporary_name[sizeof KEEP_STORE_PREFIX + 6];
    uint64_t bytes_max; /* limit of all contents on the disk */
    uint64_t bytes; /* used so far */
    int file; /* the file written last; -1: none */
    uint64_t file_id;
    uint64_t file_bytes; /* its size on the disk */
    uint32_t pending; /* number of temporary files */
    uint64_t names; /* of files, directories and links; bounded like a guest's memory */
};

#define KEEP_STORE_CLOSED                            \
    {                                                \
        .directory = -1, .temporary = -1, .file = -1 \
    }

struct keep_attributes {
    uint32_t mode; /* permissions; set-user-ID and the like are dropped */
    uint64_t modified; /* nanoseconds since 1970 */
};

/* Creates the directory if needed. */
int keep_store_open(struct keep_store *s, const char *directory, uint64_t bytes_max);

/* Removes contents without a name, of removed files, after the guest has sent everything. */
void keep_store_drop_unnamed(struct keep_store *s);

/* Removes the directory of temporary files if it is empty. */
void keep_store_close(struct keep_store *s);

int keep_store_write(struct keep_store *s, uint64_t id, uint64_t offset, const void *bytes,
                     size_t count);

/* Gives file `id` its size and its name; a file that was never written is empty or all holes. */
int keep_store_name(struct keep_store *s, uint64_t id, uint64_t size, const char *path,
                    size_t path_bytes, const struct keep_attributes *attributes);
int keep_store_directory(struct keep_store *s, const char *path, size_t path_bytes,
                         const struct keep_attributes *attributes);
int keep_store_link(struct keep_store *s, const char *path, size_t path_bytes, const char *target,
                    size_t target_bytes, const struct keep_attributes *attributes);
