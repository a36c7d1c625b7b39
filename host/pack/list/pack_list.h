/* The contents of a run's archive: every name once, and why it is there.
 *
 * Names are those that the guest will see.  Links stay links, and their targets are listed under
 * their own names, so that a path means the same inside as outside.  The first entry of a name
 * stays.  No contents are read or copied yet, but every file's status is known.
 *
 * Functions return 0 or -errno and never print.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

struct pack_entry {
    char *name; /* in the archive: no leading slash, fully resolved */
    char *source; /* regular files: path of the contents on the host */
    char *before; /* regular files: text before the contents; NULL: none */
    char *target; /* symbolic links */
    struct stat status; /* st_mode says what it is */
    size_t item;
};

struct pack_item { /* entries that were listed together, for one reason */
    char *path;
    char *why;
    bool stable; /* belongs to the system rather than to this run: worth keeping between runs */
    size_t files;
    uint64_t bytes;
};

struct pack_list {
    struct pack_entry **entries;
    size_t count;
    struct pack_item *items;
    size_t item_count;
    const char *root; /* where pack_list_add_path finds the guest's paths; NULL: / */
    void *names; /* a tsearch tree of the entries */
    uint64_t bytes; /* of all contents */
};

/* Limits what is taken of a tree. */
struct pack_tree_rules {
    const char *const *except; /* fnmatch patterns of names, or of paths relative to the tree; may
                                  be NULL */
    uint64_t bytes_max; /* 0: no limit */
    size_t files_max;
    bool follow; /* list the targets of links inside, if they are files */
};

void pack_list_free(struct pack_list *l);

/* Starts an item: the entries that follow are listed because of `why`. */
int pack_list_begin(struct pack_list *l, const char *path, bool stable, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* Lists the file or directory (without its contents) at an absolute path of the host, with its
 * parents and the links on the way.  Stores the path after following all links in `name`, which may
 * be NULL.  Returns -ENODEV if it is neither a file nor a directory. */
int pack_list_add_path(struct pack_list *l, const char *path, char name[PATH_MAX]);

/* Lists the contents of a directory of the host under `name` ("" for the root), which must be
 * listed unless it is the root.  Sockets, pipes and devices are left out.  Returns -EFBIG if the
 * contents exceed the rules, and lists none of them.  After another failure *bad, PATH_MAX bytes,
 * names the file. */
int pack_list_add_tree(struct pack_list *l, const char *path, const char *name,
                       const struct pack_tree_rules *rules, char *bad);

/* Lists an empty directory of the guest, with its parents. */
int pack_list_add_directory(struct pack_list *l, const char *path, mode_t permissions);

/* Puts a text before the contents of the regular file that the guest finds at an absolute path;
 * does nothing if there is none. */
int pack_list_put_before(struct pack_list *l, const char *path, const char *text);

/* Returns the entry that the guest finds at an absolute path, following links; NULL if there is
 * none. */
const struct pack_entry *pack_list_find(const struct pack_list *l, const char *path);

/* Prints one line per item: path, size, reason. */
void pack_list_print(const struct pack_list *l, FILE *out);
