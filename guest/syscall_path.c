/* Reads path arguments of system calls. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>

#include "guest/files.h"
#include "guest/phys.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define PATH_ORDER 1u
_Static_assert(sizeof(struct syscall_path) <= (size_t)PAGE_BYTES << PATH_ORDER, "one block");

static int read_base(const struct thread *thread, int64_t directory, struct syscall_path *p)
{
    const struct file *file;
    size_t bytes;

    if (p->path[0] == '/' || (int32_t)directory == AT_FDCWD) {
        memcpy(p->base, thread->process->cwd, strlen(thread->process->cwd) + 1);
        return 0;
    }
    file = files_get(thread->process, (int32_t)directory);
    if (!file)
        return -EBADF;
    if (file->type != &file_directory)
        return p->path[0] ? -ENOTDIR : 0;
    bytes = strlen(file->node->name);
    if (bytes + 2 > sizeof p->base)
        return -ENAMETOOLONG;
    p->base[0] = '/';
    memcpy(p->base + 1, file->node->name, bytes + 1);
    return 0;
}

int syscall_path_read(struct thread *thread, int64_t directory, uint64_t user,
                      struct syscall_path **p)
{
    uint64_t block = phys_alloc(PATH_ORDER);
    int result;

    if (!block)
        return -ENOMEM;
    *p = phys_pointer(block);
    (*p)->base[0] = '\0';
    result = copy_string_from_user((*p)->path, user, sizeof(*p)->path);
    if (result >= 0)
        result = read_base(thread, directory, *p);
    if (result < 0)
        syscall_path_free(*p);
    return result;
}

void syscall_path_free(struct syscall_path *p)
{
    phys_free((uint64_t)p - DIRECT_MAP, PATH_ORDER);
}
