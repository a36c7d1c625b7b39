/* io_poll: poll, select and epoll over pipes and counters. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "workloads/io.h"

#define MANY 400 /* descriptors: below the usual limit with what else is open */

static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
    caught = signal;
}

static int give(int fd, uint64_t value)
{
    return (int)write(fd, &value, sizeof value);
}

static int take(int fd)
{
    uint64_t value;

    return read(fd, &value, sizeof value) < 0 ? -1 : (int)value;
}

/* ---- poll and select ---- */

static void polls(void)
{
    int event = eventfd(0, EFD_NONBLOCK), fds[2];
    struct pollfd p[4] = {{.fd = event, .events = POLLIN},
                          {.fd = -1, .events = POLLIN},
                          {.fd = 99, .events = POLLIN},
                          {.fd = 1, .events = 0}};

    SAY(pipe(fds));
    SAY(poll(p, 2, 0));
    SAY(poll(p, 2, 3));
    SAY(poll(p, 4, -1));
    SAY(p[2].revents);
    give(event, 1);
    SAY(poll(p, 2, -1));
    SAY(p[0].revents);
    p[0].events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLPRI;
    SAY(poll(p, 1, -1));
    SAY(p[0].revents);
    p[0] = (struct pollfd){.fd = fds[1], .events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM};
    SAY(poll(p, 1, -1));
    SAY(p[0].revents);
    close(fds[0]);
    SAY(poll(p, 1, -1));
    SAY(p[0].revents);
    SAY(poll(io_bad(), 1, 0));
    SAY(poll(NULL, 0, 2));
    SAY(ppoll(p, 0, &(struct timespec){0, 1000000000}, NULL));
    close(fds[1]);
    close(event);
}

static void selects(void)
{
    int fds[2];
    fd_set in, out, odd;
    struct timeval left = {1, 500000}, none = {0, 0}, soon = {0, 2000};

    SAY(pipe(fds));
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&odd);
    FD_SET(fds[0], &in);
    FD_SET(fds[1], &out);
    FD_SET(fds[1], &odd);
    SAY(select(fds[1] + 1, &in, &out, &odd, &left));
    SAY(FD_ISSET(fds[0], &in));
    SAY(FD_ISSET(fds[1], &out));
    SAY(FD_ISSET(fds[1], &odd));
    SAY(left.tv_sec);
    FD_ZERO(&in);
    FD_SET(fds[0], &in);
    SAY(select(fds[0] + 1, &in, NULL, NULL, &none));
    FD_SET(fds[0], &in);
    SAY(select(fds[0] + 1, &in, NULL, NULL, &soon));
    SAY(FD_ISSET(fds[0], &in));
    SAY(soon.tv_sec + soon.tv_usec);
    SAY(write(fds[1], "x", 1));
    FD_SET(fds[0], &in);
    SAY(select(fds[0] + 1, &in, NULL, NULL, NULL));
    SAY(FD_ISSET(fds[0], &in));
    FD_SET(60, &in);
    SAY(select(61, &in, NULL, NULL, &none));
    SAY(select(-1, &in, NULL, NULL, &none));
    close(fds[0]);
    close(fds[1]);
}

/* A signal that is blocked outside comes while the call waits, or when its mask lets it in. */
static void masks(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked, empty, now;

    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&empty);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    raise(SIGUSR1);
    SAY(caught);
    SAY(ppoll(NULL, 0, NULL, &empty));
    SAY(caught);
    sigprocmask(SIG_BLOCK, NULL, &now);
    SAY(sigismember(&now, SIGUSR1));
    caught = 0;
    raise(SIGUSR1);
    SAY(pselect(0, NULL, NULL, NULL, NULL, &empty));
    SAY(caught);
    caught = 0;
    raise(SIGUSR1);
    int epoll = epoll_create1(0);
    struct epoll_event event;

    SAY(epoll_pwait(epoll, &event, 1, -1, &empty));
    SAY(caught);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    close(epoll);
}

/* ---- epoll ---- */

static int control(int epoll, int operation, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};

    return epoll_ctl(epoll, operation, fd, &event);
}

static long next(int epoll, int ms)
{
    struct epoll_event event = {0};
    int count = epoll_wait(epoll, &event, 1, ms);

    return count <= 0 ? count : (long)(event.data.u64 * 1000 + event.events);
}

