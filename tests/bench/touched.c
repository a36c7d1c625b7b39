/* touched MAPPED FILLED PART ROUNDS: maps so many MiB, fills the first of them, then writes to the
 * next part of these in each round, a byte a page, and computes for a million instructions.  Prints
 * the nanoseconds of the rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define MB (1ul << 20)
#define PAGE 4096ul
#define SPIN 500000ul

static long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void touch(volatile uint8_t *at, unsigned long bytes)
{
    for (unsigned long i = 0; i < bytes; i += PAGE)
        at[i] = 1;
}

static void spin(void)
{
    for (unsigned long i = 0; i < SPIN; i++)
        __asm__ volatile("");
}

int main(int argc, char **argv)
{
    unsigned long mib[3], mapped, filled, part, rounds;
    uint8_t *memory;
    long start;

    if (argc != 5)
        return 2;
    for (int i = 0; i < 3; i++)
        mib[i] = strtoul(argv[i + 1], NULL, 10) * MB;
    mapped = mib[0], filled = mib[1], part = mib[2], rounds = strtoul(argv[4], NULL, 10);
    memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED || filled > mapped || part > filled)
        return 1;
    touch(memory, filled);
    start = now_ns();
    for (unsigned long i = 0; i < rounds; i++) {
        touch(memory + i % (filled / part) * part, part);
        spin();
    }
    printf("%ld\n", now_ns() - start);
    return 0;
}
