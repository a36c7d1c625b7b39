/* sysfuzz: makes random system calls, forges signal frames and executes instructions that no
 * program should, to show that nothing which a program does harms the kernel.
 *
 * Everything follows from the seed.  What would end the run is left out: exits, waits without an
 * end, signals that cannot be caught, and the removal of this program's own image and stack.
 */
#include <cpuid.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sysinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include "workloads/fuzz_exec.h"
#include "workloads/fuzz_ipc.h"
#include "workloads/fuzz_socket.h"
#include "workloads/fuzz_tame.h"

#define SET_FS 0x1002 /* ARCH_SET_FS and ARCH_GET_FS of <asm/prctl.h> */
#define GET_FS 0x1003
#define FORGE 0x100000000000ull /* forged frames, and code at the end of a page */
#define FORGE_BYTES (4 * PAGE)
#define LOWEST 0x10000ull /* vm.mmap_min_addr */
#define STACK_BYTES (1ull << 20) /* at the end of the stack belong to this program */
#define CALLS_BETWEEN_RESETS 64
#define MAGIC1 0x46505853u /* FP_XSTATE_MAGIC1 and 2 of <asm/sigcontext.h> */
#define MAGIC2 0x46505845u

uint64_t fuzz_own_end, fuzz_own_stack;
struct timespec fuzz_soon = {0, 20};
static struct fuzz fuzz = {.window = WINDOW};
static struct fuzz_ipc objects;
static uint64_t checksum, calls, faults, fs_base;
static void *landing[5]; /* where an attempt continues, see __builtin_setjmp */
static volatile int attempting;
static uint8_t signal_stack[64 << 10] __attribute__((aligned(64)));

/* Puts back what calls may have changed of this program's own state. */
static void restore(void)
{
    const uint64_t none = 0;
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};

    call3(__NR_arch_prctl, SET_FS, fs_base, 0);
    call(__NR_rt_sigprocmask, (const uint64_t[6]){SIG_SETMASK, (uint64_t)&none, 0, 8});
    call3(__NR_sigaltstack, (uint64_t)&stack, 0, 0);
}

static struct fuzz_socket sockets;
static struct fuzz_exec executed;

static void fuzz_call(void)
{
    uint64_t number = choose_number(&fuzz), a[6];
    int64_t result;

    for (int i = 0; i < 6; i++)
        a[i] = argument(&fuzz);
    tame_attachment(&fuzz, number, a);
    if (!ipc_allowed(number, a) || !tame(&fuzz, number, a))
        return;
    tame_socket(&fuzz, &sockets, number, a);
    tame_blocking(number, a);
    tame_ipc_blocking(number, a);
    if (!tame_socket_waits(number, a) || number == __NR_pipe || number == __NR_eventfd)
        return; /* the last two make what pipe2 and eventfd2 make, but wait for ever */
    if (executes(number))
        result = fuzz_exec_run(&executed, &fuzz.random, number, a);
    else
        result = makes_process(number) ? call_fork(number, a) : call(number, a);
    checksum = (checksum ^ (uint64_t)result) * 0x100000001b3ull;
    calls++;
    restore();
}

/* ---- attempts: they end in a fault, whose handler comes back through `landing` ---- */

void __attribute__((noreturn, used)) come_back(void);
void come_back(void)
{
    __builtin_longjmp(landing, 1);
}

/* The handler's first part: flags and vector control as C code expects them. */
void handler(int signal);
void landed(void);
__asm__(".text\n"
        "handler: pushq $0x202; popfq; fninit; pushq $0x1f80; ldmxcsr (%rsp); popq %rax\n"
        "  jmp handle\n"
        "landed: leaq signal_stack+32768(%rip), %rsp\n" /* any stack will do */
        "  pushq $0x202; popfq; fninit; pushq $0x1f80; ldmxcsr (%rsp); popq %rax\n"
        "  call come_back\n");

void handle(int signal);
void __attribute__((used)) handle(int signal)
{
    if (signal != SIGSEGV && signal != SIGBUS && signal != SIGTRAP && signal != SIGILL &&
        signal != SIGFPE)
        return;
    if (!attempting) { /* a mistake in this program: the fault comes again, and is reported */
        const uint64_t action[4] = {0}; /* SIG_DFL; not through the C library: FS may be anything */

        call(__NR_rt_sigaction, (const uint64_t[6]){(uint64_t)signal, (uint64_t)action, 0, 8});
        return;
    }
    faults++;
    come_back();
}

static uint64_t odd_target(void)
{
    switch (below(&fuzz, 4)) {
    case 0:
        return (uint64_t)landed;
    case 1:
        return in_window(&fuzz);
    case 2:
        return USER_END + below(&fuzz, 5) - 2;
    default:
        return edge(&fuzz);
    }
}

