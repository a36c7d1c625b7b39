/* System calls for directories and symbolic links. */
#include <errno.h>
#include <linux/fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/log.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define ENTRY_NAME_MAX 255u

struct directory_entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[ENTRY_NAME_MAX + 8];
};

int64_t syscall_getcwd(struct thread *thread, struct trap_frame *frame)
{
    uint64_t bytes = strlen(thread->process->cwd) + 1;
    int error;

    if (frame->rsi < bytes)
        return -ERANGE;
    error = copy_to_user(frame->rdi, thread->process->cwd, bytes);
    return error ? error : (int64_t)bytes;
}

static int enter(struct process *process, const struct fs_node *node)
{
    size_t bytes = strlen(node->name);

    if (!S_ISDIR(node->mode))
        return -ENOTDIR;
    if (bytes + 2 > sizeof process->cwd)
        return -ENAMETOOLONG;
    process->cwd[0] = '/';
    memcpy(process->cwd + 1, node->name, bytes + 1);
    return 0;
}

int64_t syscall_chdir(struct thread *thread, struct trap_frame *frame)
{
    const struct fs_node *node;
    struct syscall_path *p;
    int result = syscall_path_read(thread, AT_FDCWD, frame->rdi, &p);

    if (result < 0)
        return result;
    result = fs_find(p->base, p->path, &node);
    syscall_path_free(p);
    return result ? result : enter(thread->process, node);
}

int64_t syscall_fchdir(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    if (!file)
        return -EBADF;
    return file->node ? enter(thread->process, file->node) : -ENOTDIR;
}

/* Positions: 0 is ".", 1 is "..", from 2 on the archive's nodes. */
static bool next_entry(struct file *file, struct directory_entry *entry)
{
    const struct fs_node *node = file->node;
    uint64_t position;
    const char *name;

    memset(entry, 0, sizeof *entry);
    if (file->offset < 2) {
        name = file->offset ? ".." : ".";
        file->offset++;
    } else {
        position = file->offset - 2;
        node = fs_next_child(file->node, &position);
        if (!node)
            return false;
        file->offset = position + 2;
        name = fs_base_name(node);
    }
    entry->inode = node->inode;
    entry->next = (int64_t)file->offset;
    entry->type = (uint8_t)(node->mode >> 12);
    format_text(entry->name, ENTRY_NAME_MAX + 1, "%s", name);
    entry->bytes =
        (uint16_t)((offsetof(struct directory_entry, name) + strlen(entry->name) + 1 + 7) & ~7ul);
    return true;
}

int64_t syscall_getdents64(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    uint64_t room = (uint32_t)frame->rdx, used = 0;
    struct directory_entry entry;

    if (!file)
        return -EBADF;
    if (file->type != &file_directory)
        return -ENOTDIR;
    for (;;) {
        uint64_t before = file->offset;

        if (!next_entry(file, &entry))
            return (int64_t)used;
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

static int64_t put_link(uint64_t user, uint64_t room, const void *text, uint64_t bytes)
{
    int error;

    if (bytes > room)
        bytes = room;
    error = copy_to_user(user, text, bytes);
    return error ? error : (int64_t)bytes;
}

static int64_t read_link(struct thread *thread, int64_t directory, uint64_t path, uint64_t to,
                         uint64_t room)
{
    const char *program = thread->process->program_path;
    const struct fs_node *node;
    struct syscall_path *p;
    int64_t result;

    if ((int32_t)room <= 0)
        return -EINVAL;
    result = syscall_path_read(thread, directory, path, &p);
    if (result < 0)
        return result;
    if (strcmp(p->path, "/proc/self/exe") == 0) {
        result = put_link(to, room, program, strlen(program));
    } else {
        result = fs_find_link(p->base, p->path, false, &node);
        if (!result)
            result = S_ISLNK(node->mode) ? put_link(to, room, node->data, node->bytes) : -EINVAL;
    }
    syscall_path_free(p);
    return result;
}

int64_t syscall_readlink(struct thread *thread, struct trap_frame *frame)
{
    return read_link(thread, AT_FDCWD, frame->rdi, frame->rsi, frame->rdx);
}

int64_t syscall_readlinkat(struct thread *thread, struct trap_frame *frame)
{
    return read_link(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx, frame->r10);
}
