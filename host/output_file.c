/* Opens output files. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/output_file.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What else the file is, or NULL.  Devices may be shared. */
static const char *other_use(const struct stat *status, const struct stat *input)
{
    static const char *const streams[] = {"standard input", "standard output", "standard error"};
    struct stat stream;

    if (!S_ISREG(status->st_mode))
        return NULL;
    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &stream) == 0 && same_file(&stream, status))
            return streams[fd];
    return input != NULL && same_file(input, status) ? "what is read" : NULL;
}

static int empty(int fd, const char *path, const char *what, const struct stat *input,
                 struct run_failure *failure)
{
    struct stat status;
    const char *other;

    if (fstat(fd, &status) != 0)
        return run_fail(failure, RUN_EXIT_FAILED, "'%s': %s", path, strerror(errno));
    other = other_use(&status, input);
    if (other != NULL)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "cannot write the %s '%s': it is %s, too; name another file with --output",
                        what, path, other);
    if (!S_ISREG(status.st_mode))
        return 0;
    /* File systems without locks cannot tell, and then nobody is refused. */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "cannot write the %s '%s': another hr is writing it; name another file "
                        "with --output",
                        what, path);
    /* Emptying an empty file has a price: ext4 then flushes it when it is closed. */
    if (fstat(fd, &status) != 0 || (status.st_size > 0 && ftruncate(fd, 0) != 0))
        return run_fail(failure, RUN_EXIT_FAILED, "cannot write the %s '%s': %s", what, path,
                        strerror(errno));
    return 0;
}

int output_file_open(const char *path, const char *what, const struct stat *input,
                     struct run_failure *failure)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

    if (fd < 0)
        return run_fail(failure, RUN_EXIT_FAILED, "cannot write the %s '%s': %s; use --output",
                        what, path,
                        errno == ENXIO ? "nobody reads from the other end" : strerror(errno));
    if (empty(fd, path, what, input, failure) != 0) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, 0);
    return fd;
}
