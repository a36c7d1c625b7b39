/* callfuzz: makes random system calls from several threads at once and looks at what they wrote: it
 * must never hold an address of the kernel.
 *
 *   callfuzz CALLS SEED THREADS
 *
 * Each thread has memory of its own to work on and works on that of the others, too.  A thread that
 * waits is interrupted by a signal from the first one.  Prints calls, faults and leaks; ends with 1
 * when the kernel leaked an address.
 */
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>

#include "workloads/fuzz_exec.h"
#include "workloads/fuzz_ipc.h"
#include "workloads/fuzz_own.h"
#include "workloads/fuzz_socket.h"
#include "workloads/fuzz_tame.h"
#include "workloads/fuzz_terminal.h"

#define THREADS_MAX 16
#define STACK_BYTES (1ull << 20)
#define CALLS_BETWEEN_RESETS 256
#define CALLS_BETWEEN_PURGES 4096 /* removing all that accumulates */
#define CALLS_BETWEEN_LOOKS 16 /* at the memory that is left */
#define DEPTH_MAX 4 /* of directories to remove */
#define NAMES_BYTES 4096
#define TIMERS 256
#define DESCRIPTORS 1024
#define SINK_WORDS 256 /* words that are checked */
#define SINK_COUNT_MAX 256 /* lengths and counts of a call that writes there ... */
#define SLACK_BYTES 32768 /* ... which may be of structures */
#define WAKE_SIGNAL 34 /* nothing else sends it; glibc's own are 32 and 33 */
#define LATE_TURNS 100 /* signals from timers may keep it busy */
#define STUCK_TURNS 5000 /* of 200 us */
#define PATTERN 0x5a5a5a5a5a5a5a5aull

uint64_t fuzz_own_end, fuzz_own_stack;
struct timespec fuzz_soon = {0, 20};

struct worker {
    struct fuzz fuzz;
    struct fuzz_own own;
    struct fuzz_ipc ipc;
    struct fuzz_socket sockets;
    struct fuzz_exec exec;
    uint64_t limit; /* calls */
    uint64_t calls, faults, leaks;
    volatile uint64_t number; /* of the call that it is in */
    uint64_t arguments[6];
    volatile uint64_t turns;
    volatile int done;
    int32_t tid;
    char names[DEPTH_MAX][NAMES_BYTES];
    uint64_t sink[SINK_WORDS]; /* only calls write here */
    uint8_t slack[SLACK_BYTES];
};

static struct worker workers[THREADS_MAX];
static _Atomic int alive;
static __thread void *recover[5];
static __thread volatile int recovering;
static const char *const paths[] = {"/dev/zero",      "/dev/null",    "/proc/self/maps", "/",
                                    "/proc/self/exe", "/dev/urandom", "/tmp/a",          "/tmp/b",
                                    "/tmp/d/c",       "/tmp/d",       "/proc/self/stat", "/tmp/e",
                                    "/dev/tty",       "/proc/net/tcp"};
#define PATHS (sizeof paths / sizeof paths[0])

/* ---- what must never be seen ---- */

/* The direct map of memory, and the kernel's image; not the edges that calls are made with. */
static int is_kernel_address(uint64_t value)
{
    static const uint64_t edges[] = {0xffff800000000000, 0xffff800000200000, 0xffffffff80200000,
                                     0xffffc00000000000};

    if (!((value >= 0xffff800000000000 && value < 0xffff810000000000) ||
          (value >= 0xffffffff80000000 && value < 0xffffffffc0000000)))
        return 0;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        if (value - edges[i] + 4096 < 8192)
            return 0;
    return 1;
}

