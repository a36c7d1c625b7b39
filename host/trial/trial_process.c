/* Starts processes and waits for them, with signals in order. */
#include "host/trial/trial_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t awaited, before;

void trial_process_begin(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};

    sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&awaited, signals[i]);
    sigprocmask(SIG_BLOCK, &awaited, &before);
}

void trial_process_end(void)
{
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static bool redirect(const char *path, int flags, int to)
{
    int fd = open(path != NULL ? path : "/dev/null", flags, 0600);

    return fd >= 0 && dup2(fd, to) == to;
}

pid_t trial_process_start(const char *const argv[], const char *in, const char *out,
                          const char *errors)
{
    const int write = O_WRONLY | O_CREAT | O_TRUNC;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child != 0)
        return child > 0 ? child : -errno;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (redirect(in, O_RDONLY, 0) && redirect(out, write, 1) && redirect(errors, write, 2))
        execvp(argv[0], (char *const *)argv);
    _exit(127);
}

pid_t trial_process_wait(int timeout_ms, int *status)
{
    const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    int how = 0, number;
    pid_t ended = waitpid(-1, &how, WNOHANG);

    if (ended <= 0) {
        number = sigtimedwait(&awaited, NULL, &timeout);
        if (number > 0 && number != SIGCHLD)
            return -number;
        ended = waitpid(-1, &how, WNOHANG);
    }
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return ended > 0 ? ended : 0;
}

int trial_process_run(const char *const argv[], const char *in, const char *out, const char *errors)
{
    pid_t child = trial_process_start(argv, in, out, errors), ended = 0;
    int status = 127;

    while (child > 0 && ended != child && ended >= 0)
        ended = trial_process_wait(1000, &status);
    return ended < 0 ? (int)ended : status;
}
