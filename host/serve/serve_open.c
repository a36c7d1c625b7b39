/* Finds files below the root without following links, and says what they are. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/serve/serve_task.h"

#define NS_PER_S 1000000000ull
#define ACCESS_SHIFT 6 /* of the owner's bits */

/* A final link is opened itself. */
static int open_beneath(int directory, const char *path)
{
    const struct open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);

    return fd >= 0 ? fd : -errno;
}

static uint64_t nanoseconds(const struct timespec *time)
{
    return time->tv_sec > 0 ? (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec : 0;
}

int serve_stat(int fd, struct serve_file *file)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return -errno;
    *file = (struct serve_file){
        .device = status.st_dev,
        .inode = status.st_ino,
        .bytes = S_ISDIR(status.st_mode) ? 0 : (uint64_t)status.st_size,
        .modified = nanoseconds(&status.st_mtim),
        .changed = nanoseconds(&status.st_ctim),
        .mode = status.st_mode,
    };
    return 0;
}

/* What else became of a path that was told, such as a link in the place of a directory, means that
 * it has changed. */
int serve_open(int root, const char *path, const struct serve_file *expected)
{
    int fd = open_beneath(root, path);
    struct serve_file now;
    int error;

    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? -ESTALE : fd;
    error = serve_stat(fd, &now);
    if (error == 0 && serve_nodes_is_same(expected, &now))
        return fd;
    close(fd);
    return error != 0 ? error : -ESTALE;
}

/* The kernel's own file systems: reading there may do things, and their contents are no files. */
static bool is_kernels(int fd)
{
    static const uint32_t types[] = {
        PROC_SUPER_MAGIC,        SYSFS_MAGIC,   DEBUGFS_MAGIC,      TRACEFS_MAGIC,
        SECURITYFS_MAGIC,        SELINUX_MAGIC, SMACK_MAGIC,        CGROUP_SUPER_MAGIC,
        CGROUP2_SUPER_MAGIC,     BPF_FS_MAGIC,  BINFMTFS_MAGIC,     EFIVARFS_MAGIC,
        PSTOREFS_MAGIC,          NSFS_MAGIC,    DEVPTS_SUPER_MAGIC, 0x62656570 /* configfs */,
        0x19800202 /* mqueue */,
    };
    struct statfs status;

    if (fstatfs(fd, &status) != 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((uint32_t)status.f_type == types[i])
            return true;
    return false;
}

/* The kernel decides, because it knows capabilities, lists and mounts. */
static void put_access(int fd, struct serve_file *file)
{
    static const int modes[] = {R_OK, W_OK, X_OK};
    uint32_t allowed = 0;

    if (S_ISLNK(file->mode))
        return;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (syscall(SYS_faccessat2, fd, "", modes[i], AT_EACCESS | AT_EMPTY_PATH) == 0)
            allowed |= (uint32_t)modes[i];
    file->mode = (file->mode & ~(uint32_t)S_IRWXU) | allowed << ACCESS_SHIFT;
}

static int examine(int fd, dev_t device, struct serve_file *file,
                   char target[RUN_SERVE_TARGET_MAX + 1], uint16_t *target_bytes)
{
    int error = serve_stat(fd, file);
    ssize_t count;

    *target_bytes = 0;
    if (error != 0)
        return error;
    if (!S_ISDIR(file->mode) && !S_ISREG(file->mode) && !S_ISLNK(file->mode))
        return -ENOENT;
    if (file->device != device && is_kernels(fd))
        return -ENOENT;
    put_access(fd, file);
    if (!S_ISLNK(file->mode))
        return 0;
    count = readlinkat(fd, "", target, RUN_SERVE_TARGET_MAX + 1);
    if (count < 0 || count > (ssize_t)RUN_SERVE_TARGET_MAX)
        return count < 0 ? -errno : -ENAMETOOLONG;
    *target_bytes = (uint16_t)count;
    return 0;
}

int serve_examine(int directory, dev_t device, const char *name, struct serve_file *file,
                  char target[RUN_SERVE_TARGET_MAX + 1], uint16_t *target_bytes)
{
    int fd = open_beneath(directory, name);
    int error = fd < 0 ? fd : examine(fd, device, file, target, target_bytes);

    if (fd >= 0)
        close(fd);
    return error;
}

int serve_task_examine_root(int fd, struct serve_file *root)
{
    int self = open_beneath(fd, ".");
    int error = self < 0 ? self : serve_stat(self, root);

    if (error == 0 && is_kernels(self))
        error = -EINVAL;
    if (error == 0)
        put_access(self, root);
    if (self >= 0)
        close(self);
    return error;
}

bool serve_task_is_guests(bool in_root, const char *name)
{
    return in_root &&
           (strcmp(name, "proc") == 0 || strcmp(name, "sys") == 0 || strcmp(name, "dev") == 0);
}
