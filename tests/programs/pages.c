/* pages ROUNDS [fork]: touches pages in a known pattern, for about a millisecond of virtual time a
 * round, and prints where they are: NAME ADDRESS PAGES.
 *
 * cold: written once, at first.  hot: written in each round.  scan: read in each round.  With fork,
 * a child writes the first 100 pages of hot and 50 pages of its own once, and runs for as long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define COLD 256ul
#define HOT 128ul
#define SCAN 384ul
#define OWN 50ul
#define CHILD_HOT 100ul
#define SPIN 200000ul

static volatile char *map(const char *name, unsigned long pages)
{
    char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || madvise(p, pages * PAGE, MADV_NOHUGEPAGE) != 0)
        exit(1);
    if (name != NULL)
        printf("%s %lu %lu\n", name, (unsigned long)p, pages);
    return p;
}

__attribute__((noipa)) static void write_all(volatile char *p, unsigned long pages)
{
    for (unsigned long i = 0; i < pages; i++)
        p[i * PAGE] = 1;
}

__attribute__((noipa)) static void read_all(volatile char *p, unsigned long pages)
{
    for (unsigned long i = 0; i < pages; i++)
        (void)p[i * PAGE];
}

static void spin(void)
{
    for (unsigned long i = 0; i < SPIN; i++)
        __asm__ volatile("");
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
    volatile char *cold = map("cold", COLD), *hot = map("hot", HOT), *scan = map("scan", SCAN);
    volatile char *own = map("own", OWN);

    fflush(stdout);
    write_all(cold, COLD);
    write_all(hot, HOT);
    if (argc > 2 && fork() == 0) {
        write_all(hot, CHILD_HOT);
        write_all(own, OWN);
        for (unsigned long i = 0; i < rounds; i++)
            spin();
        _exit(0);
    }
    for (unsigned long i = 0; i < 2 * rounds; i++) {
        write_all(hot, HOT);
        read_all(scan, SCAN);
        spin();
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
