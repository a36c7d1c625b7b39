/* Makes, removes and renames files; the order of the checks is Linux's. */
#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/base/context.h"
#include "guest/fs/fs.h"
#include "guest/fs/fs_kept.h"
#include "guest/fs/fs_served.h"

int fs_permission(const struct inode *inode, uint32_t wanted)
{
    uint32_t has = inode->mode >> 6 & 7;

    return wanted & ~has ? -EACCES : 0;
}

static void fs_change_touch(struct inode *directory)
{
    directory->times.modified = directory->times.changed = inode_now();
}

static int may_change(const struct fs_entry *directory)
{
    if (!directory->inode->links)
        return -ENOENT; /* the directory was removed */
    return fs_permission(directory->inode, W_OK | X_OK);
}

/* Makes the checks that Linux makes first when it makes a name. */
static int check_new(struct thread *thread, const struct fs_found *found, bool directory)
{
    struct fs_entry *there;

    if (found->last != FS_LAST_NAME)
        return -EEXIST;
    there = fs_child(thread, found->parent, found->name);
    if (there != NULL) {
        fs_entry_release(there);
        return -EEXIST;
    }
    if (found->slash && !directory)
        return -ENOENT;
    return may_change(found->parent);
}

int fs_make(struct thread *thread, struct fs_found *found, struct inode *inode,
            struct fs_entry **entry)
{
    struct fs_entry *new;
    int error = check_new(thread, found, S_ISDIR(inode->mode));

    cross_assert_held();
    if (!error && found->parent->inode->type != NULL && found->parent->inode->type != inode->type)
        error = -EPERM; /* a directory of one kind of file */
    if (error) {
        inode_release(inode);
        return error;
    }
    if (S_ISDIR(inode->mode))
        inode->served = INODE_NOT_SERVED;
    new = fs_entry_new(found->parent, found->name, inode);
    if (new == NULL)
        return -ENOSPC;
    error = fs_entry_link(new);
    if (!error)
        fs_change_touch(found->parent->inode);
    if (entry != NULL && !error)
        *entry = new;
    else
        fs_entry_release(new);
    return error;
}

/* A directory of one kind of file is a file system of its own, and has no links and no renames. */
static int check_kinds(const struct file_type *from, const struct file_type *to)
{
    if (from == NULL && to == NULL)
        return 0;
    return from == to ? -EPERM : -EXDEV;
}

int fs_link(struct thread *thread, struct inode *inode, struct fs_found *found)
{
    struct fs_entry *new;
    int error = check_new(thread, found, false);

    cross_assert_held();
    if (error)
        return error;
    if (S_ISDIR(inode->mode))
        return -EPERM;
    error = check_kinds(S_ISREG(inode->mode) ? inode->type : NULL, found->parent->inode->type);
    if (error)
        return error;
    if (!inode->links && !inode->unnamed)
        return -ENOENT;
    inode_hold(inode);
    new = fs_entry_new(found->parent, found->name, inode);
    if (new == NULL)
        return -ENOSPC;
    error = fs_entry_link(new);
    if (!error) {
        inode->unnamed = false; /* only once: a removed name does not come back */
        inode->times.changed = inode_now();
        fs_change_touch(found->parent->inode);
    }
    fs_entry_release(new);
    return error;
}

/* Call before an entry leaves its place. */
static void leave(struct fs_entry *entry)
{
    fs_served_removed(entry);
    fs_kept_removed(entry);
}

/* Removes an entry.  That may drop the last reference to its inode. */
static void take_out(struct fs_entry *entry)
{
    leave(entry);
    entry->inode->times.changed = inode_now();
    fs_change_touch(entry->parent->inode);
    fs_entry_unlink(entry);
}

int fs_unlink(struct thread *thread, const struct fs_found *found)
{
    struct fs_entry *entry;
    int error = 0;

    cross_assert_held();
    if (found->last != FS_LAST_NAME)
        return -EISDIR;
    entry = fs_child(thread, found->parent, found->name);
    if (entry == NULL)
        return -ENOENT;
    if (found->slash)
        error = S_ISDIR(entry->inode->mode) ? -EISDIR : -ENOTDIR;
    if (!error)
        error = may_change(found->parent);
    if (!error && entry->special)
        error = -EPERM;
    if (!error && S_ISDIR(entry->inode->mode))
        error = -EISDIR;
    if (!error)
        take_out(entry);
    fs_entry_release(entry);
    return error;
}

int fs_rmdir(struct thread *thread, const struct fs_found *found)
{
    static const int not_names[] = {
        [FS_LAST_DOT] = -EINVAL, [FS_LAST_DOTDOT] = -ENOTEMPTY, [FS_LAST_ROOT] = -EBUSY};
    struct fs_entry *entry;
    int error;

    cross_assert_held();
    if (found->last != FS_LAST_NAME)
        return not_names[found->last];
    entry = fs_child(thread, found->parent, found->name);
    if (entry == NULL)
        return -ENOENT;
    error = may_change(found->parent);
    if (!error && entry->special)
        error = -EPERM;
    if (!error && !S_ISDIR(entry->inode->mode))
        error = -ENOTDIR;
    if (!error && entry->inode->mount)
        error = -EBUSY;
    if (!error && !fs_is_empty(entry))
        error = -ENOTEMPTY;
    if (!error)
        take_out(entry);
    fs_entry_release(entry);
    return error;
}

