/* What the workloads about processes share: checks that name the line that failed. */
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What musl or an older C library may lack. */
#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#define SYS_pidfd_getfd 438
#endif

static int checks_failed;

static void check_failed(const char *file, int line, const char *what)
{
    char text[256];
    int bytes = snprintf(text, sizeof text, "%s:%d: %s: errno %d\n", file, line, what, errno);

    if (write(1, text, (size_t)bytes) != bytes)
        _exit(99);
    checks_failed++;
}

#define CHECK(condition)                                  \
    do {                                                  \
        if (!(condition))                                 \
            check_failed(__FILE__, __LINE__, #condition); \
    } while (0)

/* Runs `child` in a process of its own, which exits with its result; returns its pid. */
static inline pid_t start(int (*child)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        checks_failed = 0;
        int status = child();

        _exit(checks_failed != 0 ? 98 : status);
    }
    CHECK(pid > 0);
    return pid;
}

/* Waits for a process; returns its wait status. */
static inline int finish(pid_t pid)
{
    int status = -1;
    pid_t got;

    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    CHECK(got == pid);
    return status;
}

#define EXITED(status) ((status) << 8)

/* Blocks until a byte comes from the pipe, or its writers are gone (-1). */
static inline int await_byte(int fd)
{
    unsigned char byte;

    return read(fd, &byte, 1) == 1 ? byte : -1;
}

static inline void send_byte(int fd, unsigned char byte)
{
    CHECK(write(fd, &byte, 1) == 1);
}

static int pipes[2][2]; /* between a process and its child */

static inline void make_pipes(void)
{
    CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
}

static inline void close_pipes(void)
{
    for (int i = 0; i < 4; i++)
        close(pipes[i / 2][i % 2]);
}

struct mode {
    const char *name;
    void (*run)(void);
};

/* Runs all modes, or those that main's argument names; a line for each.  Returns main's result. */
static inline int run_modes(const struct mode *modes, size_t count, int argc, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        if (argc > 1 && strcmp(argv[1], modes[i].name) != 0)
            continue;
        modes[i].run();
        printf("%s: %s\n", modes[i].name, checks_failed ? "failed" : "good");
        fflush(stdout);
    }
    return checks_failed != 0;
}
