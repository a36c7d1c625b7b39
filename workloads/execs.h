/* What the programs share that execute others: each prints the same natively and in the guest. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void execs_check(const char *what, bool good)
{
    printf("%s: %s\n", what, good ? "ok" : "WRONG");
}

/* Writes a file that can be executed. */
static inline void execs_file(const char *name, const void *bytes, size_t count, mode_t mode)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

    execs_check(name, file >= 0 && write(file, bytes, count) == (ssize_t)count);
    fchmod(file, mode);
    close(file);
}

static inline void execs_script(const char *name, const char *interpreter, const char *argument)
{
    char line[2 * PATH_MAX];
    int bytes = snprintf(line, sizeof line, "#!%s%s\n", interpreter, argument);

    execs_file(name, line, (size_t)bytes, 0755);
}

/* Finds the program's own file. */
static inline void execs_self(char self[PATH_MAX])
{
    ssize_t bytes = readlink("/proc/self/exe", self, PATH_MAX - 1);

    self[bytes > 0 ? bytes : 0] = '\0';
}
