/* io_urgent: urgent data of TCP and of local streams, and whom it is told to. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

static char buffer[100000];
static int pair[2];
static volatile sig_atomic_t signals, last_code;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    signals++;
    last_code = info->si_code;
}

static void connect_pair(int family)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof name;
    int listener;

    if (family == AF_UNIX) {
        SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
        return;
    }
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&name, &bytes) != 0)
        abort();
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    SAY(connect(pair[0], (struct sockaddr *)&name, sizeof name));
    pair[1] = accept(listener, NULL, NULL);
    SAY(recv(listener, buffer, 1, MSG_OOB));
    close(listener);
}

static void close_pair(void)
{
    close(pair[0]), close(pair[1]);
}

static int urgent_ready(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLPRI | POLLRDBAND};

    return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

static int exceptional(int fd)
{
    struct timeval none = {0, 0};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    return select(fd + 1, NULL, NULL, &set, &none);
}

static int at_mark(int fd)
{
    int value = -1;

    return ioctl(fd, SIOCATMARK, &value) < 0 ? -1 : value;
}

/* Says what a call received, up to 20 bytes, with its flags. */
static void say_received(const char *what, size_t room, int flags)
{
    struct iovec part = {buffer, room};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    long bytes = io_say(what, recvmsg(pair[1], &message, flags | MSG_DONTWAIT));

    if (bytes >= 0)
        printf("  '%.*s' flags %x\n", (int)(bytes < 20 ? bytes : 20), buffer,
               (unsigned)message.msg_flags);
}

static void send_text(const char *text, int flags)
{
    io_say(text, send(pair[0], text, strlen(text), flags));
}

static void mark(int family)
{
    connect_pair(family);
    say_received("no urgent data", 1, MSG_OOB);
    SAY(at_mark(pair[1]));
    SAY(urgent_ready(pair[1]));
    send_text("before!", MSG_OOB);
    send_text("after", 0);
    SAY(urgent_ready(pair[1]));
    SAY(exceptional(pair[1]));
    SAY(readiness(pair[1]));
    SAY(ready_bytes(pair[1]));
    SAY(at_mark(pair[1]));
    say_received("look at the urgent byte", 10, MSG_OOB | MSG_PEEK);
    say_received("look", 100, MSG_PEEK);
    say_received("a part", 3, 0);
    say_received("up to the mark", 100, MSG_WAITALL);
    SAY(at_mark(pair[1]));
    say_received("the urgent byte", 10, MSG_OOB);
    say_received("the urgent byte again", 10, MSG_OOB);
    SAY(at_mark(pair[1]));
    SAY(urgent_ready(pair[1]));
    say_received("after the mark", 100, 0);
    SAY(at_mark(pair[1]));
    say_received("nothing", 100, 0);
    close_pair();
}

/* The byte is lost if it is not read. */
static void lost(int family)
{
    connect_pair(family);
    send_text("a!", MSG_OOB);
    send_text("b", 0);
    say_received("before", 100, 0);
    say_received("behind", 100, 0);
    say_received("lost", 100, MSG_OOB);
    SAY(urgent_ready(pair[1]));
    send_text("!", MSG_OOB);
    SAY(at_mark(pair[1]));
    say_received("alone, it is lost as well", 100, 0);
    say_received("as this shows", 1, MSG_OOB);
    send_text("c!", MSG_OOB);
    SAY(shutdown(pair[0], SHUT_WR));
    say_received("before the end", 100, 0);
    say_received("at the end", 1, MSG_OOB);
    SAY(readiness(pair[1]));
    say_received("the end", 100, 0);
    SAY(at_mark(pair[1]));
    close_pair();
}

static void inlined(int family)
{
    connect_pair(family);
    SAY(setsockopt(pair[1], SOL_SOCKET, SO_OOBINLINE, &(int){1}, sizeof(int)));
    SAY(number(pair[1], SOL_SOCKET, SO_OOBINLINE));
    send_text("ab!", MSG_OOB);
    send_text("cd", 0);
    SAY(urgent_ready(pair[1]));
    SAY(ready_bytes(pair[1]));
    say_received("not by itself", 1, MSG_OOB);
    say_received("up to the mark", 100, 0);
    SAY(at_mark(pair[1]));
    SAY(urgent_ready(pair[1]));
    say_received("from the mark on", 100, 0);
    SAY(at_mark(pair[1]));
    SAY(urgent_ready(pair[1]));
    close_pair();
}

