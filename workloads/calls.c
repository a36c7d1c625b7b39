/* calls: works at the end of call chains of known shape, which call stacks must show.
 *
 * Every chain begins below `begin`, which clears the frame pointer as a thread's first function has
 * it, and works in `leaf`: so it has the frames leaf, those of the shape, begin.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OPAQUE __attribute__((noinline, weak)) /* the compiler must not look into it */
#define THREADS_MAX 16
#define ALTERNATE_BYTES 65536u
#define ROUNDS 20000u /* default: about 60 us at one instruction per nanosecond */

struct shape {
    const char *name;
    const char *what;
    void (*work)(void);
};

static unsigned number, rounds = ROUNDS; /* from the command line */
static volatile uint64_t sink;

void leaf(void);
void bottom(void);
void down(unsigned depth);
void recursion(void);
void ping(unsigned depth);
void pong(unsigned depth);
void mutual(void);
void frameless(void);
void handler(int signal);
void trap(unsigned depth);
void interrupted(void);
void alternate(void);
void hostile(void);
void endless(void);
void begin(void (*work)(void)); /* calls work() as a thread's first function would */
void bare(uint64_t rounds); /* works without a frame */
void wild(const void *frame, uint64_t rounds); /* works with this frame pointer */
__asm__(".text\n"
        ".globl begin\n"
        ".type begin, @function\n"
        "begin:\n"
        "   .cfi_startproc\n"
        "   pushq %rbp\n"
        "   .cfi_def_cfa_offset 16\n"
        "   .cfi_offset %rbp, -16\n"
        "   xorl %ebp, %ebp\n"
        "   call *%rdi\n"
        "   popq %rbp\n"
        "   .cfi_def_cfa_offset 8\n"
        "   ret\n"
        "   .cfi_endproc\n"
        ".size begin, .-begin\n"
        ".globl bare\n"
        ".type bare, @function\n"
        "bare:\n"
        "   .cfi_startproc\n"
        "1: decq %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        "   .cfi_endproc\n"
        ".size bare, .-bare\n"
        ".globl wild\n"
        ".type wild, @function\n"
        "wild:\n"
        "   .cfi_startproc\n"
        "   pushq %rbp\n"
        "   .cfi_def_cfa_offset 16\n"
        "   .cfi_offset %rbp, -16\n"
        "   movq %rdi, %rbp\n"
        "1: decq %rsi\n"
        "   jnz 1b\n"
        "   popq %rbp\n"
        "   .cfi_def_cfa_offset 8\n"
        "   ret\n"
        "   .cfi_endproc\n"
        ".size wild, .-wild\n");

/* Keeps the call before it from being a tail call. */
#define NOT_LAST() __asm__ volatile("")

/* Forces a frame, if the program is built with frame pointers: a compiler omits that of a function
 * that calls nothing. */
#define WITH_FRAME() __asm__ volatile("" ::"r"(__builtin_frame_address(0)))

OPAQUE void leaf(void)
{
    WITH_FRAME();
    for (unsigned i = 0; i < rounds; i++)
        sink += i;
}

OPAQUE void bottom(void)
{
    leaf();
    NOT_LAST();
}

OPAQUE void down(unsigned depth)
{
    if (depth)
        down(depth - 1);
    else
        leaf();
    NOT_LAST();
}

OPAQUE void recursion(void)
{
    down(number);
    NOT_LAST();
}

OPAQUE void ping(unsigned depth)
{
    if (depth)
        pong(depth - 1);
    else
        leaf();
    NOT_LAST();
}

OPAQUE void pong(unsigned depth)
{
    if (depth)
        ping(depth - 1);
    else
        leaf();
    NOT_LAST();
}

OPAQUE void mutual(void)
{
    ping(number);
    NOT_LAST();
}

OPAQUE void frameless(void)
{
    bare(rounds);
    NOT_LAST();
}

OPAQUE void handler(int /* signal */)
{
    leaf();
    NOT_LAST();
}

OPAQUE void trap(unsigned depth)
{
    WITH_FRAME();
    if (depth)
        trap(depth - 1);
    else
        __asm__ volatile("int3");
    NOT_LAST();
}

