/* io_pipe: pipes and event counters, alone and between threads. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/io.h"

#define BLOCK 4096
#define BYTES_MAX (1 << 20)

static char buffer[BYTES_MAX];
static volatile sig_atomic_t broken;

static void on_pipe(int signal)
{
    broken += signal == SIGPIPE;
}

/* ---- one thread ---- */

static long fill_up(int fd, size_t part)
{
    long total = 0, count;

    while ((count = write(fd, buffer, part)) > 0)
        total += count;
    return total;
}

static void capacity(void)
{
    int fds[2], bytes = -1;

    SAY(pipe2(fds, O_NONBLOCK | O_CLOEXEC));
    SAY(fcntl(fds[0], F_GETFL));
    SAY(fcntl(fds[1], F_GETFL));
    SAY(fcntl(fds[1], F_GETFD));
    SAY(fcntl(fds[0], F_GETPIPE_SZ));
    SAY(readiness(fds[0]));
    SAY(readiness(fds[1]));
    SAY(read(fds[0], buffer, 10));
    SAY(write(fds[0], buffer, 10));
    SAY(read(fds[1], buffer, 10));
    SAY(lseek(fds[0], 0, SEEK_CUR));
    SAY(pread(fds[0], buffer, 1, 0));
    SAY(fill_up(fds[1], BLOCK));
    SAY(readiness(fds[1]));
    SAY(ioctl(fds[0], FIONREAD, &bytes));
    SAY(bytes);
    SAY(fcntl(fds[0], F_SETPIPE_SZ, 4096));
    SAY(fcntl(fds[0], F_SETPIPE_SZ, 1 << 17));
    SAY(fill_up(fds[1], BLOCK));
    SAY(read(fds[0], buffer, BLOCK));
    SAY(readiness(fds[1]));
    SAY(write(fds[1], buffer, BLOCK));
    SAY(write(fds[1], buffer, 1));
    SAY(read(fds[0], buffer, BYTES_MAX));
    SAY(fcntl(fds[0], F_SETPIPE_SZ, 5000));
    SAY(fcntl(fds[0], F_SETPIPE_SZ, 2 << 20));
    SAY(write(fds[1], buffer, BYTES_MAX));
    SAY(close(fds[1]));
    SAY(readiness(fds[0]));
    SAY(read(fds[0], buffer, 5000));
    SAY(read(fds[0], buffer, BYTES_MAX));
    SAY(read(fds[0], buffer, BYTES_MAX));
    SAY(readiness(fds[0]));
    SAY(close(fds[0]));
    SAY(close(fds[0]));
    SAY(pipe2(fds, 0x10));
    SAY(pipe2(io_bad(), 0));
}

static void no_reader(void)
{
    struct sigaction action = {.sa_handler = on_pipe};
    int fds[2];

    sigaction(SIGPIPE, &action, NULL);
    SAY(pipe(fds));
    SAY(close(fds[0]));
    SAY(readiness(fds[1]));
    SAY(write(fds[1], buffer, 1));
    SAY(broken);
    SAY(write(fds[1], buffer, 0));
    SAY(broken);
    SAY(close(fds[1]));
}

static void bad_memory(void)
{
    int fds[2];

    SAY(pipe2(fds, O_NONBLOCK));
    SAY(write(fds[1], io_bad(), 10));
    SAY(write(fds[1], "0123456789", 10));
    SAY(read(fds[0], io_bad(), 10));
    SAY(read(fds[0], buffer, 4));
    SAY(read(fds[0], buffer, 100));
    SAY(dup2(fds[0], fds[1]));
    SAY(read(fds[1], buffer, 100));
    close(fds[0]);
    close(fds[1]);
}

static long take(int fd)
{
    uint64_t value = 0;

    return read(fd, &value, sizeof value) < 0 ? -1 : (long)value;
}

static long give(int fd, uint64_t value)
{
    return write(fd, &value, sizeof value);
}