/* A second urgent byte moves the mark. */
static void moved(int family)
{
    connect_pair(family);
    send_text("a!", MSG_OOB);
    send_text("b?", MSG_OOB);
    send_text("c", 0);
    say_received("the second one", 1, MSG_OOB);
    say_received("the first one is ordinary", 100, 0);
    say_received("the rest", 100, 0);
    send_text("d!", MSG_OOB);
    say_received("up to the mark", 100, 0);
    if (family != AF_UNIX) { /* kernels differ */
        send_text("e?", MSG_OOB);
        say_received("the first one has gone", 100, 0);
    }
    close_pair();
}

static void refused(int family)
{
    int datagrams[2];

    connect_pair(family);
    SAY(send(pair[0], "", 0, MSG_OOB));
    SAY(send(pair[0], io_bad(), 1, MSG_OOB));
    SAY(urgent_ready(pair[1]));
    SAY(close(pair[1]));
    SAY(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams));
    SAY(send(datagrams[0], "x", 1, MSG_OOB));
    SAY(recv(datagrams[0], buffer, 1, MSG_OOB));
    close(datagrams[0]), close(datagrams[1]);
    SAY(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, datagrams));
    SAY(send(datagrams[0], "x", 1, MSG_OOB));
    SAY(recv(datagrams[0], buffer, 1, MSG_OOB));
    close(datagrams[0]), close(datagrams[1]);
    pair[1] = socket(AF_INET, SOCK_DGRAM, 0);
    SAY(at_mark(pair[1]));
    close_pair();
}

/* The mark is found in a long stream; an epoll reports it. */
static void long_stream(int family)
{
    struct epoll_event event = {.events = EPOLLPRI | EPOLLET};
    int watch = epoll_create1(0), total = 0;
    long bytes;

    connect_pair(family);
    SAY(epoll_ctl(watch, EPOLL_CTL_ADD, pair[1], &event));
    memset(buffer, 'x', sizeof buffer);
    SAY(send(pair[0], buffer, 50000, 0));
    SAY(epoll_wait(watch, &event, 1, 0));
    SAY(send(pair[0], buffer, 10001, MSG_OOB));
    SAY(send(pair[0], buffer, 20000, 0));
    SAY(epoll_wait(watch, &event, 1, 0));
    SAY(event.events);
    SAY(epoll_wait(watch, &event, 1, 0));
    while (!at_mark(pair[1]) && (bytes = read(pair[1], buffer, 7000)) > 0)
        total += (int)bytes;
    SAY(total);
    SAY(recv(pair[1], buffer, 1, MSG_OOB));
    SAY(recv(pair[1], buffer, 20000, MSG_WAITALL));
    SAY(recv(pair[1], buffer, 1, MSG_DONTWAIT));
    close(watch);
    close_pair();
}

/* ---- owners ---- */

static void owners(void)
{
    struct f_owner_ex owner = {-1, -1};
    int value = -1;

    connect_pair(AF_INET);
    SAY(fcntl(pair[1], F_GETOWN));
    SAY(fcntl(pair[1], F_GETOWN_EX, &owner));
    SAY(owner.type);
    SAY(owner.pid);
    SAY(fcntl(pair[1], F_SETOWN, 999999));
    SAY(fcntl(pair[1], F_SETOWN, -999999));
    SAY(fcntl(pair[1], F_SETOWN, INT32_MIN));
    SAY(fcntl(pair[1], F_SETOWN, getpid()));
    SAY(fcntl(pair[1], F_GETOWN) == getpid());
    SAY(ioctl(pair[1], FIOGETOWN, &value));
    SAY(value == getpid());
    SAY(fcntl(pair[1], F_SETOWN, -getpgrp()));
    SAY(fcntl(pair[1], F_GETOWN) == -getpgrp());
    SAY(fcntl(pair[1], F_GETOWN_EX, &owner));
    SAY(owner.type == F_OWNER_PGRP && owner.pid == getpgrp());
    owner.type = 9;
    SAY(fcntl(pair[1], F_SETOWN_EX, &owner));
    owner = (struct f_owner_ex){F_OWNER_TID, getpid()};
    SAY(fcntl(pair[1], F_SETOWN_EX, &owner));
    SAY(fcntl(pair[1], F_GETOWN_EX, &owner));
    SAY(owner.type == F_OWNER_TID && owner.pid == getpid());
    SAY(fcntl(pair[1], F_SETOWN, 0));
    SAY(fcntl(pair[1], F_GETOWN));
    value = getpid();
    SAY(ioctl(pair[1], SIOCSPGRP, &value));
    SAY(ioctl(pair[1], SIOCGPGRP, &value));
    SAY(value == getpid());
    SAY(ioctl(pair[1], FIOSETOWN, io_bad()));
    close_pair();
    SAY(pipe(pair));
    SAY(fcntl(pair[0], F_SETOWN, getpid()));
    SAY(fcntl(pair[0], F_GETOWN) == getpid());
    close_pair();
}

