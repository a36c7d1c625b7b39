/* Keeps what comes through standard input. */
#include "host/trace/trace_stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/transfer.h"

#define TAKE_BYTES (256u << 10)

static int kept = -1;
static bool ended;

static int make_file(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    int fd;

    if (folder == NULL || folder[0] == 0)
        folder = "/tmp";
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (snprintf(name, sizeof name, "%s/hr.XXXXXX", folder) >= (int)sizeof name)
        return -ENAMETOOLONG;
    fd = mkostemp(name, O_CLOEXEC); /* not every file system has files without names */
    if (fd >= 0)
        unlink(name);
    return fd >= 0 ? fd : -errno;
}

int trace_stdin_file(void)
{
    struct stat status;

    if (kept >= 0)
        return kept;
    if (fstat(STDIN_FILENO, &status) != 0)
        return -errno;
    ended = S_ISREG(status.st_mode);
    kept = ended ? STDIN_FILENO : make_file();
    return kept;
}

/* Another program that has the pipe may have set it not to wait. */
static ssize_t await_bytes(void *bytes, size_t room)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t got;

    do
        got = read(STDIN_FILENO, bytes, room);
    while (got < 0 &&
           (errno == EINTR || (errno == EAGAIN && (poll(&input, 1, -1) >= 0 || errno == EINTR))));
    return got;
}

int trace_stdin_take(void)
{
    static uint8_t bytes[TAKE_BYTES];
    size_t written;
    ssize_t got;
    int result;

    if (ended)
        return 0;
    got = await_bytes(bytes, sizeof bytes);
    if (got < 0)
        return -errno;
    ended = got == 0;
    result = got != 0 ? transfer_write(kept, bytes, (size_t)got, &written) : 0;
    return result != 0 ? result : !ended;
}

int trace_stdin_open(void)
{
    int fd, result = trace_stdin_file();

    if (result < 0)
        return result;
    do
        result = trace_stdin_take();
    while (result > 0);
    if (result < 0)
        return result;
    fd = fcntl(kept, F_DUPFD_CLOEXEC, 0);
    return fd >= 0 ? fd : -errno;
}
