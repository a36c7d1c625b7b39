/* Starts xdg-open. */
#include "host/view/server/view_open.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/error.h"

#define OPENER "xdg-open"

extern char **environ;

/* The process; -1 after saying why there is none.  Its output goes to stderr: stdout is hr's. */
static pid_t start(const char *what)
{
    char *argv[] = {(char *)(uintptr_t)OPENER, (char *)(uintptr_t)what, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;
    int error;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    error = posix_spawnp(&pid, OPENER, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0)
        return pid;
    error_print("--open: " OPENER " cannot be started: %s; install xdg-utils, or open %s yourself",
                strerror(error), what);
    return -1;
}

int view_open_file(const char *path)
{
    char *whole = realpath(path, NULL); /* no name is an option */
    const char *what = whole != NULL ? whole : path;
    pid_t pid = start(what);
    int status = 0;

    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && status != 0)
        error_print("--open: " OPENER " failed; open %s with a browser yourself", what);
    free(whole);
    return pid > 0 && status == 0 ? 0 : -1;
}

void view_open_address(const char *url)
{
    signal(SIGCHLD, SIG_IGN); /* nothing is left of it when it ends */
    (void)start(url);
}
