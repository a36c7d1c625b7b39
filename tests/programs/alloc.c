/* Allocates memory in known patterns: alloc CASE.  How often and how many bytes is in
 * tests/guest/40-alloc.t. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTLINE __attribute__((noinline, noclone))

static void *volatile kept; /* so that no call is optimized away */
static void *many[1000];

OUTLINE static void *leak_here(size_t bytes)
{
    kept = malloc(bytes);
    return kept;
}

OUTLINE static void leaks(void)
{
    for (int i = 0; i < 1000; i++)
        leak_here(64);
}

OUTLINE static void churn(void)
{
    for (int i = 0; i < 5000; i++) {
        kept = calloc(2, 50);
        free(kept);
    }
}

OUTLINE static void peak(void)
{
    for (int i = 0; i < 100; i++)
        many[i] = malloc(10000);
    for (int i = 0; i < 100; i++)
        free(many[i]);
    kept = malloc(500);
    free(kept);
}

OUTLINE static void grow(void)
{
    char *text = NULL;

    for (size_t i = 1; i <= 64; i++)
        kept = text = realloc(text, i * 1000);
    free(text);
}

OUTLINE static void kinds(void)
{
    void *stored = NULL;

    kept = memalign(64, 100);
    free(kept);
    kept = aligned_alloc(64, 128);
    free(kept);
    if (posix_memalign(&stored, 64, 777) == 0)
        free(stored);
    if (posix_memalign(&stored, 3, 1) == 0) /* no power of two: it fails */
        free(stored);
    kept = reallocarray(NULL, 10, 11);
    kept = reallocarray(kept, 20, 11);
    free(kept);
    kept = calloc(1000, 1000); /* its memory is fresh, and is not cleared */
    free(kept);
    kept = malloc(0);
    free(kept);
    free(NULL);
    kept = malloc((size_t)-1 / 4); /* fails */
}

OUTLINE static void *frees(void *objects)
{
    for (int i = 0; i < 1000; i++)
        free(((void **)objects)[i]);
    return malloc(333);
}

OUTLINE static void threads(void)
{
    pthread_t thread;
    void *last;

    for (int i = 0; i < 1000; i++)
        many[i] = malloc(48);
    pthread_create(&thread, NULL, frees, many);
    pthread_join(thread, &last);
    free(last);
}

OUTLINE static void forks(void)
{
    int status;

    for (int i = 0; i < 100; i++)
        many[i] = malloc(48);
    if (fork() == 0) {
        for (int i = 0; i < 50; i++)
            free(many[i]);
        for (int i = 0; i < 10; i++)
            leak_here(1000);
        _exit(0);
    }
    wait(&status);
    for (int i = 0; i < 100; i++)
        free(many[i]);
}

OUTLINE static void maps(void)
{
    char *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    map = mremap(map, 1 << 20, 4 << 20, MREMAP_MAYMOVE);
    munmap(map + (1 << 20), 1 << 20);
    munmap(map, 4 << 20);
}

/* The pages of the object are never touched: the allocator's own words are on the one before. */
OUTLINE static void untouched(void)
{
    kept = aligned_alloc(4096, 1 << 20);
}

/* Without its cache of threads glibc does not notice. */
OUTLINE static void twice(void)
{
    many[0] = leak_here(20);
    many[1] = leak_here(20);
    free(many[0]);
    free(many[1]);
    free(many[0]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"leaks", leaks}, {"churn", churn},        {"peak", peak},   {"grow", grow},
                 {"kinds", kinds}, {"threads", threads},    {"forks", forks}, {"maps", maps},
                 {"twice", twice}, {"untouched", untouched}};

    for (int a = 1; a < argc; a++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            if (strcmp(argv[a], cases[i].name) == 0)
                cases[i].run();
    return write(1, "done\n", 5) != 5;
}