static uint64_t odd_flags(void)
{
    return below(&fuzz, 2) ? random64(&fuzz) : 0x202 | 1ull << below(&fuzz, 22);
}

static void fill_forge(void)
{
    uint64_t *words = (uint64_t *)FORGE;

    mmap((void *)FORGE, FORGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (uint64_t i = 0; i < FORGE_BYTES / 8; i++)
        words[i] = below(&fuzz, 4) ? random64(&fuzz) : 0;
}

/* Makes an XSAVE area with a random header, which is sometimes in order. */
static uint64_t forge_vector_state(void)
{
    uint8_t *area = (uint8_t *)FORGE + 2 * PAGE;
    uint32_t words[5] = {MAGIC1}, a, bytes, c, d, magic = MAGIC2;

    __cpuid_count(13, 0, a, bytes, c, d);
    words[1] = bytes + 4;
    words[2] = below(&fuzz, 2) ? 7 : (uint32_t)random64(&fuzz);
    words[4] = bytes;
    memcpy(area + 464, words, sizeof words);
    memcpy(area + bytes, &magic, sizeof magic);
    if (below(&fuzz, 4))
        memset(area + 520, 0, 56);
    if (below(&fuzz, 2))
        memset(area + 513, 0, 7), area[512] &= 7;
    if (below(&fuzz, 2))
        memcpy(area + 24, &(uint32_t){0x1f80}, 4);
    return (uint64_t)area - (below(&fuzz, 8) ? 0 : below(&fuzz, 64));
}

static void forge_return(void)
{
    ucontext_t *context = (ucontext_t *)(FORGE + 64);
    greg_t *r = context->uc_mcontext.gregs;
    uint64_t mask = random64(&fuzz) & ~0x1ffffull; /* faults stay unblocked */

    r[REG_RIP] = (greg_t)odd_target();
    r[REG_RSP] = (greg_t)(below(&fuzz, 2) ? FORGE + PAGE : argument(&fuzz));
    r[REG_EFL] = (greg_t)odd_flags();
    context->uc_stack = (stack_t){.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    context->uc_mcontext.fpregs =
        (void *)(below(&fuzz, 4) ? forge_vector_state() : argument(&fuzz));
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    __asm__ volatile("mov %0, %%rsp; mov $15, %%eax; syscall" ::"r"(context) : "memory");
    __builtin_unreachable();
}

static void jump(void)
{
    uint64_t *stack = (uint64_t *)(FORGE + PAGE);

    stack[0] = odd_flags();
    stack[1] = odd_target();
    __asm__ volatile("mov %0, %%rsp; popfq; ret" ::"r"(stack) : "memory");
    __builtin_unreachable();
}

/* Makes a system call under odd flags, or with an odd stack pointer. */
static void call_oddly(void)
{
    uint64_t *stack = (uint64_t *)(FORGE + PAGE);

    stack[0] = odd_flags();
    if (below(&fuzz, 2))
        __asm__ volatile("mov %0, %%rsp; mov $39, %%eax; popfq; syscall; jmp landed" ::"r"(stack)
                         : "memory");
    else
        __asm__ volatile("mov %0, %%rsp; mov $39, %%eax; syscall; jmp landed" ::"r"(edge(&fuzz))
                         : "memory");
    __builtin_unreachable();
}

/* Executes one instruction at the very end of a page, under random registers. */
static void execute(void)
{
    static const char *const codes[] = {
        "\x0f\x31",     "\x0f\x01\xf9", "\x0f\x33",
        "\x0f\x05",     "\x0f\x34",     "\x0f\x35",
        "\x48\x0f\x07", "\x48\xcf",     "\xcd\x80",
        "\xcd\x02",     "\xcd\x08",     "\xcd\xec",
        "\xf1",         "\xcc",         "\xf3\x48\x0f\xae\xd8", /* wrgsbase rax */
        "\x0f\x01\xf8", "\x0f\x01\xd1", "\x0f\x01\xd0",
        "\x0f\xae\x2f", /* xrstor */
        "\x0f\x22\xd8", "\x0f\x22\xe0", "\x0f\x23\xf8",
        "\x0f\x21\xf8", "\x8e\xd0",     "\x8e\xd8",
        "\x8e\xc0",     "\x8e\xe8", /* mov gs, ax */
        "\x0f\x01\xca", "\x0f\x01\xcb", "\x0f\x01\x38",
        "\x0f\x01\x07", /* sgdt */
        "\x0f\x00\xc8", "\x0f\x00\xd0", "\x0f\x02\xc0",
        "\x0f\x01\xc8", "\x0f\x01\xc1", "\x0f\x01\xd9",
        "\x48\xcb",     "\x9d",         "\xf4",
        "\xfa",         "\xec",         "\xee",
        "\x0f\x30",     "\x0f\x32",     "\x0f\x06",
        "\x0f\x09",     "\x0f\xa2",     "\xdb\xe3",
        "\x9b",         "\x0f\xae\x17", "\x0f\x0b",
        "\xf7\xf0",     "\x0f\x08",     "\xc8\xff\xff\x1f"};
    const char *code = codes[below(&fuzz, sizeof codes / sizeof codes[0])];
    size_t bytes = strlen(code);
    uint64_t *at_end = (uint64_t *)(FORGE + 2 * PAGE - bytes),
             *stack = (uint64_t *)(FORGE + PAGE / 2);
    uint64_t a = below(&fuzz, 4) ? edge(&fuzz) : random64(&fuzz), b = argument(&fuzz),
             c = argument(&fuzz);

    if (code[0] == '\x0f' && code[1] == '\x05')
        a = 39; /* getpid */
    memcpy(at_end, code, bytes);
    munmap((void *)(FORGE + 2 * PAGE), PAGE);
    for (int i = 0; i < 5; i++)
        stack[i] = odd_target();
    __asm__ volatile("mov %0, %%rsp; jmp *%1" ::"r"(stack), "r"(at_end), "a"(a), "c"(b), "d"(c),
                     "D"(FORGE)
                     : "memory");
    __builtin_unreachable();
}

static void attempt(void)
{
    static void (*const ways[])(void) = {forge_return, jump, call_oddly, execute};

    fill_forge();
    attempting = 1;
    if (__builtin_setjmp(landing) == 0)
        ways[below(&fuzz, 4)]();
    attempting = 0;
    restore();
}

/* ---- the run ---- */

static void unmap_all(void)
{
    munmap((void *)LOWEST, (uint64_t)&__executable_start - LOWEST);
    munmap((void *)fuzz_own_end, fuzz_own_stack - fuzz_own_end);
}

static void reset(void)
{
    static const char *const paths[] = {"/dev/zero",      "/dev/null",    "/proc/self/maps", "/",
                                        "/proc/self/exe", "/dev/urandom", "/dev/full"};

    unmap_all();
    mmap((void *)WINDOW, WINDOW_BYTES, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (uint64_t i = 0; i < 16; i++)
        *(uint64_t *)(in_window(&fuzz) & ~7ull) = argument(&fuzz);
    for (uint64_t i = 0; i < 4; i++) {
        const char *path = paths[below(&fuzz, sizeof paths / sizeof paths[0])];

        memcpy((char *)(WINDOW + below(&fuzz, 1024) * PAGE), path, strlen(path) + 1);
    }
    call3(__NR_close_range, 0, REPORT_FD - 1, 0);
    call3(__NR_close_range, REPORT_FD + 1, INT32_MAX, 0);
    for (uint64_t fd = 0; fd < 8; fd++)
        if (open(paths[fd % 7], O_RDONLY | (fd == 1 || fd == 6 ? O_RDWR : 0)) < 0)
            return;
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

    for (int signal = 1; signal <= SIGNAL_CAUGHT_MAX; signal++)
        sigaction(signal, &action, NULL);
}

static uint64_t free_kib(void)
{
    struct sysinfo info;

    for (int fd = 0; fd < 1024; fd++)
        if (fd != REPORT_FD)
            close(fd);
    unmap_all();
    purge_objects(&objects);
    fuzz_exec_reap();
    call3(__NR_brk, fuzz_own_end, 0, 0);
    return sysinfo(&info) == 0 ? info.freeram >> 10 : 0;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    uint64_t free_before, free_after;
    char line[200];
    int length;

    fuzz_exec_life(argc, argv);
    fuzz.random = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    fuzz_own_end = ((uint64_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1);
    fuzz_own_stack = ((uint64_t)&argc & ~(PAGE - 1)) - STACK_BYTES;
    call3(__NR_arch_prctl, GET_FS, (uint64_t)&fs_base, 0);
    if (brk((void *)fuzz_own_end) != 0 || dup2(1, REPORT_FD) != REPORT_FD)
        return 1;
    catch_signals();
    restore();
    reset();
    attempt();
    mlockall(MCL_CURRENT); /* this fills its own memory now: a call may do so later */
    for (int i = 0; i < 16; i++) /* likewise what the kernel keeps of files that are executed */
        fuzz_exec_run(&executed, &fuzz.random, __NR_execve, (uint64_t[6]){0});
    free_before = free_kib();
    for (uint64_t i = 0; i < rounds; i++) {
        if (i % CALLS_BETWEEN_RESETS == 0)
            reset();
        if (below(&fuzz, 16))
            fuzz_call();
        else
            attempt();
    }
    reset();
    free_after = free_kib();
    length =
        snprintf(line, sizeof line, "calls %lu\nfaults %lu\nchecksum %016lx\nlost memory %ld KiB\n",
                 calls, faults, checksum, (long)(free_before - free_after));
    return write(REPORT_FD, line, (size_t)length) != length;
}
