/* The tree of files: names, and the inodes that they lead to.
 *
 * It is built from the run archive, then changed by the program; all of it is in memory.  Every
 * file belongs to the program's user: an inode's owner bits say what the program may do.  Functions
 * return 0 or -errno unless they say otherwise.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/vm/inode.h"

#define FS_PATH_MAX 4096u /* of a path argument, NUL included */
#define FS_NAME_MAX 255u

/* A name in a directory.  A directory has one name; other files may have several.  An entry lives
 * while it is in its directory or held: an open file keeps the name it was opened by. */
struct fs_entry {
    uint32_t references;
    uint32_t slot; /* its position in its directory */
    bool linked; /* it is in its directory */
    bool archived; /* it was here in the archive, or counts as if it had been */
    bool special; /* made for one lookup by fs_special: in no table */
    uint8_t name_bytes;
    char *name; /* NUL-terminated */
    struct fs_entry *parent; /* held; the root is its own parent */
    struct fs_entry *next; /* in its bucket */
    struct inode *inode; /* held */
};

extern struct fs_entry *fs_root;

/* What files of /proc can do and others cannot. */
struct fs_listed {
    const char *name; /* valid until the next call */
    uint64_t number;
    uint32_t mode;
};
struct thread;
struct file;
struct fs_special {
    /* Directories: returns a new inode (one reference) for what the name leads to, or NULL. */
    struct inode *(*lookup)(struct thread *thread, const struct inode *directory, const char *name);
    /* Lists the next name from *position on, which starts at 0.  Returns false at the end. */
    bool (*list)(struct thread *thread, const struct inode *directory, uint64_t *position,
                 struct fs_listed *listed);
    /* Symbolic links: writes the text, at most `room` bytes.  Returns its length or -errno. */
    int64_t (*text)(struct thread *thread, const struct inode *inode, char *out, uint64_t room);
    /* Where the link leads, if not where its text says: an entry or an open file, held. */
    int (*follow)(struct thread *thread, const struct inode *inode, struct fs_entry **entry,
                  struct file **file);
};

/* ---- guest/fs/fs_archive.c */

/* Makes the tree of the archive, with directories that the archive only implies.  If a name occurs
 * again, the later file replaces the earlier.  Returns -EINVAL if the archive is damaged (logged),
 * or -ENOMEM. */
int fs_init(const void *archive, size_t bytes);

/* The archive's RUN_PROBES_NAME; NULL: it has none.  Written by fs_init alone. */
extern const uint8_t *fs_probes;
extern uint64_t fs_probes_bytes;

/* Finds the inode at an absolute path, or one relative to the root; its name holds it. */
int fs_find(const char *path, struct inode **inode);

/* Makes a directory and its parents, as if they had been in the archive. */
int fs_make_directories(const char *path, uint32_t mode);

/* Puts an inode at a path, as if it had been in the archive.  Takes the reference; returns -ENOMEM
 * if `inode` is NULL.  Makes missing directories with `mode`. */
int fs_place(const char *path, uint32_t mode, struct inode *inode);

/* ---- guest/fs/fs_walk.c */

enum { /* flags of fs_walk */
       FS_FOLLOW = 1, /* follow a symbolic link at the end, too */
       FS_PARENT = 2, /* do not look up the last name */
       FS_MAY_LACK = 4, /* the last name need not exist; -EISDIR when a slash follows it */
       FS_DIRECTORY = 8, /* -ENOTDIR unless the path leads to a directory */
       FS_NO_LINKS = 16, /* -ELOOP at any symbolic link */
       FS_NO_JUMPS = 32, /* -ELOOP at links of /proc that do not lead where their text says */
       FS_BENEATH = 64, /* -EXDEV above `from` */
       FS_IN_ROOT = 128, /* `from` is the root */
};

enum fs_last { FS_LAST_NAME, FS_LAST_DOT, FS_LAST_DOTDOT, FS_LAST_ROOT };

