/* What the programs that check objects between processes share. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* What not every C library has. */
#ifndef SHM_STAT_ANY
#define SHM_STAT_ANY 15
#endif
#ifndef SHM_EXEC
#define SHM_EXEC 0100000
#endif
#ifndef SHM_DEST
#define SHM_DEST 01000
#endif
#ifndef SHM_LOCKED
#define SHM_LOCKED 02000
#endif
#ifndef SEM_STAT_ANY
#define SEM_STAT_ANY 20
#endif
#ifndef CLONE_SYSVSEM
#define CLONE_SYSVSEM 0x00040000
#endif
#ifndef MSG_COPY
#define MSG_COPY 040000
#endif
#ifndef MSG_EXCEPT
#define MSG_EXCEPT 020000
#endif
#ifndef MSG_STAT
#define MSG_STAT 11
#define MSG_INFO 12
#endif
#ifndef MSG_STAT_ANY
#define MSG_STAT_ANY 13
#endif

#define USER 1000 /* of programs in the guest */

/* Becomes the guest's user, so that permissions count natively, too. */
static inline void become_user(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (getuid() == 0 && (setresgid(USER, USER, USER) != 0 || setresuid(USER, USER, USER) != 0))
        abort();
}

/* Prints the result of a call, or its error. */
static inline long say(const char *what, long result)
{
    if (result == -1)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %ld\n", what, result);
    return result;
}

/* Prints only whether it worked: identifiers and addresses differ from run to run. */
static inline long say_made(const char *what, long result)
{
    if (result == -1)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: done\n", what);
    return result;
}

static inline void say_true(const char *what, int holds)
{
    printf("%s: %s\n", what, holds ? "yes" : "NO");
}

/* ---- a thread that makes one call, which waits */

struct sleeper {
    pthread_t thread;
    long (*call)(void *argument);
    void *argument;
    _Atomic int tid;
    long result;
    int error;
};

static inline void *sleeper_main(void *argument)
{
    struct sleeper *s = argument;

    atomic_store(&s->tid, (int)syscall(SYS_gettid));
    s->result = s->call(s->argument);
    s->error = errno;
    return NULL;
}

static inline char state_of(int tid)
{
    char path[64], text[256], *end;
    ssize_t bytes;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    fd = open(path, O_RDONLY);
    bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    if (bytes <= 0)
        return 'X';
    text[bytes] = 0;
    end = strrchr(text, ')');
    return end != NULL ? end[2] : 'X';
}

/* Returns when the thread waits in its call, or has ended. */
static inline void sleep_begins(const struct sleeper *s)
{
    char state;

    while (!atomic_load(&s->tid))
        sched_yield();
    while ((state = state_of(s->tid)) != 'S' && state != 'X' && state != 'Z')
        sched_yield();
}

static inline void start_sleeper(struct sleeper *s, long (*call)(void *), void *argument)
{
    *s = (struct sleeper){.call = call, .argument = argument};
    if (pthread_create(&s->thread, NULL, sleeper_main, s) != 0)
        abort();
    sleep_begins(s);
}

static inline void end_sleeper(struct sleeper *s, const char *what)
{
    pthread_join(s->thread, NULL);
    errno = s->error;
    say(what, s->result);
}

/* Prints some numbers of a line of /proc/sysvipc/KIND: the one whose second number is `id`. */
static inline void say_line(const char *kind, int id, const int *columns, int count)
{
    char path[64], line[512], *words[32];
    FILE *file;

    snprintf(path, sizeof path, "/proc/sysvipc/%s", kind);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        int n = 0;

        for (char *w = strtok(line, " \n"); w != NULL && n < 32; w = strtok(NULL, " \n"))
            words[n++] = w;
        if (n < 2 || atoi(words[1]) != id || words[1][0] == 's' || words[1][0] == 'm')
            continue;
        printf("/proc/sysvipc/%s:", kind);
        for (int i = 0; i < count; i++)
            printf(" %s", columns[i] < n ? words[columns[i]] : "-");
        printf("\n");
    }
    if (file != NULL)
        fclose(file);
}

/* Waits for a child and prints its status. */
static inline void say_child(const char *what, pid_t child)
{
    int status = -1;

    if (child < 0)
        say(what, -1);
    else if (waitpid(child, &status, 0) == child)
        printf("%s: status %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
