/* maprace [ROUNDS [SEED]]: threads map, write, cut off, punch and protect one file at random, at
 * once. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 32ul
#define THREADS 3
#define BASE ((char *)0x600000000000)
#define FILE_NAME "maprace.data"

static int fd;
static long rounds = 2000;
static uint64_t seed = 1;
static __thread sigjmp_buf jump;

static void caught(int /* number */)
{
    siglongjmp(jump, 1);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void touch(volatile char *p, int write)
{
    if (sigsetjmp(jump, 1))
        return;
    if (write)
        *p = 1;
    else
        (void)*p;
}

/* One call on a random part of the file or of the mappings. */
static void call(uint64_t *random)
{
    uint64_t page = next(random) % PAGES, count = 1 + next(random) % (PAGES - page);
    int protection = (int)(next(random) % 4);
    char *p = BASE + page * PAGE;

    switch (next(random) % 9) {
    case 0:
        mmap(p, count * PAGE, protection, MAP_FIXED | MAP_SHARED, fd, (off_t)(page * PAGE));
        break;
    case 1:
        mmap(p, count * PAGE, protection, MAP_FIXED | MAP_PRIVATE, fd, (off_t)(page * PAGE));
        break;
    case 2:
        munmap(p, count * PAGE);
        break;
    case 3:
        mprotect(p, count * PAGE, protection);
        break;
    case 4:
        (void)!ftruncate(fd, (off_t)(page * PAGE + count));
        break;
    case 5:
        (void)!pwrite(fd, p, PAGE, (off_t)(count * PAGE));
        break;
    case 6:
        (void)!pread(fd, p, count * PAGE, (off_t)(page * PAGE));
        break;
    case 7:
        madvise(p, count * PAGE, protection & 1 ? MADV_DONTNEED : MADV_REMOVE);
        break;
    default:
        mremap(p, count * PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, BASE + (PAGES + page) * PAGE);
    }
}

static void *run(void *argument)
{
    uint64_t random = seed * 0x9e3779b97f4a7c15u + (uintptr_t)argument + 1;

    for (long i = 0; i < rounds; i++) {
        call(&random);
        for (int j = 0; j < 4; j++)
            touch(BASE + next(&random) % (2 * PAGES) * PAGE + next(&random) % PAGE,
                  next(&random) & 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = caught, .sa_flags = SA_NODEFER};
    pthread_t threads[THREADS];

    if (argc > 1)
        rounds = atol(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 0);
    fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, (off_t)(PAGES * PAGE)))
        return 2;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unlink(FILE_NAME);
    puts("done");
    return 0;
}
