/* Removes a directory when its process releases it or ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/launch/launch_guard.h"

/* The guard is in its own session, because signals of the terminal are for hr.  It keeps no
 * descriptor open whose end another process could wait for.  It only makes calls that are safe
 * after a fork. */
__attribute__((noreturn)) static void guard_until_end(int wait_fd, int directory_fd,
                                                      const char *directory,
                                                      const char *const *names, size_t count)
{
    char byte;

    setsid();
    if (dup2(wait_fd, 0) != 0 || dup2(directory_fd, 1) != 1 || close_range(2, ~0u, 0) != 0)
        _exit(1);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        continue;
    for (size_t i = 0; i < count; i++)
        (void)unlinkat(1, names[i], 0);
    (void)rmdir(directory);
    _exit(0);
}

int launch_guard_start(struct launch_guard *guard, const char *directory, const char *const *names,
                       size_t count)
{
    int directory_fd;
    int ends[2];
    int error = 0;

    *guard = (struct launch_guard){.pid = 0, .fd = -1};
    directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        return -errno;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error = -errno;
        close(directory_fd);
        return error;
    }
    guard->pid = fork();
    if (guard->pid == 0) {
        int wait_fd = fcntl(ends[0], F_DUPFD, 3); /* descriptors 0 to 2 may have been closed */
        int kept_fd = fcntl(directory_fd, F_DUPFD, 3);

        close(ends[1]);
        guard_until_end(wait_fd, kept_fd, directory, names, count);
    }
    if (guard->pid < 0) {
        error = -errno;
        close(ends[1]);
        guard->pid = 0;
    } else {
        guard->fd = ends[1];
    }
    close(ends[0]);
    close(directory_fd);
    return error;
}

void launch_guard_end(struct launch_guard *guard)
{
    if (guard->pid == 0)
        return;
    close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    guard->pid = 0;
}
