/* Collects the program's standard input, for a run that has none from a host. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/pack/collect/pack_collect.h"
#include "host/pack/list/pack_list_entries.h"
#include "include/run_manifest.h"

/* Keeps the data of a pipe in memory, which /proc names until hr ends. */
static int keep(int from)
{
    char piece[65536];
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    ssize_t count = -1;

    while (fd >= 0 && (count = read(from, piece, sizeof piece)) > 0)
        if (write(fd, piece, (size_t)count) != count) {
            count = -1;
            break;
        }
    if (count == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int add(struct pack_collector *c, int fd, const char *path)
{
    char source[64];
    struct stat status;
    int result;

    if (fd < 0 || fstat(fd, &status) != 0)
        return -errno;
    snprintf(source, sizeof source, "/proc/%d/fd/%d", (int)getpid(), fd);
    result = pack_list_begin(&c->pack->list, path, false, "--stdin");
    if (result == 0)
        result = pack_list_put(&c->pack->list, RUN_STDIN_NAME, source, &status);
    return result;
}

int pack_collect_input(struct pack_collector *c)
{
    const char *path = c->options->input;
    bool own = path != NULL && strcmp(path, "-") == 0;
    struct stat status = {.st_mode = 0};
    int result;
    int fd;

    if (path == NULL)
        return 0;
    fd = own ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    result = fd < 0 || fstat(fd, &status) != 0 ? -errno : 0;
    if (fd >= 0 && result == 0 && own && isatty(fd))
        result = -ENOTTY;
    if (result == 0 && (!S_ISREG(status.st_mode) || own)) {
        int kept = keep(fd);

        result = kept < 0 ? -errno : 0;
        close(fd);
        fd = kept;
    }
    if (result == 0)
        result = add(c, fd, own ? "standard input" : path);
    if (result == 0)
        return 0;
    return run_fail(c->failure, "--stdin %s: %s", path,
                    result == -ENOTTY ? "it is a terminal; name a file" : strerror(-result));
}
