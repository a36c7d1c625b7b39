/* racefuzz: threads make random system calls on memory which the others map, protect and take away
 * at that moment, send each other signals, come and go, and ask for samples and pauses; then one of
 * them ends the program while the others still do so.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workloads/fuzz_exec.h"
#include "workloads/random.h"

#define PAGE 4096ull
#define WINDOW 0x200000000000ull /* the memory that all work on */
#define PAGES 1024u /* of it; two large pages */
#define THREADS_MAX 64
#define FUTEX_WAIT 0 /* <linux/futex.h>, which musl does not bring */
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define HR_CALL 0x4872 /* the private system call: include/hr_abi.h */

enum { HR_INFO, HR_POLL, HR_READ, HR_START, HR_PAUSE, HR_LOG, HR_MARK, HR_REGION, HR_REQUEST };

struct self {
    uint64_t random;
    uint64_t faults;
    struct fuzz_exec exec;
    sigjmp_buf landing;
    volatile sig_atomic_t touching;
};

static _Thread_local struct self self;
static uint64_t rounds, seed;
static unsigned thread_count;
static _Atomic int tids[THREADS_MAX];
static _Atomic uint64_t all_calls, all_faults;
static _Atomic unsigned finished;

static uint64_t below(uint64_t limit)
{
    return random_next(&self.random) % limit;
}

static uint64_t page(void)
{
    return WINDOW + below(PAGES) * PAGE;
}

/* Returns an address whose access often crosses the end of a page. */
static uint64_t place(void)
{
    return page() + (below(2) ? PAGE - below(64) : below(PAGE / 8) * 8);
}

static uint64_t pages(void)
{
    return (below(16) ? below(8) + 1 : below(PAGES)) * PAGE;
}

static long call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    all_calls++;
    return syscall(number, a, b, c, d, e, 0);
}

/* ---- what a thread does ---- */

