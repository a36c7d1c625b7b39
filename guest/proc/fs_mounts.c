/* /dev, /proc, /sys and /tmp. */
#include "guest/proc/fs_mounts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/file/file_device.h"
#include "guest/fs/fs_kept.h"
#include "guest/ipc/mqueue.h"
#include "guest/proc/proc.h"
#include "lib/array.h"

#define READ_ONLY 0555u /* directories that the program cannot change */

static const struct mount {
    const char *path;
    uint32_t mode;
    bool fixed; /* it cannot be removed or renamed */
    const struct file_type *type; /* of what is in it; NULL: any */
} mounts[] = {
    {"/tmp", 01777, true, NULL},
    {"/var/tmp", 01777, false, NULL},
    {"/dev", READ_ONLY, true, NULL},
    {"/dev/shm", 01777, true, NULL},
    {"/proc", READ_ONLY, true, NULL},
    {"/sys", READ_ONLY, true, NULL},
    {MQUEUE_DIRECTORY, 01777, true, &mqueue_file},
};

static const struct device {
    const char *path;
    const struct file_type *type;
} devices[] = {
    {"/dev/null", &file_device_null},      {"/dev/zero", &file_device_zero},
    {"/dev/full", &file_device_full},      {"/dev/random", &file_device_random},
    {"/dev/urandom", &file_device_random}, {"/dev/tty", &file_device_terminal},
};

static const struct link {
    const char *path;
    const char *target;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},          {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},    {"/dev/stderr", "/proc/self/fd/2"},
    {"/proc/mounts", "/proc/self/mounts"},
};

static const struct special { /* a relative path is in the process's directory */
    const char *path;
    uint32_t mode;
    const struct fs_special *special;
} specials[] = {
    {"/proc/self", S_IFLNK | 0777, &fs_proc_self},
    {"/proc/thread-self", S_IFLNK | 0777, &fs_proc_thread_self},
    {"exe", S_IFLNK | 0777, &fs_proc_program},
    {"cwd", S_IFLNK | 0777, &fs_proc_directory},
    {"root", S_IFLNK | 0777, &fs_proc_root},
    {"task", S_IFDIR | READ_ONLY, &fs_proc_tasks},
    {"fd", S_IFDIR | 0500, &fs_proc_descriptors},
    {"fdinfo", S_IFDIR | READ_ONLY, &fs_proc_descriptor_notes},
};

static int mount_directory(const struct mount *mount)
{
    struct inode *inode;
    int error = fs_make_directories(mount->path, mount->mode);

    if (!error)
        error = fs_find(mount->path, &inode);
    if (error)
        return error;
    inode->mode = S_IFDIR | mount->mode;
    inode->mount = mount->fixed;
    inode->type = mount->type;
    inode->temporary = mount->mode == 01777;
    if (mount->mode == READ_ONLY)
        inode->served = INODE_NOT_SERVED; /* what is below it, too */
    return 0;
}

static int add_device(const struct device *device)
{
    struct inode *inode = inode_new(device->type->mode);

    if (inode != NULL) {
        inode->device = device->type->device;
        inode->type = device->type;
    }
    return fs_place(device->path, READ_ONLY, inode);
}

static int add_link(const struct link *link)
{
    struct inode *inode = inode_new(S_IFLNK | 0777);

    if (inode != NULL) {
        inode->target = link->target;
        inode->bytes = strlen(link->target);
    }
    return fs_place(link->path, READ_ONLY, inode);
}

/* Writes the absolute path of a name in the process's directory. */
static void path_of(const struct process *process, const char *name, char path[128])
{
    if (*name == '/')
        format_text(path, 128, "%s", name);
    else
        format_text(path, 128, "/proc/%u/%s", process->pid, name);
}

static int add_special(const struct process *process, const struct special *special)
{
    struct inode *inode =
        S_ISDIR(special->mode) ? fs_new_directory(special->mode & 07777) : inode_new(special->mode);
    char path[128];

    path_of(process, special->path, path);
    if (inode != NULL)
        inode->special = special->special;
    return fs_place(path, READ_ONLY, inode);
}

struct addition {
    const struct process *process;
    int error;
};

static void add_generated(const char *name, const struct proc_file *file, uint64_t context,
                          void *argument)
{
    struct addition *addition = argument;
    char path[128];
    int error;

    path_of(addition->process, name, path);
    error = fs_place(path, READ_ONLY, proc_new_file(file, context));
    if (error)
        addition->error = error;
}

int fs_mount(const struct process *process)
{
    struct addition addition = {.process = process};

    fs_kept_start(process);
    for (size_t i = 0; i < ARRAY_COUNT(mounts); i++)
        addition.error |= mount_directory(&mounts[i]);
    for (size_t i = 0; i < ARRAY_COUNT(devices); i++)
        addition.error |= add_device(&devices[i]);
    for (size_t i = 0; i < ARRAY_COUNT(links); i++)
        addition.error |= add_link(&links[i]);
    proc_each(add_generated, &addition);
    proc_each_of_process(add_generated, &addition);
    for (size_t i = 0; i < ARRAY_COUNT(specials); i++)
        addition.error |= add_special(process, &specials[i]);
    return addition.error ? -ENOMEM : 0;
}