static void counters(void)
{
    int fd = eventfd(3, EFD_NONBLOCK), one = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE);
    struct stat s;

    SAY(readiness(fd));
    SAY(take(fd));
    SAY(take(fd));
    SAY(readiness(fd));
    SAY(give(fd, 5));
    SAY(give(fd, 7));
    SAY(take(fd));
    SAY(give(fd, UINT64_MAX));
    SAY(give(fd, UINT64_MAX - 1));
    SAY(readiness(fd));
    SAY(give(fd, 1));
    SAY(read(fd, buffer, 7));
    SAY(write(fd, buffer, 7));
    SAY(take(one));
    SAY(take(one));
    SAY(take(one));
    SAY(fcntl(fd, F_GETFL));
    SAY(fstat(fd, &s));
    SAY(s.st_mode);
    SAY(eventfd(0, 64));
    close(fd);
    close(one);
}

/* ---- several threads ---- */

#define WRITERS 3
#define RECORDS 600

struct record { /* written whole: shorter than PIPE_BUF */
    uint32_t writer;
    uint32_t number;
    unsigned char fill[120];
};

static int channel[2];

static void *produce(void *number)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct record r = {.writer = (uint32_t)(uintptr_t)number, .number = i};

        memset(r.fill, (int)(i + r.writer), sizeof r.fill);
        if (write(channel[1], &r, sizeof r) != sizeof r)
            abort();
    }
    return NULL;
}

static long whole_records(void)
{
    uint32_t next[WRITERS] = {0};
    struct record r;
    long good = 0;

    for (uint32_t i = 0; i < WRITERS * RECORDS; i++) {
        size_t have = 0;

        while (have < sizeof r) {
            long count = read(channel[0], (char *)&r + have, sizeof r - have);

            if (count <= 0)
                return good;
            have += (size_t)count;
        }
        good += r.writer < WRITERS && r.number == next[r.writer]++ &&
                r.fill[0] == (unsigned char)(r.number + r.writer) && r.fill[119] == r.fill[0];
    }
    return good;
}

static void *stream(void *)
{
    uint32_t state = 1;

    for (int round = 0; round < 8; round++) {
        static unsigned char out[200000];

        for (size_t i = 0; i < sizeof out; i++)
            out[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
        if (write(channel[1], out, sizeof out) != sizeof out)
            abort();
    }
    close(channel[1]);
    return NULL;
}

static long same_stream(void)
{
    uint32_t state = 1;
    long count, good = 0;

    while ((count = read(channel[0], buffer, 7777)) > 0)
        for (long i = 0; i < count; i++)
            good += (unsigned char)buffer[i] ==
                    (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    return good;
}

static void between_threads(void)
{
    pthread_t ids[WRITERS];

    SAY(pipe(channel));
    for (uintptr_t i = 0; i < WRITERS; i++)
        SAY(pthread_create(&ids[i], NULL, produce, (void *)i));
    SAY(whole_records());
    for (int i = 0; i < WRITERS; i++)
        pthread_join(ids[i], NULL);
    SAY(pthread_create(&ids[0], NULL, stream, NULL));
    SAY(same_stream());
    pthread_join(ids[0], NULL);
    close(channel[0]);
}

static int there, back;

static void *answer(void *rounds)
{
    long sum = 0;

    for (uintptr_t i = 0; i < (uintptr_t)rounds; i++) {
        sum += take(there);
        give(back, 1);
    }
    return (void *)sum;
}

static void ping_pong(void)
{
    const uintptr_t rounds = 200;
    pthread_t id;
    void *sum;

    there = eventfd(0, 0);
    back = eventfd(0, 0);
    SAY(pthread_create(&id, NULL, answer, (void *)rounds));
    for (uintptr_t i = 0; i < rounds; i++) {
        give(there, i + 1);
        take(back);
    }
    pthread_join(id, &sum);
    SAY((long)sum);
}

int main(int argc, char **argv)
{
    io_quietly();
    capacity();
    no_reader();
    bad_memory();
    counters();
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        between_threads();
        ping_pong();
    }
    return 0;
}
