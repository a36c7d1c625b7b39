/* io_move: moves bytes between files without the program's memory; uses memory, timers and signals
 * as files. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "workloads/io.h"

#define BYTES 300000

static unsigned char pattern[BYTES], copy[BYTES];

static long file_size(int fd)
{
    struct stat s;

    return fstat(fd, &s) < 0 ? -1 : (long)s.st_size;
}

/* How many bytes of a file are those of the pattern from `from` on. */
static long good(int fd, long from)
{
    long count = pread(fd, copy, BYTES, 0), same = 0;

    for (long i = 0; i < count; i++)
        same += copy[i] == pattern[(from + i) % BYTES];
    return same;
}

static void memory_files(void)
{
    int fd = memfd_create("one", MFD_CLOEXEC | MFD_ALLOW_SEALING), plain = memfd_create("", 0);

    SAY(fcntl(fd, F_GETFD));
    SAY(fcntl(fd, F_GETFL));
    SAY(write(fd, pattern, 5000));
    SAY(file_size(fd));
    SAY(fcntl(fd, F_GET_SEALS));
    SAY(fcntl(plain, F_GET_SEALS));
    SAY(fcntl(plain, F_ADD_SEALS, F_SEAL_WRITE));
    SAY(fcntl(0, F_GET_SEALS));
    SAY(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
    SAY(ftruncate(fd, 6000));
    SAY(write(fd, pattern, 1));
    SAY(pwrite(fd, pattern, 1, 4999));
    SAY(ftruncate(fd, 4000));
    SAY(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE));
    SAY(ftruncate(fd, 3000));
    SAY(pwrite(fd, pattern, 1, 0));
    SAY(good(fd, 0));
    SAY(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL));
    SAY(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
    SAY(fcntl(fd, F_GET_SEALS));
    SAY(fcntl(fd, F_ADD_SEALS, 0x1000));
    SAY(memfd_create("x", 0x100));
    close(fd);
    close(plain);
}

static void files(void)
{
    int from = memfd_create("from", 0), to = memfd_create("to", 0), fds[2];
    off_t at = 1000;
    loff_t in = 0, out = 0;

    SAY(write(from, pattern, BYTES));
    SAY(lseek(from, 0, SEEK_SET));
    SAY(sendfile(to, from, NULL, 1000));
    SAY(lseek(from, 0, SEEK_CUR));
    SAY(sendfile(to, from, &at, BYTES));
    SAY(at);
    SAY(lseek(from, 0, SEEK_CUR));
    SAY(file_size(to));
    SAY(good(to, 0));
    SAY(sendfile(to, from, &at, 10));
    SAY(pipe(fds));
    SAY(sendfile(to, fds[0], NULL, 10));
    SAY(sendfile(fds[1], from, NULL, 60000));
    SAY(splice(fds[0], NULL, to, NULL, 100, 0));
    SAY(ftruncate(to, 0));
    SAY(splice(fds[0], NULL, to, &out, BYTES, 0));
    SAY(out);
    SAY(file_size(to));
    SAY(good(to, 1100));
    SAY(splice(fds[0], NULL, to, NULL, 10, SPLICE_F_NONBLOCK));
    SAY(splice(from, &in, fds[1], NULL, 50000, 0));
    SAY(in);
    SAY(splice(from, &in, to, NULL, 10, 0));
    SAY(splice(from, NULL, fds[1], &in, 10, 0));
    SAY(splice(fds[0], NULL, fds[1], NULL, 10, 0));
    SAY(close(fds[0]));
    SAY(close(fds[1]));
    in = 500;
    out = 0;
    SAY(ftruncate(to, 0));
    SAY(copy_file_range(from, &in, to, &out, BYTES, 0));
    SAY(in);
    SAY(out);
    SAY(good(to, 500));
    in = 0;
    out = 10;
    SAY(copy_file_range(from, &in, from, &out, 100, 0));
    SAY(copy_file_range(from, &in, to, &out, 1, 1));
    SAY(copy_file_range(from, &in, 1000, &out, 1, 0));
    close(from);
    close(to);
}

