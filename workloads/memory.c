/* memory: maps, unmaps, protects, moves and fills memory, and checks what it reads back. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u

static int failures;

static void check(const char *name, int good)
{
    printf("%s %s\n", good ? "ok" : "FAILED", name);
    failures += !good;
}

static uint8_t *map(size_t pages)
{
    void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("memory: mmap");
        exit(1);
    }
    return p;
}

static int all_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return 0;
    return 1;
}

static void check_mmap(void)
{
    uint8_t *p = map(64);
    check("mmap: page-aligned", ((uintptr_t)p & (PAGE - 1)) == 0);
    check("mmap: zero-filled", all_zero(p, 64 * PAGE));
    memset(p, 0x5a, 64 * PAGE);
    check("munmap: hole in the middle", munmap(p + 16 * PAGE, 16 * PAGE) == 0);
    check("munmap: neighbours stay", p[15 * PAGE] == 0x5a && p[32 * PAGE] == 0x5a);
    uint8_t *again = mmap(p + 16 * PAGE, 16 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    check("mmap: MAP_FIXED where asked", again == p + 16 * PAGE);
    check("mmap: old contents are gone", all_zero(p + 16 * PAGE, 16 * PAGE));
    check("munmap: all", munmap(p, 64 * PAGE) == 0);
    check("munmap: unmapped range is no error", munmap(p, 64 * PAGE) == 0);
    errno = 0;
    check("munmap: unaligned address", munmap(p + 1, PAGE) == -1 && errno == EINVAL);
    errno = 0;
    check("mmap: length zero",
          mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
              errno == EINVAL);
}

static void check_madvise(void)
{
    uint8_t *p = map(8);
    memset(p, 1, 8 * PAGE);
    check("madvise: MADV_DONTNEED", madvise(p + 2 * PAGE, 4 * PAGE, MADV_DONTNEED) == 0);
    check("madvise: pages read as zero", all_zero(p + 2 * PAGE, 4 * PAGE));
    check("madvise: neighbours stay", p[2 * PAGE - 1] == 1 && p[6 * PAGE] == 1);
    munmap(p, 8 * PAGE);
}

static void check_mremap(void)
{
    uint8_t *p = map(4);
    for (unsigned i = 0; i < 4; i++)
        p[i * PAGE] = (uint8_t)(i + 1);
    uint8_t *larger = mremap(p, 4 * PAGE, 1024 * PAGE, MREMAP_MAYMOVE);
    int kept = larger != MAP_FAILED;
    for (unsigned i = 0; kept && i < 4; i++)
        kept = larger[i * PAGE] == i + 1;
    check("mremap: grows and keeps contents", kept);
    check("mremap: new part is zero",
          larger != MAP_FAILED && all_zero(larger + 4 * PAGE, 1020 * PAGE));
    uint8_t *smaller = mremap(larger, 1024 * PAGE, 2 * PAGE, 0);
    check("mremap: shrinks in place", smaller == larger && smaller[PAGE] == 2);
    munmap(smaller, 2 * PAGE);
}

/* The system call itself: musl's sbrk() refuses to move the break. */
static uint8_t *set_break(uint8_t *address)
{
    return (uint8_t *)(uintptr_t)syscall(SYS_brk, address);
}

static void check_brk(void)
{
    uint8_t *start = set_break(0), *end = start + (1 << 20);
    check("brk: grows", set_break(end) == end);
    check("brk: new memory is zero", all_zero(start, 1 << 20));
    memset(start, 7, 1 << 20);
    check("brk: shrinks", set_break(start) == start);
    check("brk: zero again after shrinking", set_break(end) == end && all_zero(start, 1 << 20));
    check("brk: refuses the impossible", set_break((uint8_t *)1) == end);
    set_break(start);
}

static sigjmp_buf on_fault;

static void fault_handler(int signal)
{
    siglongjmp(on_fault, signal);
}

/* The signal that an access raises; 0 if none. */
static int probe(volatile uint8_t *address, int write)
{
    int signal = sigsetjmp(on_fault, 1);
    if (signal)
        return signal;
    if (write)
        *address = 1;
    else
        (void)*address;
    return 0;
}

static void check_mprotect(void)
{
    struct sigaction action = {.sa_handler = fault_handler}, before;
    uint8_t *p = map(3);
    memset(p, 3, 3 * PAGE);
    sigaction(SIGSEGV, &action, &before);
    check("mprotect: read-only", mprotect(p + PAGE, PAGE, PROT_READ) == 0);
    check("mprotect: contents stay", p[PAGE] == 3);
    check("mprotect: a store faults", probe(p + PAGE, 1) == SIGSEGV);
    check("mprotect: neighbours can be written", probe(p, 1) == 0 && probe(p + 2 * PAGE, 1) == 0);
    check("mprotect: none", mprotect(p + PAGE, PAGE, PROT_NONE) == 0);
    check("mprotect: a load faults", probe(p + PAGE, 0) == SIGSEGV);
    check("mprotect: back again",
          mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 && p[PAGE] == 3);
    munmap(p, 3 * PAGE);
    check("munmap: access faults", probe(p, 0) == SIGSEGV);
    sigaction(SIGSEGV, &before, NULL);
    errno = 0;
    check("mprotect: unmapped range", mprotect(p, PAGE, PROT_READ) == -1 && errno == ENOMEM);
}

/* Writes a pattern that depends on the address to every word, then checks it. */
static void check_fill(size_t megabytes)
{
    size_t words = (megabytes << 20) / sizeof(uint64_t), wrong = 0;
    uint64_t *p = malloc(words * sizeof(*p));
    if (!p) {
        check("fill: allocation", 0);
        return;
    }
    for (size_t i = 0; i < words; i++)
        p[i] = i * 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < words; i++)
        wrong += p[i] != i * 0x9e3779b97f4a7c15ull;
    check("fill: every word reads back", wrong == 0);
    free(p);
}

int main(int argc, char **argv)
{
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;
    check_mmap();
    check_madvise();
    check_mremap();
    check_brk();
    check_mprotect();
    check_fill(megabytes);
    errno = 0;
    void *huge = mmap(NULL, 1ull << 46, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check("mmap: too large is ENOMEM", huge == MAP_FAILED && errno == ENOMEM);
    return failures ? 1 : 0;
}
