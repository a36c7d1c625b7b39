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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SET_FS 0x1002 /* ARCH_SET_FS and ARCH_GET_FS of <asm/prctl.h> */
#define GET_FS 0x1003
#define PAGE 4096ull
#define WINDOW 0x200000000000ull /* the area that calls work on */
#define WINDOW_BYTES (4ull << 20)
#define FORGE 0x100000000000ull /* forged frames, and code at the end of a page */
#define FORGE_BYTES (4 * PAGE)
#define LOWEST 0x10000ull /* vm.mmap_min_addr */
#define USER_END 0x7ffffffff000ull
#define STACK_BYTES (1ull << 20) /* of the stack's end are this program's own */
#define CALLS_BETWEEN_RESETS 64
#define REPORT_FD 900
#define NUMBERS 452 /* system calls tried: Linux 6.1 has 0 to 450, with a gap */
#define SIGNAL_CAUGHT_MAX 49 /* the others are for rt_sigaction to play with */
#define SIGNAL_SENT_MIN 35 /* C libraries keep 32 to 34 for themselves */
#define SIGNALS 64
#define MAGIC1 0x46505853u /* FP_XSTATE_MAGIC1 and 2 of <asm/sigcontext.h> */
#define MAGIC2 0x46505845u

extern char __executable_start; /* from the linker */

static uint64_t random_state, checksum, calls, faults;
static uint64_t own_end, own_stack, fs_base;
static void *landing[5]; /* where an attempt continues, see __builtin_setjmp */
static volatile int attempting;
static stack_t odd_stack;
static struct timespec soon = {0, 20};
static uint8_t signal_stack[64 << 10] __attribute__((aligned(64)));

static uint64_t random64(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t limit)
{
    return random64() % limit;
}

static int64_t call(uint64_t number, const uint64_t *a)
{
    register uint64_t r10 __asm__("r10") = a[3], r8 __asm__("r8") = a[4], r9 __asm__("r9") = a[5];
    int64_t result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static int64_t call3(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    return call(number, (const uint64_t[6]){a, b, c});
}

/* ---- values ---- */

static uint64_t edge(void)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     8,
                                     255,
                                     256,
                                     PAGE - 1,
                                     PAGE,
                                     PAGE + 1,
                                     65535,
                                     INT32_MAX,
                                     1ull << 31,
                                     UINT32_MAX,
                                     1ull << 32,
                                     1ull << 40,
                                     1ull << 46,
                                     1ull << 47,
                                     INT64_MAX,
                                     1ull << 63,
                                     UINT64_MAX,
                                     UINT64_MAX - PAGE + 1,
                                     USER_END - 1,
                                     USER_END,

                                     0x800000000000,
                                     0xffff800000000000,
                                     0xffff800000200000,
                                     0xffffffff80200000,
                                     0xffffc00000000000,
                                     0x400000};

    return edges[below(sizeof edges / sizeof edges[0])];
}

static uint64_t in_window(void)
{
    uint64_t address = WINDOW + below(WINDOW_BYTES);

    switch (below(4)) {
    case 0:
        return address & ~(PAGE - 1);
    case 1:
        return (address | (PAGE - 1)) - below(64); /* across the end of a page */
    default:
        return address & ~7ull;
    }
}

static uint64_t any_argument(void)
{
    switch (below(10)) {
    case 0:
    case 1:
        return edge();
    case 2:
        return edge() + below(32) - 16;
    case 3:
        return random64() >> below(64);
    case 4:
    case 5:
        return below(32); /* descriptors, options */
    case 6:
        return PAGE * below(256);
    default:
        return in_window();
    }
}

/* Not an address of this program's own data or stack: calls write there. */
static uint64_t argument(void)
{
    uint64_t value = any_argument();

    return (value >= (uint64_t)&__executable_start && value < own_end) ||
                   (value >= own_stack && value < USER_END - 32)
               ? in_window()
               : value;
}

/* ---- system calls ---- */

static int is_own(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes + PAGE;

    if (end < address)
        end = UINT64_MAX;
    return bytes && (address < own_end || end > own_stack);
}

static void keep_own(uint64_t *address, uint64_t *bytes)
{
    if (is_own(*address, *bytes)) {
        *address = in_window();
        *bytes %= WINDOW_BYTES;
    }
}

