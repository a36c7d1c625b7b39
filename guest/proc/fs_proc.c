/* The files of /proc that appear and disappear with processes and threads. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/file/files.h"
#include "guest/proc/fs_mounts.h"
#include "guest/proc/fs_proc.h"
#include "guest/proc/proc.h"
#include "guest/thread/threads.h"
#include "lib/array.h"

/* ---- links */

static int64_t self_text(struct thread *thread, const struct inode *, char *out, uint64_t room)
{
    return format_text(out, room, "%u", thread->process->pid);
}

static int64_t thread_self_text(struct thread *thread, const struct inode *, char *out,
                                uint64_t room)
{
    return format_text(out, room, "%u/task/%u", thread->process->pid, thread->tid);
}

static int64_t program_text(struct thread *, const struct inode *inode, char *out, uint64_t room)
{
    const struct process *process = proc_process(inode);
    uint64_t bytes;

    if (process == NULL || process->program == NULL)
        return -ENOENT;
    if (!process->program->elsewhere)
        return fs_proc_entry_text(process->program->entry, out, room);
    bytes = strnlen(process->program->path, room);
    memcpy(out, process->program->path, bytes);
    return (int64_t)bytes;
}

static int lead_to(struct fs_entry *target, struct fs_entry **entry)
{
    fs_entry_hold(target);
    *entry = target;
    return 0;
}

static int follow_program(struct thread *, const struct inode *inode, struct fs_entry **entry,
                          struct file **)
{
    const struct process *process = proc_process(inode);

    return process != NULL && process->program != NULL ? lead_to(process->program->entry, entry)
                                                       : -ENOENT;
}

static int64_t directory_text(struct thread *, const struct inode *inode, char *out, uint64_t room)
{
    const struct process *process = proc_process(inode);

    if (process == NULL || process->place == NULL)
        return -ENOENT;
    return fs_proc_entry_text(process->place->directory, out, room);
}

static int follow_directory(struct thread *, const struct inode *inode, struct fs_entry **entry,
                            struct file **)
{
    const struct process *process = proc_process(inode);

    return process != NULL && process->place != NULL ? lead_to(process->place->directory, entry)
                                                     : -ENOENT;
}

static int64_t root_text(struct thread *, const struct inode *, char *out, uint64_t room)
{
    return format_text(out, room, "/");
}

static int follow_root(struct thread *, const struct inode *, struct fs_entry **entry,
                       struct file **)
{
    return lead_to(fs_root, entry);
}

/* ---- a process's directory, and that of a thread */

static const struct fs_special program_link = {.text = program_text, .follow = follow_program};
static const struct fs_special directory_link = {.text = directory_text,
                                                 .follow = follow_directory};
static const struct fs_special root_link = {.text = root_text, .follow = follow_root};
static const struct fs_special tasks;

static const struct special {
    const char *name;
    uint32_t mode;
    const struct fs_special *special;
    bool of_process; /* and not of a thread */
} specials[] = {
    {"exe", S_IFLNK | 0777, &program_link, false},
    {"cwd", S_IFLNK | 0777, &directory_link, false},
    {"root", S_IFLNK | 0777, &root_link, false},
    {"fd", S_IFDIR | 0500, &fs_proc_descriptors, false},
    {"fdinfo", S_IFDIR | 0555, &fs_proc_descriptor_notes, false},
    {"task", S_IFDIR | 0555, &tasks, true},
};

struct search { /* searches the files of a process's directory: by name, or for the next one */
    const char *name;
    uint64_t position;
    uint64_t visited;
    const struct proc_file *file;
};

static void compare(const char *name, const struct proc_file *file, uint64_t /* context */,
                    void *argument)
{
    struct search *search = argument;
    bool wanted = search->name != NULL ? strcmp(name, search->name) == 0
                                       : search->visited == search->position;

    if (wanted && search->file == NULL)
        search->file = file;
    search->visited++;
}

/* Returns the special file of a name or, without one, at a position; NULL: none. */
static const struct special *find_special(const struct inode *directory, const char *name,
                                          uint64_t position)
{
    for (size_t i = 0; i < ARRAY_COUNT(specials); i++)
        if ((name != NULL ? strcmp(specials[i].name, name) == 0 : i == position) &&
            !(specials[i].of_process && (uint32_t)directory->context))
            return &specials[i];
    return NULL;
}

