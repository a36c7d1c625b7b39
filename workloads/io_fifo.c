/* io_fifo: FIFOs, and calls on files that are none: in a directory of its own below the present
 * one. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "workloads/io.h"

#define FIFO "fifo"
#define ROUNDS 200
#define PAGE 4096ul
#define MIB (1ul << 20)

/* Makes calls that do not wait although there is no other end. */
static void alone(void)
{
    struct stat s;
    char text[64];
    int reader, writer, more, both;

    SAY(mkfifo(FIFO, 0640));
    SAY(mkfifo(FIFO, 0640));
    SAY(stat(FIFO, &s));
    SAY(s.st_mode);
    SAY(open(FIFO, O_WRONLY | O_NONBLOCK));
    SAY(open(FIFO, O_RDONLY | O_DIRECTORY));
    SAY(reader = open(FIFO, O_RDONLY | O_NONBLOCK));
    SAY(readiness(reader));
    SAY(read(reader, text, sizeof text));
    SAY(writer = open(FIFO, O_WRONLY | O_NONBLOCK));
    SAY(read(reader, text, sizeof text));
    SAY(more = open(FIFO, O_WRONLY));
    SAY(write(writer, "one", 3));
    SAY(write(more, "two", 3));
    SAY(readiness(reader));
    SAY(readiness(writer));
    SAY(fstat(reader, &s));
    SAY(s.st_mode);
    SAY(lseek(reader, 0, SEEK_SET));
    SAY(close(writer));
    SAY(read(reader, text, 4));
    SAY(close(more));
    SAY(readiness(reader));
    SAY(read(reader, text, sizeof text));
    SAY(read(reader, text, sizeof text));
    SAY(close(reader));
    SAY(both = open(FIFO, O_RDWR));
    SAY(readiness(both));
    SAY(write(both, "lost", 4));
    SAY(readiness(both));
    SAY(fcntl(both, F_GETPIPE_SZ));
    SAY(reader = open(FIFO, O_RDONLY));
    SAY(read(reader, text, 2));
    SAY(close(both));
    SAY(readiness(reader));
    SAY(unlink(FIFO));
    SAY(read(reader, text, 10));
    SAY(close(reader));
    SAY(mkfifo(FIFO, 0600));
    SAY(reader = open(FIFO, O_RDONLY | O_NONBLOCK));
    SAY(readiness(reader));
    SAY(close(reader));
}

static int turns[2]; /* a pipe: the reader has closed */

static void *write_rounds(void *)
{
    char turn;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        int fd = open(FIFO, O_WRONLY);

        if (fd < 0 || write(fd, &i, sizeof i) != sizeof i)
            abort();
        close(fd);
        if (read(turns[0], &turn, 1) != 1)
            abort();
    }
    return NULL;
}

/* Opens wait for each other. */
static void together(void)
{
    pthread_t id;
    uint32_t number, expected = 0;

    SAY(pipe(turns));
    SAY(pthread_create(&id, NULL, write_rounds, NULL));
    while (expected < ROUNDS) {
        int fd = open(FIFO, O_RDONLY);

        while (read(fd, &number, sizeof number) == sizeof number)
            if (number != expected++)
                abort();
        close(fd);
        if (write(turns[1], "", 1) != 1)
            abort();
    }
    pthread_join(id, NULL);
    SAY(expected);
}

static void on_alarm(int /* signal */)
{
}

/* A signal ends the wait for another end. */
static void interrupted(void)
{
    struct sigaction action = {.sa_handler = on_alarm};

    sigaction(SIGALRM, &action, NULL);
    ualarm(1000, 1000); /* again and again: one may come before the call */
    SAY(open(FIFO, O_RDONLY));
    SAY(open(FIFO, O_WRONLY));
    ualarm(0, 0);
    SAY(open(FIFO, O_WRONLY | O_NONBLOCK));
}

static void seeks(void)
{
    sigset_t none;
    int event = eventfd(0, EFD_NONBLOCK), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    int poll = epoll_create1(0), signals;
    char byte;

    sigemptyset(&none);
    signals = signalfd(-1, &none, SFD_NONBLOCK);
    SAY(lseek(event, 5, SEEK_SET));
    SAY(lseek(event, 5, SEEK_CUR));
    SAY(lseek(event, 5, 77));
    SAY(lseek(timer, 5, SEEK_END));
    SAY(lseek(poll, 5, SEEK_SET));
    SAY(lseek(signals, 5, SEEK_SET));
    SAY(pread(event, &byte, 1, 0));
}

/* Its own memory that can be written counts, and so does the heap. */
static void data_limit(void)
{
    struct rlimit limit = {.rlim_cur = 64 * MIB, .rlim_max = 64 * MIB};
    char *fixed, *shared;

    SAY(setrlimit(RLIMIT_DATA, &limit));
    SAY(mmap(NULL, 100 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED);
    fixed = mmap(NULL, 100 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, 100 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    SAY(fixed == MAP_FAILED || shared == MAP_FAILED);
    SAY(mprotect(fixed, 100 * MIB, PROT_READ | PROT_WRITE));
    SAY(mprotect(fixed, 30 * MIB, PROT_READ | PROT_WRITE));
    SAY(mprotect(fixed, 60 * MIB, PROT_READ | PROT_WRITE));
    SAY(mmap(NULL, 40 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED);
    SAY(munmap(fixed, 100 * MIB));
    SAY(mmap(NULL, 40 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED);
}

static void memory(void)
{
    int fd = open("/dev/zero", O_RDWR), only_read = open("/dev/zero", O_RDONLY);
    char *own = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    SAY(own == MAP_FAILED || shared == MAP_FAILED);
    own[1] = shared[1] = 1;
    SAY(own[0] + own[1] + own[2 * PAGE]);
    SAY(shared[0] + shared[1] + shared[2 * PAGE]);
    SAY(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, only_read, 0) == MAP_FAILED);
    SAY(munmap(own + PAGE, PAGE));
    SAY(mprotect(own, 3 * PAGE, PROT_READ)); /* the part before the hole is changed */
    SAY(pread(open("/proc/self/exe", O_RDONLY), own, 1, 0));
    SAY(pread(open("/proc/self/exe", O_RDONLY), own + 2 * PAGE, 1, 0));
    SAY(mprotect(own + PAGE, PAGE, PROT_READ));
}

int main(int argc, char **argv)
{
    char directory[] = "io_fifo.XXXXXX";

    io_quietly();
    if (!mkdtemp(directory) || chdir(directory) != 0)
        return 1;
    alone();
    interrupted();
    seeks();
    memory();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        together();
    data_limit();
    unlink(FIFO);
    return chdir("..") != 0 || rmdir(directory) != 0;
}
