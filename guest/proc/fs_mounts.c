/* /dev, /proc, /sys and /tmp. */
#include "guest/proc/fs_mounts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/file/file_device.h"
#include "guest/file/pty.h"
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
    {"/tmp", 01777, true, NULL},         {"/var/tmp", 01777, false, NULL},
    {"/dev", READ_ONLY, true, NULL},     {"/dev/shm", 01777, true, NULL},
    {"/dev/pts", READ_ONLY, true, NULL}, {"/proc", READ_ONLY, true, NULL},
    {"/sys", READ_ONLY, true, NULL},     {MQUEUE_DIRECTORY, 01777, true, &mqueue_file},
};

static const struct device {
    const char *path;
    const struct file_type *type;
} devices[] = {
    {"/dev/null", &file_device_null},      {"/dev/zero", &file_device_zero},
    {"/dev/full", &file_device_full},      {"/dev/random", &file_device_random},
    {"/dev/urandom", &file_device_random}, {"/dev/tty", &file_device_terminal},
    {"/dev/ptmx", &pty_file_master},
};

static const struct link {
    const char *path;
    const char *target;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},          {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},    {"/dev/stderr", "/proc/self/fd/2"},
    {"/proc/mounts", "/proc/self/mounts"},
};

static const struct special {
    const char *path;
    uint32_t mode;
    const struct fs_special *special;
} specials[] = {
    {"/proc/self", S_IFLNK | 0777, &fs_proc_self},
    {"/proc/thread-self", S_IFLNK | 0777, &fs_proc_thread_self},
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

static int add_special(const struct special *special)
{
    struct inode *inode = inode_new(special->mode);

    if (inode != NULL)
        inode->special = special->special;
    return fs_place(special->path, READ_ONLY, inode);
}

/* Gives a directory names that come and go. */
static int add_names(const char *path, const struct fs_special *special)
{
    struct inode *inode;
    int error = fs_find(path, &inode);

    if (!error)
        inode->special = special;
    return error;
}

static void add_generated(const char *name, const struct proc_file *file, uint64_t context,
                          void *argument)
{
    int *result = argument, error = fs_place(name, READ_ONLY, proc_new_file(file, context));

    if (error)
        *result = error;
}

int fs_mount(const struct process *process)
{
    int error = 0;

    fs_kept_start(process);
    for (size_t i = 0; i < ARRAY_COUNT(mounts); i++)
        error |= mount_directory(&mounts[i]);
    for (size_t i = 0; i < ARRAY_COUNT(devices); i++)
        error |= add_device(&devices[i]);
    for (size_t i = 0; i < ARRAY_COUNT(links); i++)
        error |= add_link(&links[i]);
    proc_each(add_generated, &error);
    for (size_t i = 0; i < ARRAY_COUNT(specials); i++)
        error |= add_special(&specials[i]);
    error |= add_names("/proc", &fs_proc_processes);
    error |= add_names("/dev/pts", &fs_pts);
    return error ? -ENOMEM : 0;
}
