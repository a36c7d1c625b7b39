/* System calls that open and close files. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define OPEN_FLAGS_KEPT (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH | O_DIRECTORY | O_LARGEFILE)

static int check_node(const struct fs_node *node, uint32_t flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);

    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return -EEXIST;
    if (S_ISLNK(node->mode) && !(flags & O_PATH))
        return -ELOOP;
    if (S_ISDIR(node->mode) && (writes || (flags & O_CREAT)))
        return -EISDIR;
    if (!S_ISDIR(node->mode) && (flags & O_DIRECTORY))
        return -ENOTDIR;
    if (!S_ISDIR(node->mode) && !S_ISREG(node->mode) && !(flags & O_PATH))
        return -ENXIO;
    return writes ? -EROFS : 0;
}

static int open_node(struct thread *thread, const struct syscall_path *p, uint32_t flags,
                     struct file **file)
{
    const struct fs_node *node;
    int error = fs_find_link(p->base, p->path, !(flags & O_NOFOLLOW), &node);

    if (error == -ENOENT && (flags & O_CREAT) && p->path[0])
        return -EROFS;
    if (!error)
        error = check_node(node, flags);
    if (error)
        return error;
    *file = files_new(thread->process, S_ISDIR(node->mode) ? &file_directory : &file_regular,
                      flags & OPEN_FLAGS_KEPT);
    if (!*file)
        return -ENFILE;
    (*file)->node = node;
    if (!S_ISDIR(node->mode)) {
        (*file)->data = node->data;
        (*file)->bytes = node->bytes;
    }
    return 0;
}

/* /proc/self/exe is the program. */
static void resolve_program(const struct thread *thread, struct syscall_path *p)
{
    const char *name = manifest_text(&thread->process->manifest, "program", "");

    if (strcmp(p->path, "/proc/self/exe") == 0 && strlen(name) + 2 <= sizeof p->path)
        memcpy(p->path + 1, name, strlen(name) + 1);
}

static int64_t open_path(struct thread *thread, int64_t directory, uint64_t user, uint32_t flags)
{
    struct syscall_path *p;
    struct file *file;
    int64_t fd;
    int result;

    if ((flags & O_TMPFILE) == O_TMPFILE)
        return -EROFS;
    result = syscall_path_read(thread, directory, user, &p);
    if (result < 0)
        return result;
    resolve_program(thread, p);
    result = file_special_open(thread, p->path, flags & OPEN_FLAGS_KEPT, &file);
    if (result == 0)
        result = open_node(thread, p, flags, &file);
    syscall_path_free(p);
    if (result < 0)
        return result;
    fd = files_add(thread->process, file, 0, flags & O_CLOEXEC);
    if (fd < 0)
        files_discard(file);
    return fd;
}

int64_t syscall_open(struct thread *thread, struct trap_frame *frame)
{
    return open_path(thread, AT_FDCWD, frame->rdi, (uint32_t)frame->rsi);
}

int64_t syscall_openat(struct thread *thread, struct trap_frame *frame)
{
    return open_path(thread, (int64_t)frame->rdi, frame->rsi, (uint32_t)frame->rdx);
}

int64_t syscall_creat(struct thread *thread, struct trap_frame *frame)
{
    return open_path(thread, AT_FDCWD, frame->rdi, O_CREAT | O_WRONLY | O_TRUNC);
}

int64_t syscall_close(struct thread *thread, struct trap_frame *frame)
{
    return files_close(thread->process, (int32_t)frame->rdi);
}

/* What would change the archive. */
int64_t syscall_read_only(struct thread *thread, struct trap_frame *frame)
{
    (void)thread;
    (void)frame;
    return -EROFS;
}

/* What would change an open file: none is open for that. */
int64_t syscall_fd_read_only(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    if (!file)
        return -EBADF;
    return file->node ? -EROFS : -EINVAL;
}

int64_t syscall_fd_nothing(struct thread *thread, struct trap_frame *frame)
{
    return files_get(thread->process, (int32_t)frame->rdi) ? 0 : -EBADF;
}

int64_t syscall_umask(struct thread *thread, struct trap_frame *frame)
{
    uint32_t old = thread->process->umask;

    thread->process->umask = (uint32_t)frame->rdi & 0777;
    return old;
}
