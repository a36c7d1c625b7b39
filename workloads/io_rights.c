/* io_rights: descriptors and credentials that sockets pass. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

static int pair[2];
static union {
    struct cmsghdr header;
    char bytes[4096];
} control;
static struct iovec part;
static char buffer[100];

static long send_files(int fd, const int *fds, size_t count, const char *text)
{
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = CMSG_SPACE(count * sizeof *fds)};

    part = (struct iovec){(void *)text, strlen(text)};
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof *fds),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), fds, count * sizeof *fds);
    return sendmsg(fd, &m, MSG_DONTWAIT);
}

/* Receives and says what came; keeps the first of `most` descriptors. */
static int receive(const char *what, size_t room, int flags)
{
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = room};
    int kept = -1;

    part = (struct iovec){buffer, 4};
    memset(buffer, 0, sizeof buffer);
    io_say(what, recvmsg(pair[1], &m, flags | MSG_DONTWAIT));
    printf("  '%s', %zu bytes of control, flags %x\n", buffer, (size_t)m.msg_controllen,
           m.msg_flags);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        int fds[64];

        printf("  level %d, type %d, %zu bytes\n", c->cmsg_level, c->cmsg_type,
               (size_t)c->cmsg_len);
        if (c->cmsg_type == SCM_CREDENTIALS && count >= 3) {
            struct ucred who;

            memcpy(&who, CMSG_DATA(c), sizeof who);
            printf("  from this process: %d, user: %d, group: %d\n", who.pid == getpid(),
                   who.uid == getuid(), who.gid == getgid());
        }
        if (c->cmsg_type != SCM_RIGHTS || count > 64)
            continue;
        memcpy(fds, CMSG_DATA(c), count * sizeof(int));
        for (size_t i = 0; i < count; i++) {
            printf("  descriptor %d, close on exec: %d\n", fds[i], fcntl(fds[i], F_GETFD));
            if (kept < 0)
                kept = fds[i];
            else
                close(fds[i]);
        }
    }
    return kept;
}

static void files(int type)
{
    int ends[2], fds[3], got;
    struct stat s;

    SAY(socketpair(AF_UNIX, type, 0, pair));
    SAY(pipe(ends));
    fds[0] = ends[0], fds[1] = ends[1], fds[2] = ends[1];
    SAY(send_files(pair[0], &ends[1], 1, "one"));
    SAY(close(ends[1]));
    got = receive("receive", sizeof control, 0);
    SAY(write(got, "through", 7));
    SAY(close(got));
    SAY(read(ends[0], buffer, sizeof buffer));
    SAY(read(ends[0], buffer, sizeof buffer));
    fds[1] = ends[0], fds[2] = 100;
    SAY(send_files(pair[0], fds, 3, "bad"));
    fds[2] = ends[0];
    SAY(send_files(pair[0], fds, 3, "two"));
    SAY(send_files(pair[0], fds, 1, "more"));
    SAY(write(pair[0], "plain", 5));
    close(receive("look", sizeof control, MSG_PEEK));
    close(receive("room for two", CMSG_LEN(2 * sizeof(int)), MSG_CMSG_CLOEXEC));
    close(receive("next", sizeof control, 0));
    close(receive("then", sizeof control, 0));
    SAY(send_files(pair[0], fds, 3, "none"));
    receive("no room", 0, 0);
    SAY(send_files(pair[0], fds, 2, "read"));
    SAY(read(pair[1], buffer, sizeof buffer));
    SAY(dup(0));
    SAY(send_files(pair[0], pair, 2, "self"));
    close(pair[0]), close(pair[1]), close(ends[0]);
    SAY(fstat(pair[0], &s));
    for (int fd = 3; fd < 20; fd++)
        close(fd);
}

static void credentials(int type)
{
    struct ucred who = {getpid(), getuid(), getgid()};
    socklen_t bytes = sizeof who;
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = CMSG_SPACE(sizeof who)};

    SAY(socketpair(AF_UNIX, type, 0, pair));
    SAY(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)));
    SAY(number(pair[1], SOL_SOCKET, SO_PASSCRED));
    SAY(write(pair[0], "abc", 3));
    SAY(send_files(pair[0], pair, 1, "def"));
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof who), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS};
    memcpy(CMSG_DATA(&control.header), &who, sizeof who);
    part = (struct iovec){"ghi", 3};
    SAY(sendmsg(pair[0], &m, 0));
    control.header.cmsg_len--;
    SAY(sendmsg(pair[0], &m, 0));
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof who), .cmsg_level = SOL_SOCKET, .cmsg_type = 77};
    SAY(sendmsg(pair[0], &m, 0));
    control.header.cmsg_len = 5;
    SAY(sendmsg(pair[0], &m, 0));
    control.header.cmsg_len = 4000;
    SAY(sendmsg(pair[0], &m, 0));
    receive("credentials", sizeof control, 0);
    close(receive("and a file", sizeof control, 0));
    receive("little room", 20, 0);
    memset(&who, 0, sizeof who);
    SAY(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &who, &bytes));
    SAY(bytes);
    SAY(who.pid == getpid() && who.uid == getuid() && who.gid == getgid());
    close(pair[0]), close(pair[1]);
}

/* Sockets that are in each other's queues and nowhere else: what they take is bounded. */
static void cycles(void)
{
    struct rlimit files = {200, 200};
    int before, after;

    setrlimit(RLIMIT_NOFILE, &files);
    before = dup(0);
    close(before);
    for (int i = 0; i < 5000; i++) {
        int two[2][2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, two[0]) != 0 ||
            socketpair(AF_UNIX, SOCK_STREAM, 0, two[1]) != 0)
            abort();
        send_files(two[0][0], &two[1][1], 1, "a");
        send_files(two[1][0], &two[0][1], 1, "b");
        for (int j = 0; j < 4; j++)
            close(two[j / 2][j % 2]);
    }
    after = dup(0);
    close(after);
    SAY(after - before);
    /* One inside the other, 150 deep: they go one after the other. */
    int inner[2], outer[2];

    SAY(socketpair(AF_UNIX, SOCK_DGRAM, 0, inner));
    for (int i = 0; i < 150; i++) {
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, outer) != 0)
            abort();
        send_files(outer[0], inner, 2, "nested");
        close(inner[0]), close(inner[1]);
        memcpy(inner, outer, sizeof inner);
    }
    SAY(close(inner[0]));
    SAY(close(inner[1]));
    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SAY(send_files(pair[0], pair, 2, "still"));
}

int main(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

    io_quietly();
    for (int i = 0; i < 3; i++) {
        printf("type %d\n", types[i]);
        files(types[i]);
        credentials(types[i]);
    }
    cycles();
    return 0;
}