static void look_at_sink(struct worker *w, uint64_t number, int64_t result)
{
    char line[128];

    for (size_t i = 0; i + 8 <= sizeof w->sink; i += 4) {
        uint64_t value;

        memcpy(&value, (const char *)w->sink + i, sizeof value);
        if (!is_kernel_address(value))
            continue;
        w->leaks++;
        int length = snprintf(line, sizeof line, "leak: call %lu wrote %016lx at %zu, result %ld\n",
                              number, value, i, result);
        if (w->leaks < 10 && write(REPORT_FD, line, (size_t)length) != length)
            abort();
    }
    if (is_kernel_address((uint64_t)result) && (uint64_t)result < (uint64_t)-4096)
        w->leaks++;
    for (size_t i = 0; i < SINK_WORDS; i++)
        w->sink[i] = PATTERN;
}

/* ---- one thread ---- */

static void handler(int signal)
{
    if (signal != SIGSEGV && signal != SIGBUS)
        return;
    if (!recovering)
        _exit(70); /* a mistake in this program */
    __builtin_longjmp(recover, 1);
}

/* Only this function touches memory that other threads may unmap at any time. */
static void fill_window(struct worker *w)
{
    struct fuzz *f = &w->fuzz;

    recovering = 1;
    if (__builtin_setjmp(recover) == 0) {
        mmap((void *)f->window, WINDOW_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        for (int i = 0; i < 16; i++) {
            uint64_t value = argument(f);

            *(volatile uint64_t *)(in_window(f) & ~7ull) = is_kernel_address(value) ? 0 : value;
        }
        for (int i = 0; i < 8; i++)
            strcpy((char *)(f->window + below(f, 1024) * PAGE), paths[below(f, PATHS)]);
    } else {
        w->faults++;
    }
    recovering = 0;
}

static void remove_all(struct worker *w, int directory, unsigned depth)
{
    char *names = w->names[depth];
    int64_t bytes;

    while ((bytes = call3(__NR_getdents64, (uint64_t)directory, (uint64_t)names, NAMES_BYTES)) > 0)
        for (int64_t at = 0; at < bytes;) {
            /* laid out as getdents64's on x86-64, in every C library */
            const struct dirent *entry = (const struct dirent *)(names + at);
            int below_it;

            at += entry->d_reclen;
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
                unlinkat(directory, entry->d_name, 0) == 0 ||
                unlinkat(directory, entry->d_name, AT_REMOVEDIR) == 0 || depth + 1 == DEPTH_MAX)
                continue;
            below_it = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
            if (below_it < 0)
                continue;
            remove_all(w, below_it, depth + 1);
            close(below_it);
            unlinkat(directory, entry->d_name, AT_REMOVEDIR);
        }
}

static void stop_timers(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};

    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
        setitimer(which, &never, NULL);
    for (uint64_t id = 0; id < TIMERS; id++)
        call3(__NR_timer_delete, id, 0, 0);
}

/* Removes what the calls of all threads left: memory, descriptors, timers, files. */
static void purge(struct worker *w)
{
    static const char *const directories[] = {".", "/tmp", "/dev/shm", "/dev/mqueue"};

    munlockall();
    munmap((void *)0x10000, (uint64_t)&__executable_start - 0x10000);
    munmap((void *)fuzz_own_end, fuzz_own_stack - fuzz_own_end);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (fd != REPORT_FD)
            close(fd);
    stop_timers();
    purge_objects(&w->ipc);
    fuzz_exec_reap();
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        int fd = open(directories[i], O_RDONLY | O_DIRECTORY);

        if (fd < 0)
            continue;
        remove_all(w, fd, 0);
        close(fd);
    }
}

static int memory_is_scarce(void)
{
    struct sysinfo info;

    return sysinfo(&info) != 0 || info.freeram < info.totalram / 2;
}

static void open_files(struct fuzz *f)
{
    for (int i = 0; i < 4; i++) {
        int fd = open(paths[below(f, PATHS)], below(f, 2) ? O_RDWR | O_CREAT : O_RDONLY, 0644);

        if (fd > 64)
            close(fd);
    }
    mkdir("/tmp/d", 0755);
    if (below(f, 2))
        open_terminal();
}

