/* A child that removes the run's private directory as soon as this process releases it or ends in
 * any way, even by SIGKILL. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct launch_guard {
    pid_t pid; /* 0: there is none */
    int fd; /* the child waits until our end is closed */
};

/* Guards the directory and its files of these names, whether they exist yet or not.  Returns 0, or
 * -errno if nothing is guarded. */
int launch_guard_start(struct launch_guard *guard, const char *directory, const char *const *names,
                       size_t count);

/* Releases the guard and waits until the directory is removed. */
void launch_guard_end(struct launch_guard *guard);