static void told(int family)
{
    struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};

    sigaction(SIGURG, &action, NULL);
    signals = 0;
    connect_pair(family);
    send_text("!", MSG_OOB);
    SAY(signals);
    SAY(fcntl(pair[1], F_SETOWN, getpid()));
    send_text("ordinary", 0);
    SAY(signals);
    send_text("urgent", MSG_OOB);
    SAY(signals);
    SAY(last_code == SI_KERNEL);
    SAY(fcntl(pair[1], F_SETOWN, 0));
    send_text("urgent", MSG_OOB);
    SAY(signals);
    close_pair();
}

/* Another process owns the socket, by itself or with its group. */
static void told_elsewhere(int group)
{
    sigset_t set;
    siginfo_t info;
    int status = -1, ready[2];
    pid_t child;

    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    connect_pair(AF_INET);
    SAY(pipe(ready));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        char byte = 0;

        if (group)
            setpgid(0, 0);
        sigprocmask(SIG_BLOCK, &set, NULL);
        if (write(ready[1], "r", 1) != 1 || sigwaitinfo(&set, &info) != SIGURG ||
            recv(pair[1], &byte, 1, MSG_OOB) != 1)
            _exit(1);
        _exit(info.si_code == SI_KERNEL && byte == '!' ? 7 : 2);
    }
    SAY(read(ready[0], buffer, 1));
    SAY(fcntl(pair[1], F_SETOWN, group ? -child : child));
    send_text("for the child!", MSG_OOB);
    SAY(waitpid(child, &status, 0) == child);
    SAY(WEXITSTATUS(status));
    SAY(fcntl(pair[1], F_GETOWN));
    send_text("!", MSG_OOB);
    close(ready[0]), close(ready[1]);
    close_pair();
}

/* ---- between threads ---- */

/* Sends an urgent byte when the other thread has taken the one before. */
static void *send_urgent(void *unused)
{
    for (int i = 0; i < 100; i++) {
        char byte;

        if (send(pair[0], "ordinary!", 9, MSG_OOB) != 9 || recv(pair[0], &byte, 1, 0) != 1)
            abort();
    }
    shutdown(pair[0], SHUT_WR);
    return unused;
}

static void between_threads(int family)
{
    struct pollfd p = {.events = POLLPRI | POLLRDHUP};
    int urgent = 0, ordinary = 0;
    pthread_t id;
    long bytes;

    connect_pair(family);
    p.fd = pair[1];
    SAY(pthread_create(&id, NULL, send_urgent, NULL));
    while (poll(&p, 1, -1) == 1 && p.revents & POLLPRI) {
        char byte = 0;

        urgent += recv(pair[1], &byte, 1, MSG_OOB) == 1 && byte == '!';
        while ((bytes = recv(pair[1], buffer, 100, MSG_DONTWAIT)) > 0)
            ordinary += (int)bytes;
        if (send(pair[1], "g", 1, 0) != 1)
            abort();
    }
    SAY(urgent);
    SAY(ordinary);
    SAY(pthread_join(id, NULL));
    close_pair();
}

int main(int argc, char **argv)
{
    static const int families[] = {AF_INET, AF_UNIX};

    io_quietly();
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        mark(families[i]);
        lost(families[i]);
        inlined(families[i]);
        moved(families[i]);
        refused(families[i]);
        long_stream(families[i]);
        told(families[i]);
    }
    owners();
    told_elsewhere(0);
    told_elsewhere(1);
    for (int i = 0; i < 2 && argc > 1 && strcmp(argv[1], "threads") == 0; i++)
        between_threads(families[i]);
    return 0;
}