static void put_back(void)
{
    const uint64_t none = 0;

    call(__NR_rt_sigprocmask, (const uint64_t[6]){SIG_SETMASK, (uint64_t)&none, 0, 8});
}

static uint64_t pick_argument(struct worker *w)
{
    struct fuzz *f = &w->fuzz;
    uint64_t value;

    switch (below(f, 8)) {
    case 0:
    case 1:
        return (uint64_t)w->sink + below(f, 8) * 8;
    case 2: /* another thread's memory */
        return WINDOW + below(f, THREADS_MAX) * (WINDOW_BYTES * 2) + below(f, WINDOW_BYTES);
    default:
        value = argument(f);
        return is_kernel_address(value) ? value & UINT32_MAX : value;
    }
}

/* Changes calls that would harm this program itself; 0: do not make this call. */
static int allowed(struct worker *w, uint64_t number, uint64_t *a)
{
    uint64_t sink = (uint64_t)w->sink;

    switch (number) {
    case __NR_arch_prctl: /* the thread's own storage */
        return (uint32_t)a[0] != 0x1002 && (uint32_t)a[0] != 0x1001;
    case __NR_sigaltstack:
        a[0] = 0;
        return 1;
    case __NR_set_robust_list:
    case __NR_set_tid_address:
        return 1;
    case __NR_prctl:
        return (uint32_t)a[0] != PR_SET_MM;
    default: /* one address of the sink; any other argument may be its length */
        for (int i = 0; i < 6; i++) {
            if (a[i] - sink >= sizeof w->sink)
                continue;
            for (int j = 0; j < 6; j++)
                if (j != i && a[j] > SINK_COUNT_MAX)
                    a[j] %= SINK_COUNT_MAX;
            break;
        }
        return 1;
    }
}

static void one_call(struct worker *w)
{
    struct fuzz *f = &w->fuzz;
    uint64_t number = choose_number(f), a[6];
    int64_t result;

    for (int i = 0; i < 6; i++)
        a[i] = pick_argument(w);
    ipc_own(f, &w->ipc, number, a);
    tame_attachment(f, number, a);
    if (!ipc_allowed(number, a) || !allowed(w, number, a) ||
        (!with_own(f, &w->own, number, a) && !tame(f, number, a)))
        return;
    tame_socket(f, &w->sockets, number, a);
    tame_terminal(f, number, a);
    w->number = number;
    memcpy(w->arguments, a, sizeof a);
    w->turns++;
    if (executes(number))
        result = fuzz_exec_run(&w->exec, &f->random, number, a);
    else
        result = makes_process(number) ? call_fork(number, a) : call(number, a);
    w->calls++;
    put_back();
    look_at_sink(w, number, result);
}

static void *work(void *argument_of_thread)
{
    struct worker *w = argument_of_thread;

    w->tid = (int32_t)syscall(__NR_gettid);
    for (uint64_t i = 0; i < w->limit; i++) {
        if (i % CALLS_BETWEEN_RESETS == 0) {
            fill_window(w);
            open_files(&w->fuzz);
        }
        if ((w == workers && i % CALLS_BETWEEN_PURGES == CALLS_BETWEEN_PURGES - 1) ||
            (i % CALLS_BETWEEN_LOOKS == 0 && memory_is_scarce()))
            purge(w);
        one_call(w);
    }
    w->done = 1;
    atomic_fetch_sub(&alive, 1);
    return NULL;
}

/* ---- the run ---- */

static void catch_signals(void)
{
    struct {
        void (*handler)(int);
        uint64_t flags;
        void (*restorer)(void);
        uint64_t mask;
    } action;

    for (int signal = 1; signal <= SIGNALS; signal++) { /* past the C library, which keeps two */
        int is_fault = signal == SIGSEGV || signal == SIGBUS;
        struct sigaction usual = {.sa_handler = handler, .sa_flags = is_fault ? SA_NODEFER : 0};

        if (!is_fault) /* handlers do not nest: thousands of signals may wait */
            sigfillset(&usual.sa_mask);
        if (signal != 32 && signal != 33) {
            sigaction(signal, &usual, NULL);
            continue;
        }
        call(__NR_rt_sigaction, (const uint64_t[6]){SIGSEGV, 0, (uint64_t)&action, 8});
        call(__NR_rt_sigaction, (const uint64_t[6]){(uint64_t)signal, (uint64_t)&action, 0, 8});
    }
}

