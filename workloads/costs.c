/* costs: what a read and a write cost, in nanoseconds a call of the program's own clock (in virtual
 * time: instructions). */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "workloads/now.h"

#define TIMES 200
#define BYTES_MAX 65536

static char buffer[BYTES_MAX];

/* Measures the second of two rounds: in the first one files get their pages. */
static int measure(const char *what, int fd, size_t bytes, ssize_t (*move)(int, size_t))
{
    uint64_t start = 0;

    for (int round = 0; round < 2; round++) {
        start = now_ns();
        for (int i = 0; i < TIMES; i++)
            if (lseek(fd, 0, SEEK_SET) < 0 || move(fd, bytes) != (ssize_t)bytes)
                return 1;
    }
    uint64_t whole = now_ns() - start;

    start = now_ns();
    for (int i = 0; i < TIMES; i++)
        if (lseek(fd, 0, SEEK_SET) < 0)
            return 1;
    uint64_t seeking = now_ns() - start;

    printf("%s %zu %lu\n", what, bytes, (whole - seeking) / TIMES);
    return 0;
}

static ssize_t read_bytes(int fd, size_t bytes)
{
    return read(fd, buffer, bytes);
}

static ssize_t write_bytes(int fd, size_t bytes)
{
    return write(fd, buffer, bytes);
}

int main(void)
{
    int fd = open("/tmp/costs", O_RDWR | O_CREAT | O_TRUNC, 0600), failed = 0;

    for (size_t i = 0; i < sizeof buffer; i++)
        buffer[i] = (char)i;
    failed |= measure("write", fd, 1, write_bytes);
    failed |= measure("write", fd, BYTES_MAX, write_bytes);
    failed |= measure("read", fd, 1, read_bytes);
    failed |= measure("read", fd, BYTES_MAX, read_bytes);
    unlink("/tmp/costs");
    return failed;
}
