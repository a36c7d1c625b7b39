/* refused: asks for what Microtome does not do, and says what it got. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *name_of(int error)
{
    switch (error) {
    case ENOSYS:
        return "ENOSYS";
    case EAFNOSUPPORT:
        return "EAFNOSUPPORT";
    case ENOTSOCK:
        return "ENOTSOCK";
    case EBADF:
        return "EBADF";
    default:
        return "another error";
    }
}

static void say(const char *what, long result)
{
    int error = errno;

    printf("%s: %s\n", what, result < 0 ? name_of(error) : "done");
}

int main(int argc, char **argv)
{

    for (int i = 0; i < 2; i++)
        say("socket", socket(AF_APPLETALK, SOCK_DGRAM, 0));
    say("connect", connect(STDOUT_FILENO, NULL, 0));
    say("connect", connect(100, NULL, 0));
    for (int i = 0; i < 5; i++)
        say("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
    say("system call 4000", syscall(4000));
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        raise(SIGABRT);
    return 0;
}