static int start(int threads, uint64_t calls, uint64_t seed)
{
    char *stacks = mmap(NULL, (size_t)threads * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stacks == MAP_FAILED)
        return 1;
    fuzz_own_stack = (uint64_t)stacks;
    atomic_store(&alive, threads);
    for (int i = 0; i < threads; i++) {
        struct worker *w = &workers[i];
        pthread_attr_t attributes;
        pthread_t thread;

        w->fuzz.random = seed * 1000003 + (uint64_t)i;
        w->fuzz.window = WINDOW + (uint64_t)i * WINDOW_BYTES * 2;
        w->limit = calls / (uint64_t)threads;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stacks + (uint64_t)i * STACK_BYTES, STACK_BYTES);
        if (pthread_create(&thread, &attributes, work, w) != 0)
            return 1;
    }
    return 0;
}

/* Interrupts the threads that wait.  Returns 1 if that does not help. */
static int wake_until_done(int threads, int pid)
{
    const struct timespec pause = {0, 200000};
    uint64_t turns[THREADS_MAX] = {0}, still[THREADS_MAX] = {0};
    char line[128];

    while (atomic_load(&alive) > 0) {
        call3(__NR_nanosleep, (uint64_t)&pause, 0, 0);
        for (int i = 0; i < threads; i++) {
            struct worker *w = &workers[i];

            if (w->tid)
                call3(__NR_tgkill, (uint64_t)pid, (uint64_t)w->tid, WAKE_SIGNAL);
            still[i] = w->turns == turns[i] && !w->done ? still[i] + 1 : 0;
            turns[i] = w->turns;
            if (still[i] == LATE_TURNS)
                stop_timers();
            if (still[i] < STUCK_TURNS)
                continue;
            int length = snprintf(
                line, sizeof line, "thread %d is stuck in call %lu: %lx %lx %lx %lx\n", i,
                w->number, w->arguments[0], w->arguments[1], w->arguments[2], w->arguments[3]);
            return write(REPORT_FD, line, (size_t)length) == length ? 1 : 2;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    int threads = argc > 3 ? atoi(argv[3]) : 4, pid = getpid();
    uint64_t made = 0, faults = 0, leaks = 0;
    const uint64_t all = UINT64_MAX; /* the other threads take what timers send */
    char line[160];

    fuzz_exec_life(argc, argv);
    if (threads < 1 || threads > THREADS_MAX || dup2(1, REPORT_FD) != REPORT_FD)
        return 2;
    fuzz_own_end = ((uint64_t)sbrk(0) + (1u << 20)) & ~(PAGE - 1); /* and malloc's */
    if (brk((void *)fuzz_own_end) != 0)
        return 2;
    for (int fd = 0; fd < 3; fd++) { /* hide what calls write there */
        close(fd);
        if (open("/dev/null", O_RDWR) != fd)
            return 2;
    }
    catch_signals();
    if (start(threads, calls, seed) != 0)
        return 2;
    call(__NR_rt_sigprocmask, (const uint64_t[6]){SIG_SETMASK, (uint64_t)&all, 0, 8});
    if (wake_until_done(threads, pid) != 0)
        _exit(71);
    for (int i = 0; i < threads; i++) {
        made += workers[i].calls;
        faults += workers[i].faults;
        leaks += workers[i].leaks;
    }
    int length =
        snprintf(line, sizeof line, "calls %lu\nfaults %lu\nleaks %lu\n", made, faults, leaks);
    if (write(REPORT_FD, line, (size_t)length) != length)
        return 3;
    _exit(leaks != 0);
}