static struct inode *new_special(const struct special *special, const struct inode *directory)
{
    struct inode *inode =
        S_ISDIR(special->mode) ? fs_new_directory(special->mode & 07777) : inode_new(special->mode);

    if (inode != NULL)
        inode->special = special->special;
    return fs_proc_numbered(inode, FS_PROC_SPECIAL + (uint32_t)(special - specials),
                            directory->context);
}

static struct inode *find_file(struct thread *, const struct inode *directory, const char *name)
{
    struct search search = {.name = name};
    const struct special *special = find_special(directory, name, 0);
    struct inode *inode;

    if (special != NULL)
        return new_special(special, directory);
    proc_each_of_process(compare, &search);
    if (search.file == NULL)
        return NULL;
    inode = proc_new_file(search.file, directory->context);
    if (inode != NULL)
        inode->links = 1;
    return inode;
}

static bool list_files(struct thread *, const struct inode *directory, uint64_t *position,
                       struct fs_listed *listed)
{
    struct search search = {.position = *position};
    uint64_t number = directory->number << 8 | (uint8_t)*position;
    const struct special *special;

    proc_each_of_process(compare, &search);
    if (search.file != NULL) {
        *listed = (struct fs_listed){search.file->name, number, S_IFREG};
        ++*position;
        return true;
    }
    special = find_special(directory, NULL, *position - search.visited);
    if (special == NULL)
        return false;
    *listed = (struct fs_listed){special->name, number, special->mode};
    ++*position;
    return true;
}

static const struct fs_special own = {.lookup = find_file, .list = list_files};

static struct inode *new_own(enum fs_proc_kind kind, uint64_t context)
{
    struct inode *inode = fs_new_directory(0555);

    if (inode != NULL)
        inode->special = &own;
    return fs_proc_numbered(inode, kind, context);
}

/* ---- /proc/PID/task */

static struct inode *find_task(struct thread *, const struct inode *directory, const char *name)
{
    uint32_t tid = fs_proc_number(name);
    const struct thread *thread = tid != UINT32_MAX ? threads_find(tid) : NULL;

    return thread != NULL && thread->process == proc_process(directory)
               ? new_own(FS_PROC_TASK, directory->context | tid)
               : NULL;
}

/* Finds the thread with the lowest number above `above`; tid 0: none. */
struct lowest {
    uint32_t above;
    uint32_t tid;
};

static void keep_lowest(struct thread *thread, void *context)
{
    struct lowest *lowest = context;

    if (thread->tid > lowest->above && (!lowest->tid || thread->tid < lowest->tid))
        lowest->tid = thread->tid;
}

static bool list_tasks(struct thread *, const struct inode *directory, uint64_t *position,
                       struct fs_listed *listed)
{
    struct lowest lowest = {.above = (uint32_t)*position};
    const struct process *process = proc_process(directory);

    if (process != NULL)
        threads_each(process, keep_lowest, &lowest);
    if (!lowest.tid)
        return false;
    *position = lowest.tid;
    return fs_proc_list(FS_PROC_TASK, directory->context | lowest.tid, lowest.tid, S_IFDIR, listed);
}

static const struct fs_special tasks = {.lookup = find_task, .list = list_tasks};

/* ---- /proc */

static struct inode *find_process(struct thread *, const struct inode *, const char *name)
{
    uint32_t pid = fs_proc_number(name);

    return pid != UINT32_MAX && process_find(pid) != NULL
               ? new_own(FS_PROC_PROCESS, (uint64_t)pid << 32)
               : NULL;
}

static bool list_processes(struct thread *, const struct inode *, uint64_t *position,
                           struct fs_listed *listed)
{
    uint32_t pid = 0;

    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p))
        if (p->pid > *position && (!pid || p->pid < pid))
            pid = p->pid;
    if (!pid)
        return false;
    *position = pid;
    return fs_proc_list(FS_PROC_PROCESS, (uint64_t)pid << 32, pid, S_IFDIR, listed);
}

const struct fs_special fs_proc_self = {.text = self_text};
const struct fs_special fs_proc_thread_self = {.text = thread_self_text};
const struct fs_special fs_proc_processes = {.lookup = find_process, .list = list_processes};
