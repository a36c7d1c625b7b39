/* A child that removes the run's private directory as soon as this process lets go of it, however:
 * a SIGKILL leaves nothing behind either.
 */
#ifndef HOST_LAUNCH_LAUNCH_GUARD_H
#define HOST_LAUNCH_LAUNCH_GUARD_H

#include <stddef.h>
#include <sys/types.h>

struct launch_guard {
    pid_t pid; /* 0: there is none */
    int fd; /* the child waits for its end */
};

/* Guards the directory and the files in it that have these names, whether they exist yet or not.
 * 0, or -errno: then nothing is guarded.
 */
int launch_guard_start(struct launch_guard *guard, const char *directory, const char *const *names,
                       size_t count);

/* Lets go and waits until the directory is gone. */
void launch_guard_end(struct launch_guard *guard);

#endif