/* ---- rename */

struct rename {
    struct fs_entry *from, *to; /* held; to: NULL when there is none */
    const struct fs_found *old, *new;
    bool exchange;
};

/* Returns the child of `above` that is `below` or contains it; NULL: none. */
static const struct fs_entry *way_down(const struct fs_entry *above, const struct fs_entry *below)
{
    for (; below->parent != below; below = below->parent)
        if (below->parent == above)
            return below;
    return NULL;
}

int fs_check_rename(uint32_t flags)
{
    bool bad = flags & ~(uint32_t)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
               flags == (RENAME_NOREPLACE | RENAME_EXCHANGE);

    return bad ? -EINVAL : 0;
}

static int check_names(const struct fs_found *old, const struct fs_found *new, uint32_t flags)
{
    if (old->last != FS_LAST_NAME)
        return -EBUSY;
    if (new->last != FS_LAST_NAME)
        return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
    return 0;
}

static int check_found(const struct rename *r, uint32_t flags)
{
    if (r->from == NULL)
        return -ENOENT;
    if (flags & RENAME_NOREPLACE && r->to != NULL)
        return -EEXIST;
    if (r->exchange) {
        if (r->to == NULL)
            return -ENOENT;
        if (!S_ISDIR(r->to->inode->mode) && r->new->slash)
            return -ENOTDIR;
    }
    if (!S_ISDIR(r->from->inode->mode) && (r->old->slash || (!r->exchange && r->new->slash)))
        return -ENOTDIR;
    if (r->from == way_down(r->old->parent, r->new->parent))
        return -EINVAL;
    if (r->to != NULL && r->to == way_down(r->new->parent, r->old->parent))
        return r->exchange ? -EINVAL : -ENOTEMPTY;
    return 0;
}

/* A directory that changes its parent is itself changed, because of its "..". */
static int check_moved(const struct fs_entry *entry, const struct fs_entry *parent)
{
    if (entry->special)
        return -EPERM;
    if (entry->inode->mount)
        return -EBUSY;
    return S_ISDIR(entry->inode->mode) && entry->parent != parent
               ? fs_permission(entry->inode, W_OK)
               : 0;
}

static int check_types(const struct rename *r)
{
    bool directory = S_ISDIR(r->from->inode->mode);
    int error = may_change(r->old->parent);

    if (!error)
        error = may_change(r->new->parent);
    if (!error && r->to != NULL && !r->exchange && directory != S_ISDIR(r->to->inode->mode))
        error = directory ? -ENOTDIR : -EISDIR;
    if (!error)
        error = check_moved(r->from, r->new->parent);
    if (!error && r->to != NULL && r->exchange)
        error = check_moved(r->to, r->old->parent);
    if (!error && r->to != NULL && !r->exchange && r->to->inode->mount)
        error = -EBUSY;
    if (!error && r->to != NULL && !r->exchange && directory && !fs_is_empty(r->to))
        error = -ENOTEMPTY;
    return error;
}

static int fs_change_move(const struct rename *r)
{
    int error;

    if (r->to != NULL)
        fs_entry_unlink(r->to);
    error = fs_entry_move(r->from, r->new->parent, r->new->name);
    if (error && r->to != NULL)
        (void)fs_entry_link(r->to); /* back to where it was: there is room */
    return error;
}

static int do_rename(const struct rename *r, uint32_t flags)
{
    int error = check_kinds(r->old->parent->inode->type, r->new->parent->inode->type);

    if (!error)
        error = check_found(r, flags);

    if (error || (r->to != NULL && r->from->inode == r->to->inode))
        return error;
    error = check_types(r);
    if (error)
        return error;
    leave(r->from);
    if (r->to != NULL)
        leave(r->to);
    if (r->exchange)
        fs_entry_swap(r->from, r->to);
    else
        error = fs_change_move(r);
    if (error)
        return error;
    r->from->inode->times.changed = inode_now();
    if (r->to != NULL)
        r->to->inode->times.changed = inode_now();
    fs_change_touch(r->old->parent->inode);
    fs_change_touch(r->new->parent->inode);
    return 0;
}

int fs_rename(struct thread *thread, const struct fs_found *from, const struct fs_found *to,
              uint32_t flags)
{
    struct rename r = {.old = from, .new = to, .exchange = flags &RENAME_EXCHANGE};
    int error = check_names(from, to, flags);

    cross_assert_held();
    if (error)
        return error;
    r.from = fs_child(thread, from->parent, from->name);
    r.to = fs_child(thread, to->parent, to->name);
    error = do_rename(&r, flags);
    fs_entry_release(r.from);
    fs_entry_release(r.to);
    return error;
}
