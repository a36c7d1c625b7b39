/* storm: system calls, page faults and loops in quick turn, all results checked: a program for the
 * sampler to disturb.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES 4
#define PAGE_BYTES 4096

static uint64_t failures;

static void check(int good)
{
    failures += !good;
}

/* Faults in pages, finds them zeroed and keeps what it writes. */
static uint64_t touch_pages(uint64_t round)
{
    uint64_t sum = 0;
    uint8_t *pages =
        mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        check(0);
        return 0;
    }
    for (int i = 0; i < PAGES; i++) {
        uint64_t *word = (uint64_t *)(pages + i * PAGE_BYTES) + round % 512;
        check(*word == 0);
        *word = round + (uint64_t)i;
    }
    for (int i = 0; i < PAGES; i++)
        sum += *((uint64_t *)(pages + i * PAGE_BYTES) + round % 512);
    check(sum == PAGES * round + PAGES * (PAGES - 1) / 2);
    check(munmap(pages, PAGES * PAGE_BYTES) == 0);
    return sum;
}

/* Registers must survive whatever comes in between. */
static uint64_t compute(uint64_t value)
{
    for (int i = 0; i < 200; i++) {
        value ^= value >> 33;
        value *= 0xff51afd7ed558ccdull;
        __asm__("" : "+r"(value));
    }
    return value;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long long rounds = argc == 2 ? strtoull(argv[1], &end, 10) : 0;
    struct timespec last = {0, 0}, now;
    uint64_t value = 1, sum = 0;
    pid_t self = getpid();

    if (argc != 2 || *end || rounds == 0) {
        fputs("usage: storm ROUNDS\n", stderr);
        return 2;
    }
    for (unsigned long long i = 0; i < rounds; i++) {
        check(getpid() == self);
        check(write(1, "", 0) == 0);
        check(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
        check(now.tv_sec > last.tv_sec ||
              (now.tv_sec == last.tv_sec && now.tv_nsec >= last.tv_nsec));
        last = now;
        sum += touch_pages(i);
        value = compute(value);
    }
    printf("storm: %016llx %llu, %llu checks failed\n", (unsigned long long)value,
           (unsigned long long)sum, (unsigned long long)failures);
    return failures != 0;
}