static void tame_memory(uint64_t number, uint64_t *a)
{
    if (a[1] > WINDOW_BYTES && a[1] < 1ull << 40) /* fails, or is a reservation */
        a[1] %= WINDOW_BYTES;
    if (number == __NR_mprotect && a[1] > WINDOW_BYTES)
        a[2] &= ~(uint64_t)PROT_WRITE;
    if (number == __NR_mmap && below(2))
        a[3] = MAP_PRIVATE | MAP_ANONYMOUS | (below(2) ? MAP_FIXED : 0), a[2] = below(8);
    if (number != __NR_mmap || a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        keep_own(&a[0], &a[1]);
    if (number == __NR_mremap) {
        if (a[2] > WINDOW_BYTES && a[2] < 1ull << 40)
            a[2] %= WINDOW_BYTES;
        if (below(2))
            a[3] = below(8);
        keep_own(&a[4], &a[2]);
    }
}

/* Times come from here: a wait ends soon. */
static uint64_t wait_time(void)
{
    return below(8) ? (uint64_t)&soon : 0xffff800000000000;
}

static void tame_wait(uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_poll:
        a[2] = below(3);
        break;
    case __NR_nanosleep:
        a[0] = wait_time();
        break;
    case __NR_ppoll:
    case __NR_clock_nanosleep:
    case __NR_rt_sigtimedwait:
        a[2] = wait_time();
        break;
    case __NR_select:
    case __NR_pselect6:
        a[4] = wait_time();
        break;
    case __NR_futex:
        a[3] = wait_time();
        break;
    }
}

static void tame_signals(uint64_t number, uint64_t *a)
{
    uint64_t *signal = &a[number == __NR_tgkill ? 2 : 1];

    if (number == __NR_sigaltstack && a[0]) { /* not around the current stack: that one stays */
        odd_stack.ss_sp = (void *)in_window();
        odd_stack.ss_size = argument() % WINDOW_BYTES;
        odd_stack.ss_flags = (int)argument();
        a[0] = (uint64_t)&odd_stack;
    }
    if (number == __NR_rt_sigaction && a[1])
        a[0] = SIGNAL_CAUGHT_MAX + 1 + below(20);
    if (number != __NR_kill && number != __NR_tkill && number != __NR_tgkill)
        return;
    if ((uint32_t)*signal <= SIGNALS)
        *signal = SIGNAL_SENT_MIN + below(SIGNAL_CAUGHT_MAX - SIGNAL_SENT_MIN + 1);
    if (below(2)) {
        a[0] = (uint64_t)getpid();
        if (number == __NR_tgkill)
            a[1] = a[0];
    }
}

static void tame_files(uint64_t number, uint64_t *a)
{
    uint64_t *target = &a[number == __NR_dup2 || number == __NR_dup3];

    if ((number == __NR_dup2 || number == __NR_dup3 || number == __NR_close) &&
        (uint32_t)*target == REPORT_FD)
        *target = 3;
}

/* Changes arguments that would end the run.  0: do not make the call at all. */
static int tame(uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_exit:
    case __NR_exit_group:
    case __NR_pause:
    case __NR_rt_sigsuspend:
    case __NR_rt_sigreturn: /* see forge_return */
    case __NR_close_range:
        return 0;
    case __NR_brk:
        if (a[0] < own_end || a[0] > own_end + WINDOW_BYTES)
            a[0] = own_end + below(WINDOW_BYTES);
        return 1;
    case __NR_mmap:
    case __NR_munmap:
    case __NR_mprotect:
    case __NR_mremap:
    case __NR_madvise:
        tame_memory(number, a);
        return 1;
    default:
        tame_wait(number, a);
        tame_signals(number, a);
        tame_files(number, a);
        return 1;
    }
}

static uint64_t choose_number(void)
{
    static const uint16_t often[] = {
        __NR_mmap,     __NR_munmap,       __NR_mprotect,    __NR_mremap,  __NR_madvise,
        __NR_brk,      __NR_readv,        __NR_read,        __NR_pread64, __NR_preadv,
        __NR_openat,   __NR_getdents64,   __NR_select,      __NR_poll,    __NR_mincore,
        __NR_dup2,     __NR_rt_sigaction, __NR_sigaltstack, __NR_tgkill,  __NR_rt_sigprocmask,
        __NR_writev,   __NR_lseek,        __NR_fcntl,       __NR_ioctl,   __NR_futex,
        __NR_getrandom};

    switch (below(8)) {
    case 0:
        return edge();
    case 1:
    case 2:
    case 3:
        return below(NUMBERS);
    default:
        return often[below(sizeof often / sizeof often[0])];
    }
}

/* Puts back what calls may have changed of this program's own state. */
static void restore(void)
{
    const uint64_t none = 0;
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};

    call3(__NR_arch_prctl, SET_FS, fs_base, 0);
    call(__NR_rt_sigprocmask, (const uint64_t[6]){SIG_SETMASK, (uint64_t)&none, 0, 8});
    call3(__NR_sigaltstack, (uint64_t)&stack, 0, 0);
}

static void fuzz_call(void)
{
    uint64_t number = choose_number(), a[6];
    int64_t result;

    for (int i = 0; i < 6; i++)
        a[i] = argument();
    if (!tame(number, a))
        return;
    result = call(number, a);
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
    switch (below(4)) {
    case 0:
        return (uint64_t)landed;
    case 1:
        return in_window();
    case 2:
        return USER_END + below(5) - 2;
    default:
        return edge();
    }
}

static uint64_t odd_flags(void)
{
    return below(2) ? random64() : 0x202 | 1ull << below(22);
}

