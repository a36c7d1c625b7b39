/* System calls for the working directory and for what is in directories. */
#include <errno.h>
#include <linux/fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/memory/phys.h"
#include "guest/syscall/file/syscall_path.h"
#include "guest/vm/uaccess.h"

struct directory_entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[FS_NAME_MAX + 8];
};

int64_t syscall_getcwd(struct thread *thread, struct trap_frame *frame)
{
    uint64_t block = phys_alloc(0);
    char *path = block ? phys_pointer(block) : NULL;
    int64_t bytes;
    bool gone;

    if (path == NULL)
        return -ENOMEM;
    bytes = fs_path(thread->process->place->directory, path, PAGE_BYTES, &gone);
    if (bytes >= 0) {
        bytes++;
        if (gone)
            bytes = -ENOENT;
        else if (frame->rsi < (uint64_t)bytes)
            bytes = -ERANGE;
        else if (copy_to_user(frame->rdi, path, (uint64_t)bytes) != 0)
            bytes = -EFAULT;
    }
    phys_free(block, 0);
    return bytes;
}

static int directory_enter(struct process *process, struct fs_entry *entry)
{
    int error;

    if (!S_ISDIR(entry->inode->mode))
        return -ENOTDIR;
    error = fs_permission(entry->inode, X_OK);
    if (error)
        return error;
    fs_entry_hold(entry);
    fs_entry_release(process->place->directory);
    process->place->directory = entry;
    return 0;
}

int64_t syscall_chdir(struct thread *thread, struct trap_frame *frame)
{
    struct fs_found found;
    int error = syscall_walk(thread, AT_FDCWD, frame->rdi, FS_FOLLOW | FS_DIRECTORY, &found);

    if (error)
        return error;
    error = directory_enter(thread->process, found.entry);
    fs_found_release(&found);
    return error;
}

int64_t syscall_fchdir(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    if (file == NULL)
        return -EBADF;
    return file->entry != NULL ? directory_enter(thread->process, file->entry) : -ENOTDIR;
}

/* Positions: 0 is ".", 1 is "..", from 2 on the directory's own. */
static bool next_entry(struct thread *thread, struct file *file, struct directory_entry *entry)
{
    struct fs_listed listed = {".", file->inode->number, file->inode->mode};
    uint64_t position;
    size_t bytes;

    if (file->offset < 2) {
        if (file->offset)
            listed = (struct fs_listed){"..", file->entry->parent->inode->number, S_IFDIR};
        file->offset++;
    } else {
        position = file->offset - 2;
        if (!fs_list(thread, file->entry, &position, &listed))
            return false;
        file->offset = position + 2;
    }
    memset(entry, 0, sizeof *entry);
    bytes = strnlen(listed.name, FS_NAME_MAX);
    entry->inode = listed.number;
    entry->next = (int64_t)file->offset;
    entry->type = (uint8_t)(listed.mode >> 12 & 15);
    memcpy(entry->name, listed.name, bytes);
    entry->bytes = (uint16_t)((offsetof(struct directory_entry, name) + bytes + 1 + 7) & ~7ul);
    return true;
}

/* The old getdents: the type is in the last byte, and the name begins where the type would be. */
static void make_old(struct directory_entry *entry)
{
    uint8_t type = entry->type;
    size_t start = offsetof(struct directory_entry, type);
    size_t bytes = strlen(entry->name);

    memmove((uint8_t *)entry + start, entry->name, bytes + 1);
    memset((uint8_t *)entry + start + bytes + 1, 0, sizeof *entry - start - bytes - 1);
    entry->bytes = (uint16_t)((start + bytes + 2 + 7) & ~7ul);
    ((uint8_t *)entry)[entry->bytes - 1] = type;
}

static int64_t directory_list(struct thread *thread, const struct trap_frame *frame, bool old)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    uint64_t room = (uint32_t)frame->rdx, used = 0;
    struct directory_entry entry;

    if (file == NULL || file->flags & O_PATH)
        return -EBADF;
    if (file->type != &file_directory)
        return -ENOTDIR;
    if (!file->inode->links)
        return -ENOENT; /* the directory was removed */
    for (;;) {
        uint64_t before = file->offset;

        if (!next_entry(thread, file, &entry))
            return (int64_t)used;
        if (old)
            make_old(&entry);
        if (entry.bytes > room - used) {
            file->offset = before;
            return used ? (int64_t)used : -EINVAL;
        }
        if (copy_to_user(frame->rsi + used, &entry, entry.bytes) != 0) {
            file->offset = before;
            return used ? (int64_t)used : -EFAULT;
        }
        used += entry.bytes;
    }
}

int64_t syscall_getdents64(struct thread *thread, struct trap_frame *frame)
{
    return directory_list(thread, frame, false);
}

int64_t syscall_getdents(struct thread *thread, struct trap_frame *frame)
{
    return directory_list(thread, frame, true);
}
