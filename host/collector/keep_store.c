/* Writes a guest's files below one directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collector/keep_store.h"

#include "host/base/transfer.h"

#define NAME_BYTES 24 /* of a temporary file */
#define NS_PER_S 1000000000u
#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Performs mkdtemp below a descriptor. */
static int make_temporary(struct keep_store *s)
{
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(s->temporary_name, sizeof s->temporary_name, KEEP_STORE_PREFIX "%03u", i);
        if (mkdirat(s->directory, s->temporary_name, 0700) == 0) {
            s->temporary = openat(s->directory, s->temporary_name, OPEN_DIRECTORY);
            return s->temporary >= 0 ? 0 : -errno;
        }
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

/* Reads the umask without changing it, because other threads create files, too. */
static unsigned int read_mask(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    unsigned int mask = S_IWGRP | S_IWOTH;
    char line[256];

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Umask:", 6) == 0)
            mask = (unsigned int)strtoul(line + 6, NULL, 8) & 0777;
    if (file != NULL)
        fclose(file);
    return mask;
}

int keep_store_open(struct keep_store *s, const char *directory, uint64_t bytes_max)
{
    *s = (struct keep_store)KEEP_STORE_CLOSED;
    s->bytes_max = bytes_max;
    s->mask = read_mask();
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return -errno;
    s->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s->directory >= 0 ? make_temporary(s) : -errno;
}

static void close_file(struct keep_store *s)
{
    if (s->file >= 0)
        close(s->file);
    s->file = -1;
}

void keep_store_drop_unnamed(struct keep_store *s)
{
    int copy = s->temporary >= 0 ? openat(s->temporary, ".", OPEN_DIRECTORY) : -1;
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;

    close_file(s);
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        (void)unlinkat(s->temporary, entry->d_name, 0);
    if (directory != NULL)
        closedir(directory);
    else if (copy >= 0)
        close(copy);
    s->pending = 0;
}

void keep_store_close(struct keep_store *s)
{
    close_file(s);
    if (s->temporary >= 0) {
        close(s->temporary);
        (void)unlinkat(s->directory, s->temporary_name, AT_REMOVEDIR);
    }
    if (s->directory >= 0)
        close(s->directory);
    s->directory = s->temporary = -1;
}

static void file_name(uint64_t id, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%lu", id);
}

static uint64_t bytes_on_disk(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
}

static int open_file(struct keep_store *s, uint64_t id)
{
    char name[NAME_BYTES];
    bool is_new = false;

    if (s->file >= 0 && s->file_id == id)
        return 0;
    close_file(s);
    file_name(id, name);
    s->file = openat(s->temporary, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (s->file < 0 && errno == ENOENT) {
        if (s->pending == KEEP_STORE_FILES_MAX)
            return -E2BIG;
        is_new = true;
        s->file = openat(s->temporary, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (s->file < 0)
        return -errno;
    s->pending += is_new;
    s->file_id = id;
    s->file_bytes = bytes_on_disk(s->file);
    return 0;
}

int keep_store_write(struct keep_store *s, uint64_t id, uint64_t offset, const void *bytes,
                     size_t count)
{
    int result;

    if (offset > KEEP_STORE_FILE_BYTES_MAX || count > KEEP_STORE_FILE_BYTES_MAX - offset)
        return -E2BIG;
    result = open_file(s, id);
    if (result != 0)
        return result;
    result = transfer_write_at(s->file, bytes, count, offset);
    if (result == 0) {
        uint64_t now = bytes_on_disk(s->file);

        s->bytes = s->bytes + now - s->file_bytes;
        s->file_bytes = now;
    }
    return result == 0 && s->bytes > s->bytes_max ? -E2BIG : result;
}

/* Removes the first component of an absolute path.  Returns 0 at its end, -EINVAL for a path that
 * no correct guest would send. */
static int take_component(const char **path, size_t *bytes, char name[NAME_MAX + 1])
{
    size_t length = 0;

    if (*bytes == 0)
        return 0;
    if ((*path)[0] != '/')
        return -EINVAL;
    ++*path;
    --*bytes;
    while (length < *bytes && (*path)[length] != '/')
        length++;
    if (length == 0 || length > NAME_MAX || memchr(*path, 0, length) != NULL)
        return -EINVAL;
    memcpy(name, *path, length);
    name[length] = 0;
    /* The guest may not touch temporary files, neither its own nor those of other runs. */
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strncmp(name, KEEP_STORE_PREFIX, strlen(KEEP_STORE_PREFIX)) == 0)
        return -EINVAL;
    *path += length;
    *bytes -= length;
    return 1;
}

/* Opens the directory of the last component, whose name it stores in `name`; creates directories on
 * the way. */
static int open_parent(struct keep_store *s, const char *path, size_t bytes,
                       char name[NAME_MAX + 1])
{
    int directory = openat(s->directory, ".", OPEN_DIRECTORY);
    int result = bytes < PATH_MAX ? take_component(&path, &bytes, name) : -EINVAL;

    if (directory < 0)
        return -errno;
    if (++s->names > s->bytes_max / KEEP_STORE_NAME_SHARE)
        result = -E2BIG;
    if (result == 0)
        result = -EINVAL;
    while (result == 1 && bytes > 0) {
        int next;

        if (mkdirat(directory, name, 0777) == 0) {
            s->names++;
        } else if (errno != EEXIST) {
            result = -errno;
            break;
        }
        next = openat(directory, name, OPEN_DIRECTORY);
        if (next < 0) {
            result = -errno;
            break;
        }
        close(directory);
        directory = next;
        result = take_component(&path, &bytes, name);
    }
    if (result == 1)
        return directory;
    close(directory);
    return result;
}

static void make_times(const struct keep_attributes *attributes, struct timespec times[2])
{
    times[1].tv_sec = (time_t)(attributes->modified / NS_PER_S);
    times[1].tv_nsec = (long)(attributes->modified % NS_PER_S);
    times[0] = times[1];
}

int keep_store_name(struct keep_store *s, uint64_t id, uint64_t size, const char *path,
                    size_t path_bytes, const struct keep_attributes *attributes)
{
    char temporary[NAME_BYTES];
    char name[NAME_MAX + 1];
    struct timespec times[2];
    int directory;
    int result;

    if (size > KEEP_STORE_FILE_BYTES_MAX)
        return -E2BIG;
    result = open_file(s, id);
    if (result != 0)
        return result;
    make_times(attributes, times);
    if (ftruncate(s->file, (off_t)size) != 0 ||
        fchmod(s->file, attributes->mode & 0777 & ~s->mask) != 0 || futimens(s->file, times) != 0)
        return -errno;
    directory = open_parent(s, path, path_bytes, name);
    if (directory < 0)
        return directory;
    file_name(id, temporary);
    result = renameat(s->temporary, temporary, directory, name) == 0 ? 0 : -errno;
    close(directory);
    close_file(s);
    if (result == 0)
        s->pending--;
    return result;
}

int keep_store_directory(struct keep_store *s, const char *path, size_t path_bytes,
                         const struct keep_attributes *attributes)
{
    char name[NAME_MAX + 1];
    int directory = open_parent(s, path, path_bytes, name);
    int result = 0;
    int fd;

    if (directory < 0)
        return directory;
    if (mkdirat(directory, name, 0700) != 0 && errno != EEXIST)
        result = -errno;
    fd = openat(directory, name, OPEN_DIRECTORY);
    if (result == 0 && (fd < 0 || fchmod(fd, (attributes->mode & 0777 & ~s->mask) | 0700) != 0))
        result = -errno;
    if (fd >= 0)
        close(fd);
    close(directory);
    return result;
}

int keep_store_link(struct keep_store *s, const char *path, size_t path_bytes, const char *target,
                    size_t target_bytes, const struct keep_attributes *attributes)
{
    char text[PATH_MAX];
    char name[NAME_MAX + 1];
    struct timespec times[2];
    int directory;
    int result = 0;

    if (target_bytes == 0 || target_bytes >= sizeof text || memchr(target, 0, target_bytes) != NULL)
        return -EINVAL;
    memcpy(text, target, target_bytes);
    text[target_bytes] = 0;
    directory = open_parent(s, path, path_bytes, name);
    if (directory < 0)
        return directory;
    make_times(attributes, times);
    /* A temporary link is renamed into place, and replaces what was there. */
    (void)unlinkat(s->temporary, "link", 0);
    if (symlinkat(text, s->temporary, "link") != 0 ||
        utimensat(s->temporary, "link", times, AT_SYMLINK_NOFOLLOW) != 0 ||
        renameat(s->temporary, "link", directory, name) != 0)
        result = -errno;
    if (result != 0)
        (void)unlinkat(s->temporary, "link", 0);
    close(directory);
    return result;
}
