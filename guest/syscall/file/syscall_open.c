/* System calls that open files. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/syscall/file/syscall_path.h"
#include "guest/vm/uaccess.h"

#define CREATION_FLAGS (O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC)
#define PATH_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define VALID_FLAGS                                                                        \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC | \
     FASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC |  \
     __O_SYNC | O_PATH | __O_TMPFILE)
#define LARGE_FILE 0100000u /* a 64-bit program has it without asking */

struct opening {
    struct thread *thread;
    uint32_t flags; /* O_* */
    uint32_t mode; /* of a new file, without the umask's bits */
    uint32_t walk; /* FS_* of openat2 */
    bool created;
};

/* Returns O_ACCMODE as R_OK and W_OK; 3 asks for both. */
static uint32_t access_wanted(uint32_t flags)
{
    static const uint32_t wanted[] = {R_OK, W_OK, R_OK | W_OK, R_OK | W_OK};

    return wanted[flags & O_ACCMODE] | (flags & O_TRUNC ? W_OK : 0);
}

static const struct file_type *type_of(const struct inode *inode, uint32_t flags)
{
    if (flags & O_PATH)
        return &file_path;
    if (S_ISDIR(inode->mode))
        return &file_directory;
    if (inode->generate != NULL)
        return &file_generated;
    return S_ISREG(inode->mode) && inode->type == NULL ? &file_regular : inode->type;
}

static int check_open(const struct opening *o, const struct inode *inode)
{
    bool directory = S_ISDIR(inode->mode);
    uint32_t wanted = access_wanted(o->flags);
    int error;

    if (o->flags & O_CREAT) {
        if (o->flags & O_EXCL)
            return -EEXIST;
        if (directory)
            return -EISDIR;
    }
    if (!directory && o->flags & O_DIRECTORY)
        return -ENOTDIR;
    if (o->flags & O_PATH)
        return 0;
    if (S_ISLNK(inode->mode))
        return -ELOOP;
    if (directory && wanted & W_OK)
        return -EISDIR;
    if (type_of(inode, o->flags) == NULL)
        return -ENXIO; /* there is no other end */
    error = fs_permission(inode, wanted);
    return !error && wanted & W_OK && inode->runs ? -ETXTBSY : error;
}

/* Makes a file for an entry. */
static int make_file(const struct opening *o, struct fs_entry *entry, struct file **file)
{
    struct inode *inode = entry->inode;
    uint32_t flags = o->flags & ~(uint32_t)CREATION_FLAGS;
    int error = 0;

    *file = files_new(o->thread->process, type_of(inode, flags),
                      flags & O_PATH ? flags : flags | LARGE_FILE);
    if (*file == NULL)
        return -ENFILE;
    fs_entry_hold(entry);
    inode_hold(inode);
    (*file)->entry = entry;
    (*file)->inode = inode;
    (*file)->counted = !(flags & O_PATH) && flags & O_ACCMODE && S_ISREG(inode->mode);
    inode->writers += (*file)->counted;
    (*file)->flags |= o->flags & O_NOCTTY; /* only `open` looks at it */
    if ((*file)->type->open != NULL)
        error = (*file)->type->open(o->thread, *file);
    (*file)->flags &= ~(uint32_t)O_NOCTTY;
    return error;
}

static int open_entry(const struct opening *o, struct fs_entry *entry, struct file **file)
{
    int error = o->created ? 0 : check_open(o, entry->inode);

    if (!error && o->flags & O_TRUNC && !o->created && S_ISREG(entry->inode->mode) &&
        entry->inode->generate == NULL)
        error = entry->inode->seals & F_SEAL_SHRINK && entry->inode->bytes
                    ? -EPERM
                    : inode_truncate(entry->inode, 0);
    if (error)
        return error;
    error = make_file(o, entry, file);
    if (error && *file != NULL)
        files_discard(*file);
    return error;
}

/* Handles a path that leads to an open file: the new descriptor shares it. */
static int open_again(const struct opening *o, struct file *open, struct file **file)
{
    if (o->flags & O_CREAT && o->flags & O_EXCL)
        return -EEXIST;
    *file = open;
    return 0;
}

static int open_create(struct opening *o, struct fs_found *found)
{
    const struct file_type *kind = found->parent->inode->type;
    struct inode *inode;
    int error;

    inode = inode_new(S_IFREG | o->mode);
    if (inode == NULL)
        return -ENOSPC;
    error = kind != NULL ? kind->make(inode) : 0;
    if (error) {
        inode_release(inode);
        return error;
    }
    o->created = true;
    inode->changed = true;
    return fs_make(o->thread, found, inode, &found->entry);
}

static int open_found(struct opening *o, struct fs_found *found, struct file **file)
{
    int error = 0;

    if (found->file != NULL)
        return open_again(o, found->file, file);
    if (found->entry == NULL)
        error = open_create(o, found);
    return error ? error : open_entry(o, found->entry, file);
}

/* Makes a file without a name, in the file system of a directory. */
static int open_unnamed(struct opening *o, const struct fs_found *found, struct file **file)
{
    struct inode *inode;
    struct fs_entry *entry;
    int error = fs_permission(found->entry->inode, W_OK | X_OK);

    if (!error && found->entry->inode->type != NULL)
        error = -EOPNOTSUPP;
    if (error)
        return error;
    inode = inode_new(S_IFREG | o->mode);
    if (inode == NULL)
        return -ENOSPC;
    inode->unnamed = !(o->flags & O_EXCL);
    inode->changed = true;
    entry = fs_entry_new(found->entry, "#unnamed", inode);
    if (entry == NULL)
        return -ENOSPC;
    o->created = true;
    error = open_entry(o, entry, file);
    fs_entry_release(entry);
    return error;
}

