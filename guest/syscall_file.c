/* System calls that open, close, duplicate and control files. */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define OPEN_FLAGS_KEPT (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH | O_DIRECTORY | O_LARGEFILE)
#define STATUS_FLAGS_SETTABLE (O_APPEND | O_NONBLOCK | O_NOATIME)

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

int64_t syscall_dup(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    return file ? files_add(thread->process, file, 0, false) : -EBADF;
}

int64_t syscall_dup2(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int32_t fd = (int32_t)frame->rsi;

    if (!file)
        return -EBADF;
    if (fd == (int32_t)frame->rdi)
        return fd;
    return files_put(thread->process, file, fd, false);
}

int64_t syscall_dup3(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    uint32_t flags = (uint32_t)frame->rdx;

    if ((flags & ~(uint32_t)O_CLOEXEC) || (uint32_t)frame->rdi == (uint32_t)frame->rsi)
        return -EINVAL;
    return file ? files_put(thread->process, file, (int32_t)frame->rsi, flags) : -EBADF;
}

int64_t syscall_fcntl(struct thread *thread, struct trap_frame *frame)
{
    struct process *process = thread->process;
    int32_t fd = (int32_t)frame->rdi;
    struct file *file = files_get(process, fd);

    if (!file)
        return -EBADF;
    switch (frame->rsi) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return files_add(process, file, (int32_t)frame->rdx, frame->rsi == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return files_close_on_exec(process, fd) ? FD_CLOEXEC : 0;
    case F_SETFD:
        files_set_close_on_exec(process, fd, frame->rdx & FD_CLOEXEC);
        return 0;
    case F_GETFL:
        return file->flags;
    case F_SETFL:
        file->flags = (file->flags & ~(uint32_t)STATUS_FLAGS_SETTABLE) |
                      ((uint32_t)frame->rdx & STATUS_FLAGS_SETTABLE);
        return 0;
    case F_SETLK: /* nobody else holds a lock */
    case F_SETLKW:
        return 0;
    default:
        return -EINVAL;
    }
}

/* A terminal in its usual state: 38400 baud, echo, line editing. */
static int64_t get_terminal(uint64_t user)
{
    const struct termios state = {.c_iflag = ICRNL | IXON,
                                  .c_oflag = OPOST | ONLCR,
                                  .c_cflag = B38400 | CS8 | CREAD,
                                  .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN,
                                  .c_cc = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26}};

    return copy_to_user(user, &state, sizeof state);
}

static int64_t get_window(const struct process *process, uint64_t user)
{
    uint64_t rows = 24, columns = 80;
    uint16_t size[4] = {0};

    (void)manifest_number(&process->manifest, "rows", &rows);
    (void)manifest_number(&process->manifest, "columns", &columns);
    size[0] = (uint16_t)rows;
    size[1] = (uint16_t)columns;
    return copy_to_user(user, size, sizeof size);
}

static int64_t terminal_control(const struct thread *thread, uint32_t request, uint64_t user)
{
    int32_t group = (int32_t)thread->process->pid;

    switch (request) {
    case TCGETS:
        return get_terminal(user);
    case TIOCGWINSZ:
        return get_window(thread->process, user);
    case TIOCGPGRP:
        return copy_to_user(user, &group, sizeof group);
    case TCSETS: /* the terminal stays as the command's caller has set it */
    case TCSETSW:
    case TCSETSF:
    case TIOCSPGRP:
        return 0;
    default:
        return -ENOTTY;
    }
}

int64_t syscall_ioctl(struct thread *thread, struct trap_frame *frame)
{
    int32_t fd = (int32_t)frame->rdi;
    const struct file *file = files_get(thread->process, fd);
    int32_t available = 0;

    if (!file || (file->flags & O_PATH))
        return -EBADF;
    switch ((uint32_t)frame->rsi) {
    case FIOCLEX:
    case FIONCLEX:
        files_set_close_on_exec(thread->process, fd, (uint32_t)frame->rsi == FIOCLEX);
        return 0;
    case FIONBIO:
        return 0;
    case FIONREAD:
        if (file->type == &file_output || file->type == &file_directory)
            return -ENOTTY;
        if (file->bytes > file->offset)
            available = file->bytes - file->offset > INT32_MAX
                            ? INT32_MAX
                            : (int32_t)(file->bytes - file->offset);
        return copy_to_user(frame->rdx, &available, sizeof available);
    default:
        if (!files_is_terminal(thread->process, file))
            return -ENOTTY;
        return terminal_control(thread, (uint32_t)frame->rsi, frame->rdx);
    }
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