static void handle_traps(int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    if (sigaction(SIGTRAP, &action, NULL) != 0) {
        perror("calls: sigaction");
        exit(1);
    }
}

OPAQUE void interrupted(void)
{
    handle_traps(0);
    trap(number);
    NOT_LAST();
}

OPAQUE void alternate(void)
{
    static uint8_t memory[ALTERNATE_BYTES];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};

    sigaltstack(&stack, NULL);
    handle_traps(SA_ONSTACK);
    trap(number);
    NOT_LAST();
}

static void *thread(void *)
{
    begin(recursion);
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS_MAX];
    unsigned count = number < THREADS_MAX ? number : THREADS_MAX;

    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&all[i], NULL, thread, NULL) != 0) {
            fputs("calls: no thread\n", stderr);
            exit(1);
        }
    for (unsigned i = 0; i < count; i++)
        pthread_join(all[i], NULL);
}

/* Fake frames, which no call made.  Each is above the one before; the last leads to `end`. */
static uint64_t frames[2 * 2048];

static const void *fake_chain(unsigned count, const void *end)
{
    for (unsigned i = 0; i < count; i++) {
        frames[2 * i] = (uint64_t)(i + 1 < count ? &frames[2 * i + 2] : end);
        frames[2 * i + 1] = (uint64_t)bottom + 1;
    }
    return frames;
}

/* Pointers to no frame: used directly, and as the caller of three that look like frames. */
OPAQUE void hostile(void)
{
    uint8_t *hole =
        mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *closed = hole + 4096;

    memset(hole, 0, 3 * 4096);
    munmap(hole + 2 * 4096, 4096);
    mprotect(closed, 4096, PROT_NONE);
    const void *const bad[] = {
        (void *)8, /* unmapped */
        hole + 2 * 4096, /* unmapped again */
        closed, /* not readable */
        closed - 8, /* its second half is not readable */
        (void *)0x00007ffffffff000, /* above the program's half */
        (void *)0x0000800000000000, /* not canonical */
        (void *)0x1234567890abcdef, /* not canonical either, and not aligned */
        (void *)0xffff800000000000, /* the kernel's */
        (void *)0xffffffff80200000, /* its text */
        (void *)0xfffffffffffffff8, /* the last word */
        (void *)UINT64_MAX, /* the last byte */
        (const uint8_t *)frames + 4, /* not aligned */
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wild(bad[i], rounds);
        wild(fake_chain(3, bad[i]), rounds);
    }
    wild(fake_chain(3, frames), rounds); /* a circle */
    wild(fake_chain(1, frames), rounds);
    munmap(hole, 2 * 4096);
}

/* Has more frames than are ever kept. */
OPAQUE void endless(void)
{
    wild(fake_chain(sizeof frames / 16, frames), rounds);
}

static const struct shape shapes[] = {
    {"recursion", "N calls of down below the first", recursion},
    {"mutual", "ping and pong in turns, N calls below the first", mutual},
    {"frameless", "the work is in a function without a frame", frameless},
    {"signal", "a handler interrupts the innermost of N + 1 calls", interrupted},
    {"alternate", "the same on a stack of the handler's own", alternate},
    {"hostile", "frame pointers that lead nowhere", hostile},
    {"endless", "2048 frames", endless},
};

static bool read_number(const char *text, unsigned *value)
{
    char *end;

    *value = (unsigned)strtoul(text, &end, 10);
    return *text && !*end;
}

static int usage(void)
{
    fputs("usage: calls SHAPE N [ROUNDS]\n", stderr);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        fprintf(stderr, "  %-10s %s\n", shapes[i].name, shapes[i].what);
    fputs("  threads    N threads, each N calls deep\nROUNDS: of the work; default 20000\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    size_t i = 0;

    if (argc < 3 || argc > 4 || !read_number(argv[2], &number) ||
        (argc == 4 && !read_number(argv[3], &rounds)))
        return usage();
    while (i < sizeof shapes / sizeof shapes[0] && strcmp(argv[1], shapes[i].name) != 0)
        i++;
    if (i < sizeof shapes / sizeof shapes[0])
        begin(shapes[i].work);
    else if (strcmp(argv[1], "threads") == 0)
        threads();
    else
        return usage();
    printf("calls: %s %u\n", argv[1], number);
    return 0;
}