static void pipes(void)
{
    int a[2], b[2];
    struct iovec parts[2] = {{pattern, 3000}, {pattern + 3000, 4000}};

    SAY(pipe(a));
    SAY(pipe(b));
    SAY(vmsplice(a[1], parts, 2, 0));
    SAY(tee(a[0], b[1], 100000, 0));
    SAY(tee(a[0], a[1], 10, 0));
    SAY(tee(a[0], 0, 10, 0));
    SAY(read(b[0], copy, BYTES));
    SAY(memcmp(copy, pattern, 7000));
    SAY(splice(a[0], NULL, b[1], NULL, 100000, 0));
    SAY(read(b[0], copy, 10));
    SAY(memcmp(copy, pattern, 10));
    parts[0].iov_base = copy;
    SAY(vmsplice(b[0], parts, 1, 0));
    SAY(memcmp(copy, pattern + 10, 3000));
    SAY(vmsplice(1000, parts, 1, 0));
    for (int i = 0; i < 2; i++) {
        close(a[i]);
        close(b[i]);
    }
}

/* ---- timers ---- */

static long expirations(int fd)
{
    uint64_t count = 0;

    return read(fd, &count, sizeof count) < 0 ? -1 : (long)count;
}

static int set(int fd, int flags, long first_ns, long every_ns)
{
    struct itimerspec t = {{every_ns / 1000000000, every_ns % 1000000000},
                           {first_ns / 1000000000, first_ns % 1000000000}};

    return timerfd_settime(fd, flags, &t, NULL);
}

static void sleep_ns(long ns)
{
    const struct timespec t = {ns / 1000000000, ns % 1000000000};

    nanosleep(&t, NULL);
}

static void timers(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    struct itimerspec left;
    struct timespec now;
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};

    SAY(expirations(fd));
    SAY(set(fd, 0, 300000000, 0));
    SAY(timerfd_gettime(fd, &left));
    SAY(left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 300000000);
    SAY(poll(&p, 1, 0));
    SAY(poll(&p, 1, 10000));
    SAY(p.revents);
    SAY(expirations(fd));
    SAY(expirations(fd));
    SAY(timerfd_gettime(fd, &left));
    SAY(left.it_value.tv_nsec);
    SAY(fcntl(fd, F_SETFL, 0));
    SAY(set(fd, 0, 2000000, 50000000));
    SAY(expirations(fd));
    sleep_ns(125000000);
    SAY(expirations(fd) >= 2);
    SAY(expirations(fd) >= 1);
    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
    SAY(epoll_wait(epoll, &event, 1, -1));
    SAY(epoll_wait(epoll, &event, 1, 0));
    SAY(expirations(fd) >= 1);
    SAY(epoll_wait(epoll, &event, 1, -1));
    SAY(set(fd, 0, 0, 0));
    SAY(epoll_wait(epoll, &event, 1, 5));
    clock_gettime(CLOCK_MONOTONIC, &now);
    SAY(set(fd, TFD_TIMER_ABSTIME, now.tv_sec * 1000000000 + now.tv_nsec + 2000000, 0));
    SAY(expirations(fd));
    SAY(set(fd, TFD_TIMER_ABSTIME, 1, 0)); /* long ago */
    SAY(expirations(fd));
    SAY(set(fd, 8, 1, 0));
    SAY(set(0, 0, 1, 0));
    SAY(set(fd, 0, -1, 0));
    SAY(write(fd, pattern, 8));
    SAY(read(fd, copy, 7));
    SAY(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
    close(fd);
    close(epoll);
}

/* ---- signals ---- */

static long next_signal(int fd)
{
    struct signalfd_siginfo info = {0};
    long count = read(fd, &info, sizeof info);

    return count == sizeof info ? (long)(info.ssi_signo * 100000 + info.ssi_int +
                                         (info.ssi_pid == (unsigned)getpid()) * 10000)
                                : count;
}

static void signals(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0), fd;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_NONBLOCK);
    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
    SAY(next_signal(fd));
    SAY(epoll_wait(epoll, &event, 1, 0));
    raise(SIGUSR1);
    SAY(epoll_wait(epoll, &event, 1, -1));
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 77});
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 78});
    SAY(next_signal(fd));
    SAY(next_signal(fd));
    SAY(next_signal(fd));
    SAY(next_signal(fd));
    SAY(epoll_wait(epoll, &event, 1, 0));
    sigdelset(&set, SIGUSR1);
    SAY(signalfd(fd, &set, 0) == fd);
    kill(getpid(), SIGUSR1);
    SAY(next_signal(fd));
    SAY(read(fd, copy, 100));
    SAY(signalfd(epoll, &set, 0));
    SAY(signalfd(-1, &set, 1));
    signal(SIGUSR1, SIG_IGN);
    close(fd);
    close(epoll);
}

int main(void)
{
    io_quietly();
    for (int i = 0; i < BYTES; i++)
        pattern[i] = (unsigned char)((unsigned)i * 2654435761u >> 24);
    memory_files();
    files();
    pipes();
    timers();
    signals();
    return 0;
}
