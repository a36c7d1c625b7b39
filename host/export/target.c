/* Opens and completes the output of an export. */
#include "host/export/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/commands.h"
#include "host/error.h"

static char unfinished[PATH_MAX]; /* the temporary file, for the signal handler; "": none */

static void remove_unfinished(int signal_number)
{
    if (unfinished[0] != 0)
        unlink(unfinished);
    raise(signal_number); /* the handler is gone: SA_RESETHAND */
}

static void watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now = {.sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND}, before;

    sigemptyset(&now.sa_mask);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write() */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &now, NULL);
}

/* "run/hr.bin" and "folded" give "run/hr.folded". */
static char *beside(const char *trace, const char *extension)
{
    size_t bytes = strlen(trace);
    char *path;

    if (bytes > 4 && strcmp(trace + bytes - 4, ".bin") == 0 && trace[bytes - 5] != '/')
        bytes -= 4;
    return asprintf(&path, "%.*s.%s", (int)bytes, trace, extension) < 0 ? NULL : path;
}

static int refuse(struct target *target, const char *why)
{
    error_print("%s: %s", target->name, why);
    target_close(target, false);
    return HR_EXIT_FAILED;
}

static int open_stream(struct target *target, int fd, bool needs_file)
{
    target->fd = fd;
    if (fd < 0)
        return refuse(target, strerror(errno));
    if (needs_file)
        return refuse(target, "this format needs a file to write to; name one with --output");
    return HR_EXIT_OK;
}

static int open_partial(struct target *target)
{
    mode_t mask = umask(0);

    umask(mask);
    if (asprintf(&target->partial, "%s.XXXXXX", target->path) < 0) {
        target->partial = NULL;
        return refuse(target, strerror(ENOMEM));
    }
    target->fd = mkostemp(target->partial, O_CLOEXEC);
    if (target->fd < 0) {
        int error = errno;

        free(target->partial);
        target->partial = NULL;
        return refuse(target, strerror(error));
    }
    fchmod(target->fd, 0666 & ~mask);
    if (strlen(target->partial) < sizeof unfinished)
        strcpy(unfinished, target->partial);
    watch_signals();
    return HR_EXIT_OK;
}

/* A name that exists may be a link, a device or a pipe; the trace itself is not to be replaced. */
static int open_named(struct target *target, const char *trace, bool needs_file)
{
    struct stat status, input;

    if (stat(target->name, &status) != 0) {
        target->path = strdup(target->name);
    } else if (S_ISDIR(status.st_mode)) {
        return refuse(target, "is a directory; name a file with --output");
    } else if (!S_ISREG(status.st_mode)) {
        return open_stream(target, open(target->name, O_WRONLY | O_CLOEXEC | O_NOCTTY), needs_file);
    } else if (stat(trace, &input) == 0 && input.st_dev == status.st_dev &&
               input.st_ino == status.st_ino) {
        return refuse(target, "is the trace; name another file with --output");
    } else {
        target->path = realpath(target->name, NULL);
    }
    return target->path != NULL ? open_partial(target) : refuse(target, strerror(errno));
}

int target_open(struct target *target, const char *output, const char *trace, const char *extension,
                bool needs_file)
{
    bool standard = output != NULL && strcmp(output, "-") == 0;

    *target = (struct target){.fd = -1};
    target->name = standard         ? strdup("standard output")
                   : output != NULL ? strdup(output)
                                    : beside(trace, extension);
    if (target->name == NULL) {
        error_print("%s", strerror(ENOMEM));
        return HR_EXIT_FAILED;
    }
    return standard ? open_stream(target, STDOUT_FILENO, needs_file)
                    : open_named(target, trace, needs_file);
}

int target_close(struct target *target, bool keep)
{
    int status = HR_EXIT_OK;

    if (target->fd >= 0 && target->fd != STDOUT_FILENO && close(target->fd) != 0 && keep) {
        error_print("%s: %s", target->name, strerror(errno));
        keep = false;
        status = HR_EXIT_FAILED;
    }
    if (target->partial != NULL && keep && rename(target->partial, target->path) != 0) {
        error_print("%s: %s", target->name, strerror(errno));
        keep = false;
        status = HR_EXIT_FAILED;
    }
    if (target->partial != NULL && !keep)
        unlink(target->partial);
    unfinished[0] = 0;
    free(target->name);
    free(target->path);
    free(target->partial);
    *target = (struct target){.fd = -1};
    return status;
}
