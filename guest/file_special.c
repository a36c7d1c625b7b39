/* Devices and generated files: /dev, /proc, /sys. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/phys.h"
#include "guest/random.h"
#include "guest/uaccess.h"

#define GENERATED_ORDER 2u /* 16 KiB for a generated file; more if that is too little */

static int64_t read_nothing(struct thread *thread, struct file *file, uint64_t offset,
                            uint64_t user, uint64_t bytes)
{
    (void)thread;
    (void)file;
    (void)offset;
    (void)user;
    (void)bytes;
    return 0;
}

static int64_t read_zeros(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                          uint64_t bytes)
{
    int error = uaccess_zero(user, bytes);

    (void)thread;
    (void)file;
    (void)offset;
    return error ? error : (int64_t)bytes;
}

static int64_t read_random(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                           uint64_t bytes)
{
    (void)thread;
    (void)file;
    (void)offset;
    return random_to_user(user, bytes);
}

static int64_t write_nowhere(struct thread *thread, struct file *file, uint64_t offset,
                             uint64_t user, uint64_t bytes)
{
    (void)thread;
    (void)offset;
    (void)file;
    (void)user;
    return (int64_t)bytes;
}

static int64_t write_full(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                          uint64_t bytes)
{
    (void)thread;
    (void)offset;
    (void)file;
    (void)user;
    return bytes ? -ENOSPC : 0;
}

#define DEVICE(number) .mode = S_IFCHR | 0666, .device = 1 << 8 | (number), .seekable = true

static const struct file_type device_null = {DEVICE(3), .read = read_nothing,
                                             .write = write_nowhere};
static const struct file_type device_zero = {DEVICE(5), .read = read_zeros, .write = write_nowhere};
static const struct file_type device_full = {DEVICE(7), .read = read_zeros, .write = write_full};
static const struct file_type device_random = {DEVICE(9), .read = read_random,
                                               .write = write_nowhere};

static const struct device {
    const char *path;
    const struct file_type *type;
} devices[] = {
    {"/dev/null", &device_null},     {"/dev/zero", &device_zero},      {"/dev/full", &device_full},
    {"/dev/random", &device_random}, {"/dev/urandom", &device_random}, {"/dev/tty", &file_terminal},
};

static const struct alias {
    const char *path;
    int fd;
} aliases[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};

/* The descriptor that a path names, -1: none. */
static int64_t named_descriptor(const char *path)
{
    static const char *const folders[] = {"/proc/self/fd/", "/dev/fd/"};

    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(path, aliases[i].path) == 0)
            return aliases[i].fd;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t bytes = strlen(folders[i]);
        int64_t fd = 0;
        const char *p = path + bytes;

        if (strncmp(path, folders[i], bytes) != 0)
            continue;
        for (; *p >= '0' && *p <= '9' && fd < FILES_MAX; p++)
            fd = fd * 10 + (*p - '0');
        return *p || p == path + bytes ? -1 : fd;
    }
    return -1;
}

static int open_device(struct thread *thread, const struct device *device, uint32_t flags,
                       struct file **file)
{
    uint64_t terminals = 0;

    (void)manifest_number(&thread->process->manifest, "tty", &terminals);
    if (device->type == &file_terminal && !terminals)
        return -ENXIO;
    *file = files_new(thread->process, device->type, flags);
    if (!*file)
        return -ENFILE;
    (*file)->stream = device->type == &file_terminal ? 1 : -1;
    return 1;
}

static int open_generated(struct thread *thread, const char *path, uint32_t flags,
                          struct file **file)
{
    unsigned order = GENERATED_ORDER;
    uint64_t block = phys_alloc(order);
    int64_t bytes;

    if (!block)
        return -ENOMEM;
    bytes = file_proc_generate(thread, path, phys_pointer(block), PAGE_BYTES << order);
    while (bytes == -ENOBUFS && order < PHYS_ORDER_MAX) {
        phys_free(block, order);
        block = phys_alloc(++order);
        if (!block)
            return -ENOMEM;
        bytes =
            file_proc_generate(thread, path, phys_pointer(block), (uint64_t)PAGE_BYTES << order);
    }
    *file = bytes < 0 ? NULL : files_new(thread->process, &file_regular, flags);
    if (!*file) {
        phys_free(block, order);
        return bytes == -ENOENT ? 0 : bytes < 0 ? (int)bytes : -ENFILE;
    }
    (*file)->buffer = block;
    (*file)->buffer_order = order;
    (*file)->data = phys_pointer(block);
    (*file)->bytes = (uint64_t)bytes;
    return 1;
}

int file_special_open(struct thread *thread, const char *path, uint32_t flags, struct file **file)
{
    int64_t fd = named_descriptor(path);
    int result;

    if (fd >= 0) {
        *file = files_get(thread->process, fd);
        return *file ? 1 : -ENOENT;
    }
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strcmp(path, devices[i].path) == 0)
            return open_device(thread, &devices[i], flags, file);
    if (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0)
        return 0;
    result = open_generated(thread, path, flags, file);
    if (result == 1 && (flags & O_ACCMODE) != O_RDONLY) {
        files_discard(*file);
        return -EACCES;
    }
    return result;
}