static uint32_t walk_flags(const struct opening *o)
{
    uint32_t flags = o->walk;

    if ((o->flags & O_TMPFILE) == O_TMPFILE)
        return flags | FS_FOLLOW | FS_DIRECTORY;
    if (o->flags & O_CREAT)
        flags |= FS_MAY_LACK;
    if (!(o->flags & O_NOFOLLOW) && !(o->flags & O_CREAT && o->flags & O_EXCL))
        flags |= FS_FOLLOW;
    if (o->flags & O_DIRECTORY)
        flags |= FS_DIRECTORY;
    return flags;
}

static int64_t open_path(struct opening *o, int64_t directory, const char *path)
{
    struct fs_found found;
    struct file *file = NULL;
    int64_t result = syscall_walk_path(o->thread, directory, path, walk_flags(o), &found);

    if (result)
        return result;
    if ((o->flags & O_TMPFILE) == O_TMPFILE)
        result = open_unnamed(o, &found, &file);
    else
        result = open_found(o, &found, &file);
    if (!result)
        result = files_add_new(o->thread->process, file, o->flags & O_CLOEXEC);
    fs_found_release(&found);
    return result;
}

static int check_flags(uint32_t *flags)
{
    if (*flags & O_PATH)
        *flags &= PATH_FLAGS;
    if (*flags & __O_TMPFILE) {
        if ((*flags & O_TMPFILE) != O_TMPFILE || !(access_wanted(*flags) & W_OK) ||
            *flags & O_CREAT)
            return -EINVAL;
    } else if (*flags & O_CREAT && *flags & O_DIRECTORY) {
        return -EINVAL;
    }
    return 0;
}

static int64_t open_user(struct opening *o, int64_t directory, uint64_t user)
{
    int error = check_flags(&o->flags);
    int64_t result;
    char *path;

    if (error)
        return error;
    path = syscall_path_read(user, &error);
    if (path == NULL)
        return error;
    o->mode &= 07777 & ~o->thread->process->place->umask;
    /* without a free descriptor nothing is created or truncated */
    result = files_room(o->thread->process) ? open_path(o, directory, path) : -EMFILE;
    syscall_path_free(path);
    return result;
}

static int64_t open_at(struct thread *thread, int64_t directory, uint64_t user, uint64_t flags,
                       uint64_t mode)
{
    struct opening o = {
        .thread = thread, .flags = (uint32_t)flags & VALID_FLAGS, .mode = (uint32_t)mode};

    return open_user(&o, directory, user);
}

int64_t syscall_open(struct thread *thread, struct trap_frame *frame)
{
    return open_at(thread, AT_FDCWD, frame->rdi, frame->rsi, frame->rdx);
}

int64_t syscall_openat(struct thread *thread, struct trap_frame *frame)
{
    return open_at(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx, frame->r10);
}

int64_t syscall_creat(struct thread *thread, struct trap_frame *frame)
{
    return open_at(thread, AT_FDCWD, frame->rdi, O_CREAT | O_WRONLY | O_TRUNC, frame->rsi);
}

/* RESOLVE_NO_XDEV changes nothing: there is one file system. */
static uint32_t walk_of(uint64_t resolve)
{
    return (resolve & RESOLVE_NO_SYMLINKS ? FS_NO_LINKS : 0) |
           (resolve & RESOLVE_NO_MAGICLINKS ? FS_NO_JUMPS : 0) |
           (resolve & RESOLVE_BENEATH ? FS_BENEATH : 0) |
           (resolve & RESOLVE_IN_ROOT ? FS_IN_ROOT : 0);
}

static int check_how(const struct open_how *how)
{
    const uint64_t resolves = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS |
                              RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED;

    if (how->flags & ~(uint64_t)VALID_FLAGS || how->resolve & ~resolves ||
        (how->resolve & RESOLVE_BENEATH && how->resolve & RESOLVE_IN_ROOT))
        return -EINVAL;
    if (how->flags & (O_CREAT | __O_TMPFILE) ? how->mode & ~07777ull : how->mode)
        return -EINVAL;
    if (how->flags & O_PATH && how->flags & ~(uint64_t)PATH_FLAGS)
        return -EINVAL;
    return 0;
}

/* Bytes after the known struct must be zeros. */
static int read_how(uint64_t user, uint64_t bytes, struct open_how *how)
{
    uint8_t more;

    if (bytes < sizeof *how)
        return -EINVAL;
    if (bytes > 4096)
        return -E2BIG;
    if (copy_from_user(how, user, sizeof *how) != 0)
        return -EFAULT;
    for (uint64_t i = sizeof *how; i < bytes; i++) {
        if (copy_from_user(&more, user + i, 1) != 0)
            return -EFAULT;
        if (more)
            return -E2BIG;
    }
    return check_how(how);
}

int64_t syscall_openat2(struct thread *thread, struct trap_frame *frame)
{
    struct open_how how;
    int error = read_how(frame->rdx, frame->r10, &how);
    struct opening o = {.thread = thread};

    if (error)
        return error;
    if (how.resolve & RESOLVE_CACHED && how.flags & (O_TRUNC | O_CREAT | __O_TMPFILE))
        return -EAGAIN;
    o.flags = (uint32_t)how.flags;
    o.mode = (uint32_t)how.mode;
    o.walk = walk_of(how.resolve);
    return open_user(&o, (int64_t)frame->rdi, frame->rsi);
}
