/* Files that stand for processes. */
#include "guest/file/pidfd.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>

#include "guest/base/context.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/thread/process.h"
#include "guest/vm/uaccess.h"

struct pid_file {
    uint32_t pid; /* 0: none, or it was waited for */
    struct file *file;
    struct pid_file *next; /* in the list of all */
};

static struct pid_file *all;

static uint32_t poll_process(struct thread *, struct file *file)
{
    const struct pid_file *p = file->state;
    const struct process *process = process_find(p->pid);

    return process == NULL || process->state != PROCESS_RUNS ? POLL_READABLE : 0;
}

static void release_process(struct file *file)
{
    struct pid_file *p = file->state, **at = &all;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    heap_free(p, sizeof *p);
}

static const struct file_type file_process = {
    .mode = 0600, .name = "anon_inode:[pidfd]", .poll = poll_process, .release = release_process};

static struct file *new_file(struct thread *thread)
{
    struct pid_file *p = heap_alloc(sizeof *p);
    struct file *file = p != NULL ? files_new(thread->process, &file_process, O_RDWR) : NULL;

    if (file == NULL) {
        heap_free(p, sizeof *p);
        return NULL;
    }
    p->file = file;
    p->next = all;
    all = p;
    file->state = p;
    return file;
}

int64_t pidfd_reserve(struct thread *thread, uint64_t user)
{
    struct file *file = new_file(thread);
    int64_t fd = file != NULL ? files_add_new(thread->process, file, true) : -ENOMEM;
    int32_t number = (int32_t)fd;

    if (fd >= 0 && user && copy_to_user(user, &number, sizeof number) != 0) {
        files_close(thread->process, fd);
        return -EFAULT;
    }
    return fd;
}

void pidfd_name(const struct thread *thread, int64_t fd, uint32_t pid)
{
    struct pid_file *p = files_get(thread->process, fd)->state;

    p->pid = pid;
}

int64_t pidfd_pid(const struct file *file)
{
    return file != NULL && file->type == &file_process
               ? (int64_t)((const struct pid_file *)file->state)->pid
               : -EBADF;
}

void pidfd_process_ended(uint32_t pid)
{
    cross_assert_held();
    for (struct pid_file *p = all; p != NULL; p = p->next)
        if (p->pid == pid)
            poll_changed(p->file, POLL_READABLE);
}

void pidfd_process_gone(uint32_t pid)
{
    for (struct pid_file *p = all; p != NULL; p = p->next)
        if (p->pid == pid)
            p->pid = 0;
}
