/* The tree of files: names, and the inodes that they lead to.
 * Built from the run archive, then changed by the program; all of it is in memory.  Thread context,
 * by the kernel lock's holder.  Every file belongs to the program's user: an inode's owner bits say
 * what the program may do.  Results are 0 or -errno.
 */
#ifndef GUEST_FS_FS_H
#define GUEST_FS_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/vm/inode.h"

#define FS_PATH_MAX 4096u /* of an argument, NUL included */
#define FS_NAME_MAX 255u

/* A name in a directory.  A directory has one name; other files may have several.  It lives while
 * it is in its directory or somebody holds it: an open file keeps the name it was opened by. */
struct fs_entry {
    uint32_t references;
    uint32_t slot; /* in its directory */
    bool linked; /* it is in its directory */
    bool archived; /* it was here in the archive, or would have been */
    bool special; /* made for this look, by fs_special: in no table */
    uint8_t name_bytes;
    char *name; /* NUL-terminated */
    struct fs_entry *parent; /* held; its own for the root */
    struct fs_entry *next; /* in its bucket */
    struct inode *inode; /* held */
};

extern struct fs_entry *fs_root;

/* What files of /proc can do that others cannot. */
struct fs_listed {
    const char *name; /* valid until the next call */
    uint64_t number;
    uint32_t mode;
};
struct thread;
struct file;
struct fs_special {
    /* Directories: a new inode (one reference) for what the name leads to, NULL: nothing. */
    struct inode *(*lookup)(struct thread *thread, const struct inode *directory, const char *name);
    /* The next name from *position on, which begins with 0. */
    bool (*list)(struct thread *thread, const struct inode *directory, uint64_t *position,
                 struct fs_listed *listed);
    /* Symbolic links: the text, at most `room` bytes: its length, -errno. */
    int64_t (*text)(struct thread *thread, const struct inode *inode, char *out, uint64_t room);
    /* Where the link leads if not by its text: an entry or an open file, held. */
    int (*follow)(struct thread *thread, const struct inode *inode, struct fs_entry **entry,
                  struct file **file);
};

/* ---- guest/fs/fs_archive.c */

/* Makes the tree of the archive; directories that it only implies are added.  A name that occurs
 * again replaces the earlier file.  -EINVAL when it is damaged (logged), -ENOMEM.
 */
int fs_init(const void *archive, size_t bytes);

/* The inode at an absolute path, or one relative to the root; held by its name. */
int fs_find(const char *path, struct inode **inode);

/* Makes a directory and those above it, as if they had been in the archive. */
int fs_make_directories(const char *path, uint32_t mode);

/* Puts an inode at a path, as if it had been in the archive; takes the reference, NULL is -ENOMEM.
 * Directories that are missing get `mode`. */
int fs_place(const char *path, uint32_t mode, struct inode *inode);

/* ---- guest/fs/fs_walk.c */

enum { /* of fs_walk */
       FS_FOLLOW = 1, /* a symbolic link at the end, too */
       FS_PARENT = 2, /* do not look up the last name */
       FS_MAY_LACK = 4, /* the last name need not exist; -EISDIR when a slash follows it */
       FS_DIRECTORY = 8, /* -ENOTDIR unless it is one */
       FS_NO_LINKS = 16, /* -ELOOP at any symbolic link */
       FS_NO_JUMPS = 32, /* -ELOOP at links of /proc that lead elsewhere than their text says */
       FS_BENEATH = 64, /* -EXDEV above `from` */
       FS_IN_ROOT = 128, /* `from` is the root */
};

enum fs_last { FS_LAST_NAME, FS_LAST_DOT, FS_LAST_DOTDOT, FS_LAST_ROOT };

struct fs_found {
    struct fs_entry *entry; /* held; NULL: FS_PARENT, or it does not exist, or `file` */
    struct fs_entry *parent; /* held; the directory of the last name, NULL: last is none */
    struct file *file; /* held; an open file without a name: /dev/stdin and the like */
    enum fs_last last;
    bool slash; /* follows the last name */
    char name[FS_NAME_MAX + 1]; /* the last one */
};

/* Walks a path from a directory.  To be given back by fs_found_release after 0. */
int fs_walk(struct thread *thread, struct fs_entry *from, const char *path, uint32_t flags,
            struct fs_found *found);
void fs_found_release(struct fs_found *found);

/* ---- guest/fs/fs_tree.c */

int fs_tree_init(void); /* an empty table of names */

void fs_entry_hold(struct fs_entry *entry);
void fs_entry_release(struct fs_entry *entry); /* NULL does nothing */

/* The entry of a name, held; NULL: there is none. */
struct fs_entry *fs_child(struct thread *thread, struct fs_entry *directory, const char *name);

/* An entry for an inode, not in its directory, held; takes the caller's reference of the inode,
 * also when it fails: NULL, no memory. */
struct fs_entry *fs_entry_new(struct fs_entry *parent, const char *name, struct inode *inode);

/* Puts it into its directory or takes it out. */
int fs_entry_link(struct fs_entry *entry); /* -ENOSPC */
void fs_entry_unlink(struct fs_entry *entry);

/* Gives a linked entry another name, maybe in another directory, where nothing has it. */
int fs_entry_move(struct fs_entry *entry, struct fs_entry *parent, const char *name);

/* Each of two linked entries gets the name and the place of the other. */
void fs_entry_swap(struct fs_entry *a, struct fs_entry *b);

struct inode *fs_new_directory(uint32_t mode);
bool fs_is_empty(const struct inode *directory);

/* The next name of a directory from *position (0 at first) on, without "." and "..". */
bool fs_list(struct thread *thread, struct fs_entry *directory, uint64_t *position,
             struct fs_listed *listed);

/* The entry of a directory with the lowest slot from `slot` on, not held; NULL: none. */
const struct fs_entry *fs_after(const struct fs_entry *directory, uint32_t slot);

/* The absolute path with its NUL, at most `room` bytes: its length without the NUL.
 * -ENAMETOOLONG.  *gone: the entry or a directory above it is not in its directory any more. */
int64_t fs_path(const struct fs_entry *entry, char *out, size_t room, bool *gone);

/* ---- guest/fs/fs_change.c: on names found with FS_PARENT (open: FS_MAY_LACK) */

/* A new file at a found name: takes the caller's reference of the inode, also when it fails.
 * *entry, if not NULL: held. */
int fs_make(struct thread *thread, struct fs_found *found, struct inode *inode,
            struct fs_entry **entry);
int fs_link(struct thread *thread, struct inode *inode, struct fs_found *found);
int fs_unlink(struct thread *thread, const struct fs_found *found);
int fs_rmdir(struct thread *thread, const struct fs_found *found);
int fs_check_rename(uint32_t flags); /* before the paths are walked: -EINVAL */
int fs_rename(struct thread *thread, const struct fs_found *from, const struct fs_found *to,
              uint32_t flags); /* RENAME_NOREPLACE, RENAME_EXCHANGE */

/* Permissions: R_OK, W_OK, X_OK of the inode's owner.  0, -EACCES. */
int fs_permission(const struct inode *inode, uint32_t wanted);

/* Lets go of a file that a special link led to; set at boot. */
extern void (*fs_file_release)(struct file *file);

#endif
