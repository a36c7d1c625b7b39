/* Opens the files that commands write, and gives them their names. */
#include "host/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FORMER ".old"

static char unfinished[PATH_MAX]; /* the temporary file, for the signal handler; "": none */

static void remove_unfinished(int signal_number)
{
    if (unfinished[0] != 0)
        unlink(unfinished);
    raise(signal_number); /* the handler is gone: SA_RESETHAND */
}

/* A handler that a command has set is kept, and so is an ignored signal. */
static void watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now = {.sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND}, before;

    sigemptyset(&now.sa_mask);
    signal(SIGXFSZ, SIG_IGN); /* so that write() fails at a limit on files */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &now, NULL);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns what else the file is used for, or NULL. */
static const char *other_use(const struct stat *status, const struct stat *input)
{
    static const char *const streams[] = {"standard input", "standard output", "standard error"};
    struct stat stream;

    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &stream) == 0 && same_file(&stream, status))
            return streams[fd];
    return input != NULL && same_file(input, status) ? "the file that is read" : NULL;
}

/* Checks whether the new file may replace a regular file. */
static int check_replaced(const char *path, const struct output_file_wish *wish, int fd,
                          const struct stat *status, struct run_failure *failure)
{
    const char *kind = output_kind_name(wish->kind);
    const char *other = other_use(status, wish->input);

    if (other != NULL)
        return run_fail(failure,
                        "cannot write the %s '%s': it is also %s; name another file with --output",
                        kind, path, other);
    if (!wish->force && (fd < 0 || !output_kind_is(fd, wish->kind, wish->looks_alike)))
        return run_fail(failure,
                        "'%s' exists and is no %s; name another file with --output, or add --force",
                        path, output_kind_words(wish->kind));
    /* File systems without locks cannot tell: then the file may be replaced. */
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return run_fail(
            failure,
            "cannot write the %s '%s': another hr is writing it; name another file with --output",
            kind, path);
    return 0;
}

static int check_file(const char *path, const struct output_file_wish *wish,
                      const struct stat *status, struct run_failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int result = check_replaced(path, wish, fd, status, failure);

    if (fd >= 0)
        close(fd);
    return result;
}

/* The former file must not replace a NAME.old that hr did not write. */
static int check_former(const struct output_file *f, const struct output_file_wish *wish,
                        struct run_failure *failure)
{
    char former[PATH_MAX];
    struct stat status;

    if (!f->keeps_former ||
        snprintf(former, sizeof former, "%s" FORMER, f->path) >= (int)sizeof former ||
        stat(former, &status) != 0)
        return 0;
    if (S_ISREG(status.st_mode))
        return check_file(former, wish, &status, failure);
    return run_fail(failure,
                    "'%s' is not a regular file, so the old '%s' cannot be kept under that name; "
                    "name another file with --output",
                    former, f->path);
}

static int fail(const struct output_file_wish *wish, const char *path, int error,
                struct run_failure *failure)
{
    return run_fail(failure, "cannot write the %s '%s': %s; use --output",
                    output_kind_name(wish->kind), path,
                    error == ENXIO    ? "no process reads from the other end"
                    : error == EISDIR ? "is a directory"
                                      : strerror(error));
}

static int open_partial(struct output_file *f, const struct output_file_wish *wish,
                        struct run_failure *failure)
{
    mode_t mask = umask(0);

    umask(mask);
    if (f->path == NULL || asprintf(&f->partial, "%s.XXXXXX", f->path) < 0) {
        f->partial = NULL;
        return fail(wish, f->name, errno, failure);
    }
    f->fd = mkostemp(f->partial, O_CLOEXEC);
    if (f->fd < 0) {
        free(f->partial);
        f->partial = NULL;
        return fail(wish, f->name, errno, failure);
    }
    fchmod(f->fd, 0666 & ~mask);
    (void)flock(f->fd, LOCK_EX | LOCK_NB);
    if (strlen(f->partial) < sizeof unfinished)
        strcpy(unfinished, f->partial);
    watch_signals();
    return 0;
}

static int open_stream(struct output_file *f, int fd, const struct output_file_wish *wish,
                       struct run_failure *failure)
{
    f->fd = fd;
    if (fd < 0)
        return fail(wish, f->name, errno, failure);
    if (wish->needs_file)
        return run_fail(failure, "%s: the %s needs a file; name one with --output", f->name,
                        output_kind_name(wish->kind));
    return 0;
}

/* A name that exists may be a link, a device or a pipe. */
static int open_named(struct output_file *f, const struct output_file_wish *wish,
                      struct run_failure *failure)
{
    struct stat status;
    int fd;

    f->keeps_former = wish->keeps_former;
    if (stat(f->name, &status) != 0) {
        f->path = strdup(f->name);
    } else if (S_ISREG(status.st_mode)) {
        if (check_file(f->name, wish, &status, failure) != 0)
            return -1;
        f->path = realpath(f->name, NULL);
        if (f->path != NULL && check_former(f, wish, failure) != 0)
            return -1;
    } else {
        fd = open(f->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0)
            fcntl(fd, F_SETFL, 0);
        return open_stream(f, fd, wish, failure);
    }
    return open_partial(f, wish, failure);
}

int output_file_open(struct output_file *f, const char *path, const struct output_file_wish *wish,
                     struct run_failure *failure)
{
    bool standard = strcmp(path, "-") == 0;
    int result;

    *f = (struct output_file){.fd = -1, .name = strdup(standard ? "standard output" : path)};
    if (f->name == NULL)
        return run_fail(failure, "out of memory; end other programs");
    result = standard ? open_stream(f, STDOUT_FILENO, wish, failure) : open_named(f, wish, failure);
    if (result != 0)
        output_file_close(f, false);
    return result;
}

/* An empty file does not replace what was kept before. */
static int keep_former(const struct output_file *f)
{
    char former[PATH_MAX];
    struct stat status;

    if (!f->keeps_former || stat(f->path, &status) != 0 || status.st_size == 0)
        return 0;
    if (snprintf(former, sizeof former, "%s" FORMER, f->path) >= (int)sizeof former)
        return -ENAMETOOLONG;
    return rename(f->path, former) != 0 ? -errno : 0;
}

int output_file_take_name(struct output_file *f)
{
    int result;

    if (f->partial == NULL)
        return 0;
    result = keep_former(f);
    if (result != 0)
        return result;
    if (rename(f->partial, f->path) != 0)
        return -errno;
    unfinished[0] = 0;
    free(f->partial);
    f->partial = NULL;
    return 0;
}

int output_file_close(struct output_file *f, bool keep)
{
    int result = 0;

    if (f->fd >= 0 && f->fd != STDOUT_FILENO && close(f->fd) != 0 && keep)
        result = -errno;
    if (keep && result == 0)
        result = output_file_take_name(f);
    if (f->partial != NULL) {
        unlink(f->partial);
        unfinished[0] = 0;
    }
    free(f->name);
    free(f->path);
    free(f->partial);
    *f = (struct output_file){.fd = -1};
    return result;
}

int output_file_finish(struct output_file *f, bool keep, struct run_failure *failure)
{
    char *name = strdup(f->name);
    int result = output_file_close(f, keep);

    if (result != 0)
        run_fail(failure, "%s: %s; free some space or write elsewhere", name != NULL ? name : "",
                 strerror(-result));
    free(name);
    return result != 0 ? -1 : 0;
}
