/* Keeps files between runs, in bounded space. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/cache.h"

#define COPY_BYTES (64u << 20) /* one sendfile at most */

static bool is_private(int directory)
{
    struct stat status;

    return fstat(directory, &status) == 0 && status.st_uid == geteuid() &&
           (status.st_mode & 077) == 0;
}

int cache_open(bool make, char path[PATH_MAX])
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int fd;

    if (base != NULL && base[0] == '/')
        (void)snprintf(path, PATH_MAX - 16, "%s", base);
    else if (home != NULL && home[0] == '/')
        (void)snprintf(path, PATH_MAX - 16, "%s/.cache", home);
    else
        return -1;
    if (make)
        (void)mkdir(path, 0700);
    strcat(path, "/microtome");
    if (make)
        (void)mkdir(path, 0700);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && !is_private(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

int cache_copy(int from, uint64_t offset, uint64_t bytes, int to)
{
    off_t at = (off_t)offset;

    while (bytes > 0) {
        ssize_t copied = sendfile(to, from, &at, bytes < COPY_BYTES ? bytes : COPY_BYTES);

        if (copied < 0 && errno == EINTR)
            continue;
        if (copied <= 0)
            return copied < 0 ? -errno : -EIO;
        bytes -= (uint64_t)copied;
    }
    return 0;
}

struct kept {
    char name[NAME_MAX + 1];
    struct timespec used;
    uint64_t bytes;
};

/* Adds up the files' sizes and finds the least recently used one. */
static uint64_t survey(DIR *directory, const char *prefix, const char *spared, struct kept *oldest)
{
    const struct dirent *entry;
    uint64_t total = 0;
    int fd = dirfd(directory);

    oldest->name[0] = 0;
    rewinddir(directory);
    while (fd >= 0 && (entry = readdir(directory)) != NULL) {
        struct stat status;

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        total += (uint64_t)status.st_blocks * 512;
        if (strcmp(entry->d_name, spared) != 0 &&
            (oldest->name[0] == 0 || status.st_mtim.tv_sec < oldest->used.tv_sec ||
             (status.st_mtim.tv_sec == oldest->used.tv_sec &&
              status.st_mtim.tv_nsec < oldest->used.tv_nsec))) {
            snprintf(oldest->name, sizeof oldest->name, "%s", entry->d_name);
            oldest->used = status.st_mtim;
        }
    }
    return total;
}

void cache_evict(int kept, const char *prefix, const char *spared, uint64_t bytes_max)
{
    int fd = openat(kept, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct kept oldest;

    if (directory == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while (survey(directory, prefix, spared, &oldest) > bytes_max && oldest.name[0] != 0)
        if (unlinkat(kept, oldest.name, 0) != 0)
            break;
    closedir(directory);
}