static void fill_forge(void)
{
    uint64_t *words = (uint64_t *)FORGE;

    mmap((void *)FORGE, FORGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (uint64_t i = 0; i < FORGE_BYTES / 8; i++)
        words[i] = below(4) ? random64() : 0;
}

/* An XSAVE area with a random header: now and then one that is in order. */
static uint64_t forge_vector_state(void)
{
    uint8_t *area = (uint8_t *)FORGE + 2 * PAGE;
    uint32_t words[5] = {MAGIC1}, a, bytes, c, d, magic = MAGIC2;

    __cpuid_count(13, 0, a, bytes, c, d);
    words[1] = bytes + 4;
    words[2] = below(2) ? 7 : (uint32_t)random64();
    words[4] = bytes;
    memcpy(area + 464, words, sizeof words);
    memcpy(area + bytes, &magic, sizeof magic);
    if (below(4))
        memset(area + 520, 0, 56);
    if (below(2))
        memset(area + 513, 0, 7), area[512] &= 7;
    if (below(2))
        memcpy(area + 24, &(uint32_t){0x1f80}, 4);
    return (uint64_t)area - (below(8) ? 0 : below(64));
}

static void forge_return(void)
{
    ucontext_t *context = (ucontext_t *)(FORGE + 64);
    greg_t *r = context->uc_mcontext.gregs;
    uint64_t mask = random64() & ~0x1ffffull; /* faults stay unblocked */

    r[REG_RIP] = (greg_t)odd_target();
    r[REG_RSP] = (greg_t)(below(2) ? FORGE + PAGE : argument());
    r[REG_EFL] = (greg_t)odd_flags();
    context->uc_stack = (stack_t){.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    context->uc_mcontext.fpregs = (void *)(below(4) ? forge_vector_state() : argument());
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

/* A system call under odd flags, or with an odd stack pointer. */
static void call_oddly(void)
{
    uint64_t *stack = (uint64_t *)(FORGE + PAGE);

    stack[0] = odd_flags();
    if (below(2))
        __asm__ volatile("mov %0, %%rsp; mov $39, %%eax; popfq; syscall; jmp landed" ::"r"(stack)
                         : "memory");
    else
        __asm__ volatile("mov %0, %%rsp; mov $39, %%eax; syscall; jmp landed" ::"r"(edge())
                         : "memory");
    __builtin_unreachable();
}

/* One instruction that ends where its page ends, under random registers; behind it, nothing. */
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
    const char *code = codes[below(sizeof codes / sizeof codes[0])];
    size_t bytes = strlen(code);
    uint64_t *at_end = (uint64_t *)(FORGE + 2 * PAGE - bytes),
             *stack = (uint64_t *)(FORGE + PAGE / 2);
    uint64_t a = below(4) ? edge() : random64(), b = argument(), c = argument();

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
        ways[below(4)]();
    attempting = 0;
    restore();
}

/* ---- the run ---- */

static void unmap_all(void)
{
    munmap((void *)LOWEST, (uint64_t)&__executable_start - LOWEST);
    munmap((void *)own_end, own_stack - own_end);
}

static void reset(void)
{
    static const char *const paths[] = {"/dev/zero",      "/dev/null",    "/proc/self/maps", "/",
                                        "/proc/self/exe", "/dev/urandom", "/dev/full"};

    unmap_all();
    mmap((void *)WINDOW, WINDOW_BYTES, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (uint64_t i = 0; i < 16; i++)
        *(uint64_t *)(in_window() & ~7ull) = argument();
    for (uint64_t i = 0; i < 4; i++) {
        const char *path = paths[below(sizeof paths / sizeof paths[0])];

        memcpy((char *)(WINDOW + below(1024) * PAGE), path, strlen(path) + 1);
    }
    for (int fd = 0; fd < 32; fd++)
        close(fd);
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
    call3(__NR_brk, own_end, 0, 0);
    return sysinfo(&info) == 0 ? info.freeram >> 10 : 0;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
    uint64_t free_before, free_after;
    char line[200];
    int length;

    random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    own_end = ((uint64_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1);
    own_stack = ((uint64_t)&argc & ~(PAGE - 1)) - STACK_BYTES;
    call3(__NR_arch_prctl, GET_FS, (uint64_t)&fs_base, 0);
    if (brk((void *)own_end) != 0 || dup2(1, REPORT_FD) != REPORT_FD)
        return 1;
    catch_signals();
    restore();
    reset();
    attempt();
    free_before = free_kib();
    for (uint64_t i = 0; i < rounds; i++) {
        if (i % CALLS_BETWEEN_RESETS == 0)
            reset();
        if (below(16))
            fuzz_call();
        else
            attempt();
    }
    free_after = free_kib();
    length =
        snprintf(line, sizeof line, "calls %lu\nfaults %lu\nchecksum %016lx\nlost memory %ld KiB\n",
                 calls, faults, checksum, (long)(free_before - free_after));
    return write(REPORT_FD, line, (size_t)length) != length;
}