static void epolls(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC), a = eventfd(0, EFD_NONBLOCK),
        b = eventfd(0, EFD_NONBLOCK), copy;
    struct epoll_event events[4];

    SAY(control(epoll, EPOLL_CTL_ADD, a, EPOLLIN, 1));
    SAY(control(epoll, EPOLL_CTL_ADD, a, EPOLLIN, 1));
    SAY(control(epoll, EPOLL_CTL_MOD, b, EPOLLIN, 1));
    SAY(control(epoll, EPOLL_CTL_DEL, b, 0, 0));
    SAY(control(epoll, EPOLL_CTL_ADD, epoll, EPOLLIN, 1));
    SAY(control(epoll, EPOLL_CTL_ADD, 99, EPOLLIN, 1));
    SAY(control(a, EPOLL_CTL_ADD, b, EPOLLIN, 1));
    SAY(control(epoll, 7, a, EPOLLIN, 1));
    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, b, NULL));
    SAY(next(epoll, 0));
    SAY(next(epoll, 2));
    give(a, 1);
    SAY(next(epoll, -1));
    SAY(next(epoll, 0)); /* level-triggered: again */
    SAY(control(epoll, EPOLL_CTL_MOD, a, EPOLLIN | EPOLLET, 2));
    SAY(next(epoll, 0));
    SAY(next(epoll, 0)); /* edge-triggered: once */
    give(a, 1);
    SAY(next(epoll, 0));
    SAY(next(epoll, 0));
    SAY(control(epoll, EPOLL_CTL_MOD, a, EPOLLIN | EPOLLONESHOT, 3));
    SAY(next(epoll, 0));
    give(a, 1);
    SAY(next(epoll, 0)); /* one-shot: not until it is armed again */
    SAY(control(epoll, EPOLL_CTL_MOD, a, EPOLLIN | EPOLLOUT | EPOLLONESHOT, 4));
    SAY(next(epoll, 0));
    SAY(control(epoll, EPOLL_CTL_MOD, a, EPOLLIN, 5));
    SAY(control(epoll, EPOLL_CTL_ADD, b, EPOLLOUT, 6));
    SAY(epoll_wait(epoll, events, 4, 0));
    SAY(epoll_wait(epoll, events, 0, 0));
    SAY(epoll_wait(a, events, 1, 0));
    SAY(epoll_wait(epoll, io_bad(), 1, 0));
    SAY(control(epoll, EPOLL_CTL_DEL, b, 0, 0));
    copy = dup(a);
    SAY(close(a));
    SAY(next(epoll, 0)); /* another descriptor keeps the file open */
    SAY(close(copy));
    SAY(next(epoll, 0));
    SAY(take(b));
    SAY(epoll_create(0));
    SAY(epoll_create1(1));
    close(b);
    close(epoll);
}

static void nested(void)
{
    int inner = epoll_create1(0), outer = epoll_create1(0), event = eventfd(0, EFD_NONBLOCK);
    int chain[6];

    SAY(control(inner, EPOLL_CTL_ADD, event, EPOLLIN, 1));
    SAY(control(outer, EPOLL_CTL_ADD, inner, EPOLLIN, 2));
    SAY(control(inner, EPOLL_CTL_ADD, outer, EPOLLIN, 3));
    SAY(next(outer, 0));
    give(event, 1);
    SAY(next(outer, -1));
    SAY(next(inner, -1));
    take(event);
    SAY(next(outer, 0));
    close(event);
    close(inner);
    close(outer);
    for (int i = 0; i < 6; i++)
        chain[i] = epoll_create1(0);
    for (int i = 0; i < 5; i++)
        printf("chain %d: %d\n", i, control(chain[i], EPOLL_CTL_ADD, chain[i + 1], EPOLLIN, 0));
    for (int i = 0; i < 6; i++)
        close(chain[i]);
}

static void many(void)
{
    int epoll = epoll_create1(0), fds[MANY];
    long sum = 0, count = 0;

    for (int i = 0; i < MANY; i++) {
        fds[i] = eventfd(0, EFD_NONBLOCK);
        control(epoll, EPOLL_CTL_ADD, fds[i], EPOLLIN, (uint64_t)i);
    }
    for (int i = 0; i < MANY * 10; i++) {
        struct epoll_event event;

        give(fds[i * 7 % MANY], 1);
        count += epoll_wait(epoll, &event, 1, -1);
        sum += (long)event.data.u64;
        take(fds[event.data.u64]);
    }
    SAY(count);
    SAY(sum);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    SAY(next(epoll, 0));
    close(epoll);
}

/* ---- several threads ---- */

static int queue[2], done[2], set;

static void *serve(void *)
{
    long served = 0;
    struct epoll_event event;

    while (epoll_wait(set, &event, 1, -1) == 1) {
        char byte;

        if (event.data.u64 == 1)
            break;
        if (read(queue[0], &byte, 1) != 1)
            continue; /* another thread was faster */
        served++;
        if (write(done[1], &byte, 1) != 1)
            abort();
    }
    return (void *)served;
}

static void servers(void)
{
    const int jobs = 500;
    pthread_t ids[3];
    int end = eventfd(0, EFD_NONBLOCK);
    long served = 0, sum = 0;

    SAY(pipe2(queue, O_NONBLOCK));
    SAY(pipe(done));
    set = epoll_create1(0);
    SAY(control(set, EPOLL_CTL_ADD, queue[0], EPOLLIN, 0));
    SAY(control(set, EPOLL_CTL_ADD, end, EPOLLIN, 1));
    for (int i = 0; i < 3; i++)
        SAY(pthread_create(&ids[i], NULL, serve, NULL));
    for (int i = 0; i < jobs; i++) {
        struct pollfd p = {.fd = done[0], .events = POLLIN};
        unsigned char byte = (unsigned char)i;

        if (write(queue[1], &byte, 1) != 1 || poll(&p, 1, -1) != 1 || read(done[0], &byte, 1) != 1)
            abort();
        sum += byte;
    }
    give(end, 1);
    for (int i = 0; i < 3; i++) {
        void *count;

        pthread_join(ids[i], &count);
        served += (long)count;
    }
    SAY(served);
    SAY(sum);
}

int main(int argc, char **argv)
{
    io_quietly();
    polls();
    selects();
    masks();
    epolls();
    nested();
    many();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        servers();
    return 0;
}