static void change_mappings(void)
{
    uint64_t from = page(), bytes = pages();

    if (from + bytes > WINDOW + PAGES * PAGE)
        bytes = WINDOW + PAGES * PAGE - from;
    switch (below(5)) {
    case 0:
        call(SYS_munmap, from, bytes, 0, 0, 0);
        break;
    case 1:
        call(SYS_mprotect, from, bytes, below(8), 0, 0);
        break;
    case 2:
        call(SYS_madvise, from, bytes, MADV_DONTNEED, 0, 0);
        break;
    case 3:
        if (bytes <= 64 * PAGE)
            call(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                 WINDOW + below(PAGES - 64) * PAGE);
        break;
    default:
        syscall(SYS_mmap, from, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
}

static void touch(void)
{
    volatile uint8_t *at = (volatile uint8_t *)place();

    if (sigsetjmp(self.landing, 1) == 0) {
        self.touching = 1;
        if (below(2))
            *at = 1;
        else
            (void)*at;
    }
    self.touching = 0;
}

static void copy(void)
{
    struct timespec now;

    switch (below(6)) {
    case 0:
        call(SYS_getrandom, place(), below(3 * PAGE), 0, 0, 0);
        break;
    case 1:
        call(SYS_uname, place(), 0, 0, 0, 0);
        break;
    case 2:
        call(SYS_readlink, place(), place(), below(PAGE), 0, 0);
        break;
    case 3:
        call(SYS_writev, 1, place(), 0, 0, 0);
        break;
    case 4:
        call(SYS_poll, place(), below(16), 0, 0, 0);
        break;
    default:
        clock_gettime(CLOCK_MONOTONIC, &now);
        call(SYS_clock_gettime, CLOCK_MONOTONIC, place() & ~7ull, 0, 0, 0);
    }
}

static void wait_or_wake(void)
{
    const struct timespec soon = {0, (long)below(30000)};
    uint64_t word = WINDOW + below(4) * 4;

    switch (below(4)) {
    case 0:
        call(SYS_futex, word, FUTEX_WAIT, below(2), (uint64_t)&soon, 0);
        break;
    case 1:
        call(SYS_futex, word, FUTEX_WAKE, below(3), 0, 0);
        break;
    case 2:
        call(SYS_futex, word, FUTEX_REQUEUE, 1, 1, WINDOW + below(4) * 4);
        break;
    default:
        call(SYS_nanosleep, (uint64_t)&soon, 0, 0, 0, 0);
    }
}

static void ask_for_samples(void)
{
    const uint64_t region[4] = {place(), below(300), place(), below(4)};

    switch (below(16)) {
    case 0:
        call(HR_CALL, HR_PAUSE, 0, 0, 0, 0);
        break;
    case 1:
        call(HR_CALL, HR_LOG, 0, 0, 0, 0);
        break;
    case 2:
        call(HR_CALL, HR_REGION, (uint64_t)region, 0, 0, 0);
        break;
    case 3:
        call(HR_CALL, HR_MARK, place(), below(300), 0, 0);
        break;
    case 4:
        call(HR_CALL, HR_INFO, place(), below(2000), 0, 0);
        break;
    case 5:
    case 6:
        call(HR_CALL, HR_READ, place(), 0, 0, 0);
        break;
    case 7:
    case 8:
        call(HR_CALL, HR_START, 0, 0, 0, 0);
        break;
    case 9:
        call(HR_CALL, HR_REQUEST, below(7), below(3), 0, 0);
        break;
    default:
        call(HR_CALL, HR_POLL, below(3), 0, 0, 0);
    }
}

static void *short_life(void *unused)
{
    return unused;
}

static void send_or_start(void)
{
    pthread_t id;
    int target = tids[below(thread_count)];

    if (below(16) == 0) {
        uint64_t a[6] = {place(), place(), place(), below(8), place(), 0};

        fuzz_exec_run(&self.exec, &self.random, below(2) ? SYS_execve : SYS_execveat, a);
        all_calls++;
    } else if (below(4)) {
        if (target)
            call(SYS_tgkill, (uint64_t)getpid(), (uint64_t)target, SIGUSR1, 0, 0);
    } else if (pthread_create(&id, NULL, short_life, NULL) == 0) {
        pthread_join(id, NULL);
    }
}

static void *body(void *number)
{
    static void (*const ways[])(void) = {
        change_mappings, change_mappings, touch,        touch, touch, copy, copy,
        wait_or_wake,    ask_for_samples, send_or_start};
    uintptr_t own = (uintptr_t)number;

    self.random = seed * 1000 + own;
    tids[own] = (int)syscall(SYS_gettid);
    for (uint64_t i = 0; i < rounds; i++)
        ways[below(sizeof ways / sizeof ways[0])]();
    all_faults += self.faults;
    if (++finished == 1) { /* the others are still working */
        char line[100];
        int length = snprintf(line, sizeof line, "racefuzz: %s\n",
                              all_calls && all_faults ? "calls and faults" : "nothing happened");
        if (write(1, line, (size_t)length) != length)
            _exit(1);
        _exit(0);
    }
    for (;;)
        ways[below(sizeof ways / sizeof ways[0])]();
}

/* ---- the run ---- */

static void on_fault(int signal)
{
    if (!self.touching) { /* a mistake: the fault comes again, and is reported */
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        return;
    }
    self.touching = 0;
    self.faults++;
    siglongjmp(self.landing, 1);
}

static void on_signal(int /* signal */)
{
}

int main(int argc, char **argv)
{
    const struct sigaction fault = {.sa_handler = on_fault}, other = {.sa_handler = on_signal};

    fuzz_exec_life(argc, argv);
    thread_count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 0;
    rounds = argc > 2 ? strtoull(argv[2], NULL, 0) : 10000;
    seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    if (thread_count < 1 || thread_count > THREADS_MAX)
        return 2;
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGUSR1, &other, NULL);
    for (uintptr_t i = 1; i < thread_count; i++) {
        pthread_t id;

        if (pthread_create(&id, NULL, body, (void *)i) != 0)
            return 3;
    }
    body(NULL);
    return 0;
}
