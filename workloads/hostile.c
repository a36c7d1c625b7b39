/* hostile: what a program may do to a kernel by sheer amount, or to itself. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/random.h"

#define PAGE 4096ul
#define THREADS_MAX 16
#define PAGES_MAX 64ul
#define LARGE_BYTES (4ul << 20)

/* ---- forks ---- */

static int run_forks(long count, long /* unused */)
{
    long made = 0;

    for (long i = 0; i < count; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit(0);
        if (child > 0)
            waitpid(child, NULL, 0);
        made += child > 0;
    }
    printf("forks: %ld made\n", made);
    return 0;
}

/* ---- stack ---- */

static const uint64_t bad_stacks[] = {
    0,
    8,
    4096,
    0x7ffffffff000,
    0x800000000000,
    0xffff800000000000,
    0xffffffff80200000,
    UINT64_MAX,
    UINT64_MAX - 4095,
    1ull << 63,
    0x3001, /* and odd */
};
#define BAD_STACKS (sizeof bad_stacks / sizeof bad_stacks[0])

static _Atomic int caught;

static void on_other_stack(int /* signal */)
{
    caught++;
    syscall(SYS_exit, 0); /* of this thread: it has nothing to return to */
}

/* Overwrites the thread's own frames with garbage, then its stack pointer. */
__attribute__((noinline)) static void corrupt(uint64_t stack)
{
    __asm__ volatile("leaq -4096(%%rsp), %%rdi\n"
                     "movl $528, %%ecx\n"
                     "movabsq $0xdeadbeefdeadbeef, %%rax\n"
                     "rep stosq\n"
                     "movq %0, %%rsp\n"
                     "pushq %%rax\n"
                     "ret"
                     :
                     : "d"(stack)
                     : "rax", "rcx", "rdi", "memory");
}

static void *corrupt_with_handler(void *argument)
{
    const size_t bytes = 64 << 10;
    stack_t other = {
        .ss_size = bytes,
        .ss_sp = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

    if (sigaltstack(&other, NULL) != 0)
        return argument;
    corrupt(*(const uint64_t *)argument);
    return argument;
}

static void *corrupt_alone(void *argument)
{
    corrupt(*(const uint64_t *)argument);
    return argument;
}

static int run_stack(long with_handler, long /* unused */)
{
    struct sigaction action = {.sa_handler = on_other_stack, .sa_flags = SA_ONSTACK};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    for (size_t i = 0; i < BAD_STACKS; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, with_handler ? corrupt_with_handler : corrupt_alone,
                           (void *)(uintptr_t)&bad_stacks[i]) != 0)
            return 1;
        while (caught ==
               (int)i) /* it never reaches the C library's code that would let it be joined */
            sched_yield();
    }
    printf("stack: %d of %d threads caught it\n", caught, (int)BAD_STACKS);
    return caught != BAD_STACKS;
}

/* ---- output ---- */

/* Numbers of 8 bytes, in writes of all sizes. */
static int run_output(long megabytes, long /* unused */)
{
    static uint64_t block[1 << 16];
    uint64_t left = (uint64_t)megabytes << 20, number = 0, state = 1;

    while (left) {
        size_t bytes = (1 + random_next(&state) % (sizeof block / 8)) * 8, done = 0;

        if (bytes > left)
            bytes = left;
        for (size_t i = 0; i < bytes / 8; i++)
            block[i] = number++;
        while (done < bytes) {
            ssize_t part = write(STDOUT_FILENO, (const char *)block + done, bytes - done);

            if (part <= 0)
                return 1;
            done += (size_t)part;
        }
        left -= bytes;
    }
    return 0;
}

/* ---- maps ---- */

static long rounds;
static _Atomic long wrong;

static void expect(const uint64_t *from, size_t bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes / 8; i += PAGE / 16)
        wrong += from[i] != value;
}

/* New memory reads as zeros, and its contents stay until this thread unmaps it. */
static void map_once(uint64_t *state, uint64_t tag)
{
    size_t bytes =
        random_next(state) % 32 ? (4 + random_next(state) % PAGES_MAX) * PAGE : LARGE_BYTES;
    size_t part = bytes / PAGE / 2 * PAGE;
    uint64_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        wrong++;
        return;
    }
    expect(p, bytes, 0);
    for (size_t i = 0; i < bytes / 8; i++)
        p[i] = tag;
    switch (random_next(state) % 4) {
    case 0:
        wrong += madvise(p, part, MADV_DONTNEED) != 0;
        expect(p, part, 0);
        break;
    case 1:
        wrong += mprotect(p, part, PROT_READ) != 0;
        expect(p, part, tag);
        break;
    case 2:
        p = mremap(p, bytes, bytes * 2, MREMAP_MAYMOVE);
        if (p == MAP_FAILED) {
            wrong++;
            return;
        }
        expect(p, bytes, tag);
        expect(p + bytes / 8, bytes, 0);
        bytes *= 2;
        break;
    default:
        expect(p, bytes, tag);
        wrong += munmap(p, PAGE) != 0; /* from now on any thread may get it */
        p += PAGE / 8;
        bytes -= PAGE;
        break;
    }
    wrong += munmap(p, bytes) != 0;
}

static void *map_often(void *argument)
{
    uint64_t tag = (uint64_t)(uintptr_t)argument, state = tag;

    for (long i = 0; i < rounds; i++)
        map_once(&state, tag);
    return NULL;
}

static int run_maps(long threads, long times)
{
    pthread_t thread[THREADS_MAX];

    rounds = times;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, map_often, (void *)(uintptr_t)(i + 1)) != 0)
            return 1;
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("maps: %ld wrong\n", wrong);
    return wrong != 0;
}

static const struct {
    const char *name;
    int (*run)(long, long);
} modes[] = {
    {"forks", run_forks}, {"stack", run_stack}, {"output", run_output}, {"maps", run_maps}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
    fputs("usage: hostile forks COUNT | stack HANDLER | output MEGABYTES | maps THREADS ROUNDS\n",
          stderr);
    return 2;
}
