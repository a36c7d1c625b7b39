/* touch: prints the cost of page faults in nanoseconds: each kind's mean over 500 pages of 4 KiB.
 */
#define FILE_NAME "touch.data"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096l
#define PAGES 500l

static long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void touch(const char *kind, volatile char *p, int write)
{
    long start;

    now_ns(); /* its own page faults */
    start = now_ns();
    for (long i = 0; i < PAGES; i++) {
        if (write)
            p[i * PAGE] = 1;
        else
            (void)p[i * PAGE];
    }
    printf("%s %ld\n", kind, (now_ns() - start) / PAGES);
}

static void *map(int flags, int fd)
{
    void *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

int main(void)
{
    int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
    static char page[PAGE];
    void *zero = map(MAP_PRIVATE | MAP_ANONYMOUS, -1), *copy, *shared;

    memset(page, 'x', sizeof page);
    for (long i = 0; i < PAGES; i++)
        if (write(fd, page, sizeof page) != (ssize_t)sizeof page)
            return 2;
    copy = map(MAP_PRIVATE, fd);
    shared = map(MAP_SHARED, fd);
    if (!zero || !copy || !shared)
        return 1;
    touch("anonymous", zero, 1);
    touch("file-read", shared, 0);
    touch("file-copy", copy, 1);
    unlink(FILE_NAME);
    return 0;
}
