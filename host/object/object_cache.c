/* Keeps the ELF files that ran. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/cache.h"
#include "host/object/object_cache.h"
#include "lib/program/elf64.h"

#define PREFIX "object-"
#define NAME_BYTES (sizeof PREFIX + 2ul * OBJECT_CACHE_ID_BYTES_MAX)

bool object_cache_wants(const char *path)
{
    static const char *const system[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/etc/"};

    if (strncmp(path, "/usr/local/", 11) == 0)
        return true;
    for (size_t i = 0; i < sizeof system / sizeof system[0]; i++)
        if (strncmp(path, system[i], strlen(system[i])) == 0)
            return false;
    return true;
}

static bool make_name(const uint8_t *build_id, size_t bytes, char name[NAME_BYTES])
{
    int used = snprintf(name, NAME_BYTES, PREFIX);

    if (bytes < OBJECT_CACHE_ID_BYTES_MIN || bytes > OBJECT_CACHE_ID_BYTES_MAX)
        return false;
    for (size_t i = 0; i < bytes; i++)
        used += snprintf(name + used, NAME_BYTES - (size_t)used, "%02x", build_id[i]);
    return true;
}

/* Makes the name of a file from its build-id; returns false if it has none. */
static bool name_of(int fd, uint64_t bytes, char name[NAME_BYTES])
{
    uint64_t offset, id_bytes;
    char magic[4];
    uint8_t *file;
    bool good;

    if (pread(fd, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, "\177ELF", sizeof magic) != 0)
        return false;
    file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return false;
    good =
        elf64_build_id(file, bytes, &offset, &id_bytes) && make_name(file + offset, id_bytes, name);
    munmap(file, bytes);
    return good;
}

/* Opens a kept file.  Returns -1 if it is missing or not a regular file of the user. */
static int open_kept(int directory, const char *name, struct stat *status)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
        status->st_uid == geteuid()) {
        (void)futimens(fd, NULL); /* the least recently used files are removed first */
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A kept file of another size is damaged, or was stripped since: it is replaced. */
static bool is_kept(int directory, const char *name, uint64_t bytes)
{
    struct stat status;
    int fd = open_kept(directory, name, &status);

    if (fd < 0)
        return false;
    close(fd);
    return (uint64_t)status.st_size == bytes;
}

static void copy_file(int directory, int from, uint64_t bytes, const char *name)
{
    char temporary[64], copied[NAME_BYTES];
    uint64_t number;
    bool good;
    int fd;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return;
    snprintf(temporary, sizeof temporary, PREFIX "new-%016lx", number);
    fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    good = ioctl(fd, FICLONE, from) == 0 || cache_copy(from, 0, bytes, fd) == 0;
    good = good && name_of(fd, bytes, copied) && strcmp(copied, name) == 0; /* not rebuilt since */
    good = close(fd) == 0 && good;
    if (!good || renameat(directory, temporary, directory, name) != 0)
        (void)unlinkat(directory, temporary, 0);
}

void object_cache_begin(struct object_cache *c)
{
    char path[PATH_MAX];

    *c = (struct object_cache){.directory = cache_open(true, path)};
}

void object_cache_keep(struct object_cache *c, const char *path)
{
    char name[NAME_BYTES];
    struct stat status;
    uint64_t bytes;
    int fd = c->directory >= 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

    if (fd < 0)
        return;
    bytes = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (bytes > 0 && bytes <= OBJECT_CACHE_FILE_BYTES_MAX &&
        c->bytes + bytes <= OBJECT_CACHE_BYTES_MAX / 2 && name_of(fd, bytes, name) &&
        !is_kept(c->directory, name, bytes)) {
        copy_file(c->directory, fd, bytes, name);
        c->bytes += bytes;
    }
    close(fd);
}

void object_cache_end(struct object_cache *c)
{
    if (c->bytes > 0)
        cache_evict(c->directory, PREFIX, "", OBJECT_CACHE_BYTES_MAX);
    if (c->directory >= 0)
        close(c->directory);
    c->directory = -1;
}

/* Linkers put the section headers last, so a file that has them is not truncated. */
static bool is_whole(int fd, uint64_t bytes)
{
    Elf64_Ehdr header;

    return pread(fd, &header, sizeof header, 0) == sizeof header && header.e_shoff <= bytes &&
           (uint64_t)header.e_shnum * header.e_shentsize <= bytes - header.e_shoff;
}

int object_cache_open(const uint8_t *build_id, size_t bytes, char path[PATH_MAX])
{
    char directory_path[PATH_MAX], name[NAME_BYTES];
    struct stat status;
    int directory, fd;

    if (!make_name(build_id, bytes, name))
        return -ENOENT;
    directory = cache_open(false, directory_path);
    if (directory < 0)
        return -ENOENT;
    fd = open_kept(directory, name, &status);
    close(directory);
    if (fd >= 0 && is_whole(fd, (uint64_t)status.st_size) &&
        snprintf(path, PATH_MAX, "%s/%s", directory_path, name) < PATH_MAX)
        return fd;
    if (fd >= 0)
        close(fd);
    return -ENOENT;
}
