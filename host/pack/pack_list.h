/* What goes into a run's archive: every name once, and why it is there.
 *
 * Names are those that the guest will see: links stay links, and what they lead to is listed under
 * its own name, so that a path means the same inside as outside.  What is listed first under a name
 * stays.  Nothing is read or copied yet, but every file's status is known.
 *
 * Functions return 0 or -errno and never print.
 */
#ifndef HOST_PACK_PACK_LIST_H
#define HOST_PACK_PACK_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

struct pack_entry {
    char *name; /* in the archive: no leading slash, nothing to resolve in it */
    char *source; /* regular files: where the contents are on the host */
    char *before; /* regular files: text in front of the contents; NULL: none */
    char *target; /* symbolic links */
    struct stat status; /* st_mode says what it is */
    size_t item;
};

struct pack_item { /* entries that came together, for one reason */
    char *path;
    char *why;
    bool stable; /* of the system rather than of this run: worth keeping between runs */
    size_t files;
    uint64_t bytes;
};

struct pack_list {
    struct pack_entry **entries;
    size_t count;
    struct pack_item *items;
    size_t item_count;
    void *names; /* a tsearch tree of the entries */
    uint64_t bytes; /* of all contents */
};

/* How much of a tree is taken. */
struct pack_tree_rules {
    const char *const *except; /* fnmatch patterns of names, or of paths relative to the tree; may
                                  be NULL */
    uint64_t bytes_max; /* 0: no limit */
    size_t files_max;
    bool follow; /* list what links inside lead to, when that is a file */
};

void pack_list_free(struct pack_list *l);

/* What is listed from here on is there because of `why`. */
int pack_list_begin(struct pack_list *l, const char *path, bool stable, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* Lists the file or directory (without its contents) at an absolute path of the host, with its
 * parents and the links on the way; `name` is what it is called when all links are followed, or
 * NULL.  -ENODEV: neither file nor directory.
 */
int pack_list_add_path(struct pack_list *l, const char *path, char name[PATH_MAX]);

/* Lists what is below a directory of the host under `name` ("" for the root), which must be listed
 * unless it is the root.  Sockets, pipes and devices are left out.  -EFBIG: more than the rules
 * allow, and nothing of it is listed.  After another failure *bad, PATH_MAX bytes, names the file.
 */
int pack_list_add_tree(struct pack_list *l, const char *path, const char *name,
                       const struct pack_tree_rules *rules, char *bad);

/* Lists an empty directory of the guest, with its parents. */
int pack_list_add_directory(struct pack_list *l, const char *path, mode_t permissions);

/* Has the regular file that the guest finds at an absolute path begin with a text; nothing happens
 * if there is none. */
int pack_list_put_before(struct pack_list *l, const char *path, const char *text);

/* The entry that the guest finds at an absolute path, links followed; NULL if there is none. */
const struct pack_entry *pack_list_find(const struct pack_list *l, const char *path);

/* One line an item: path, size, reason. */
void pack_list_print(const struct pack_list *l, FILE *out);

#endif