struct fs_found {
    struct fs_entry *entry; /* held; NULL: FS_PARENT, it does not exist, or `file` */
    struct fs_entry *parent; /* held; the directory of the last name; NULL: there is no last name */
    struct file *file; /* held; an open file without a name: /dev/stdin and the like */
    enum fs_last last;
    bool slash; /* a slash follows the last name */
    char name[FS_NAME_MAX + 1]; /* the last name */
};

/* Walks a path from a directory.  If it returns 0, release `found` with fs_found_release. */
int fs_walk(struct thread *thread, struct fs_entry *from, const char *path, uint32_t flags,
            struct fs_found *found);
void fs_found_release(struct fs_found *found);

/* ---- guest/fs/fs_tree.c */

int fs_tree_init(void); /* makes an empty table of names */

void fs_entry_hold(struct fs_entry *entry);
void fs_entry_release(struct fs_entry *entry); /* NULL does nothing */

/* Returns the entry of a name, held, or NULL if there is none. */
struct fs_entry *fs_child(struct thread *thread, struct fs_entry *directory, const char *name);

/* As fs_child, but not held, and only among entries: nothing is asked of the host. */
struct fs_entry *fs_child_here(struct fs_entry *directory, const char *name);

/* Makes an entry for an inode, not yet in its directory; returns it held, or NULL if there is no
 * memory.  Takes the caller's reference to the inode, also if it fails. */
struct fs_entry *fs_entry_new(struct fs_entry *parent, const char *name, struct inode *inode);

/* Put an entry into its directory, and take it out. */
int fs_entry_link(struct fs_entry *entry); /* -ENOSPC */
void fs_entry_unlink(struct fs_entry *entry);

/* Gives a linked entry another name, perhaps in another directory.  That name must be free. */
int fs_entry_move(struct fs_entry *entry, struct fs_entry *parent, const char *name);

/* Exchanges the names and places of two linked entries. */
void fs_entry_swap(struct fs_entry *a, struct fs_entry *b);

struct inode *fs_new_directory(uint32_t mode);
bool fs_is_empty(struct fs_entry *directory);

/* Lists the next name of a directory from *position (at first 0) on, without "." and "..".  Returns
 * false at the end. */
bool fs_list(struct thread *thread, struct fs_entry *directory, uint64_t *position,
             struct fs_listed *listed);

/* Returns the entry of a directory with the lowest slot from `slot` on, not held, or NULL. */
const struct fs_entry *fs_after(const struct fs_entry *directory, uint32_t slot);

/* Writes the absolute path with its NUL, at most `room` bytes.  Returns its length without the NUL,
 * or -ENAMETOOLONG.  Sets *gone if the entry or a directory above it was removed. */
int64_t fs_path(const struct fs_entry *entry, char *out, size_t room, bool *gone);

/* ---- guest/fs/fs_change.c: on names found with FS_PARENT (open: FS_MAY_LACK) */

/* Makes a file at a found name.  Takes the caller's reference to the inode, also if it fails.
 * *entry, unless NULL, is returned held. */
int fs_make(struct thread *thread, struct fs_found *found, struct inode *inode,
            struct fs_entry **entry);
int fs_link(struct thread *thread, struct inode *inode, struct fs_found *found);
int fs_unlink(struct thread *thread, const struct fs_found *found);
int fs_rmdir(struct thread *thread, const struct fs_found *found);
int fs_check_rename(uint32_t flags); /* -EINVAL; call it before walking the paths */
int fs_rename(struct thread *thread, const struct fs_found *from, const struct fs_found *to,
              uint32_t flags); /* RENAME_NOREPLACE, RENAME_EXCHANGE */

/* Checks R_OK, W_OK and X_OK against the owner bits of the inode.  Returns 0 or -EACCES. */
int fs_permission(const struct inode *inode, uint32_t wanted);

/* Releases a file that a special link led to; set at boot. */
extern void (*fs_file_release)(struct file *file);
