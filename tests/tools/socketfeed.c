/* socketfeed FILE COMMAND...: runs COMMAND with a socket as stdin that gets FILE's bytes as fast as
 * it reads them, and prints the rate in MB/s on stderr.  For comparing the collector with cat.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int feed(int from, int to)
{
    static char buffer[BUFFER_BYTES];

    for (;;) {
        ssize_t count = read(from, buffer, sizeof(buffer));
        if (count <= 0)
            return count < 0 ? -1 : 0;
        for (ssize_t done = 0; done < count;) {
            ssize_t sent = write(to, buffer + done, (size_t)(count - done));
            if (sent <= 0)
                return -1;
            done += sent;
        }
    }
}

int main(int argc, char **argv)
{
    int ends[2], status, room = BUFFER_BYTES, file = argc > 2 ? open(argv[1], O_RDONLY) : -1;
    struct stat st;

    if (file < 0 || fstat(file, &st) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        fputs("usage: socketfeed FILE COMMAND...\n", stderr);
        return 2;
    }
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    double start = now_s();
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], 0);
        close(ends[1]);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0 || feed(file, ends[0]) != 0)
        perror("socketfeed");
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    fprintf(stderr, "%.0f\n", (double)st.st_size / 1e6 / (now_s() - start));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
