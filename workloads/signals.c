/* signals: prints what handlers find and what becomes of signals, which is equal natively. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define LOG_MAX 64
#define ALTSTACK_BYTES 65536u
#define AUTODISARM (1u << 31)

struct seen { /* by the last handlers, in their order */
    int signal, code, value, own;
};

static volatile struct seen seen_by[LOG_MAX];
static volatile sig_atomic_t seen_count;
static sigjmp_buf escape;
static uint8_t *altstack;

static void note(int signal, siginfo_t *info, void *)
{
    if (seen_count < LOG_MAX) {
        volatile struct seen *s = &seen_by[seen_count];

        s->signal = signal;
        s->code = info->si_code;
        s->value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
        s->own = info->si_pid == getpid() && info->si_uid == getuid();
    }
    seen_count = seen_count + 1;
}

/* Real-time signals from 100: C libraries begin them at different numbers. */
static int number_of(int signal)
{
    return signal < SIGRTMIN ? signal : 100 + signal - SIGRTMIN;
}

/* Prints what handlers saw since the last time. */
static void show(const char *what)
{
    printf("%s:", what);
    for (int i = 0; i < seen_count; i++)
        printf(" %d/%d/%d/%d", number_of(seen_by[i].signal), seen_by[i].code, seen_by[i].value,
               seen_by[i].own);
    puts("");
    seen_count = 0;
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags, int mask_all)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

    if (mask_all)
        sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

static void mask(int how, int signal)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(how, &set, NULL);
}

static void test_sources(void)
{
    handle(SIGUSR1, note, 0, 1);
    handle(SIGRTMIN, note, 0, 1);
    kill(getpid(), SIGUSR1);
    kill(0, 0);
    raise(SIGUSR1);
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 7});
    siginfo_t info = {.si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = 8;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGUSR1, &info);
    show("sources");
}

static void test_order(void)
{
    const int order[] = {SIGRTMIN + 2, SIGUSR2, SIGRTMIN, SIGUSR1, SIGRTMIN, SIGUSR2, SIGRTMIN + 1};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        handle(order[i], note, 0, 1);
        mask(SIG_BLOCK, order[i]);
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        sigqueue(getpid(), order[i], (union sigval){.sival_int = (int)i});
    sigset_t none, pending;
    sigpending(&pending);
    printf("pending: %d %d %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGRTMIN),
           sigismember(&pending, SIGHUP));
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    show("order");
    signal(SIGUSR2, SIG_IGN);
    mask(SIG_BLOCK, SIGUSR1);
    kill(getpid(), SIGUSR1);
    signal(SIGUSR1, SIG_IGN); /* forgets it */
    handle(SIGUSR1, note, 0, 1);
    mask(SIG_UNBLOCK, SIGUSR1);
    show("ignored");
}

static void test_waits(void)
{
    const struct timespec soon = {0, 1000000};
    siginfo_t info;
    sigset_t set, old;

    mask(SIG_BLOCK, SIGRTMIN);
    mask(SIG_BLOCK, SIGUSR1);
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 3});
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 4});
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    for (int i = 0; i < 3; i++) {
        int got = sigtimedwait(&set, &info, &soon);

        printf("sigtimedwait: %d %d\n", got < 0 ? -errno : got - SIGRTMIN,
               got < 0 ? 0 : info.si_value.sival_int);
    }
    kill(getpid(), SIGUSR1);
    sigfillset(&set);
    sigdelset(&set, SIGUSR1);
    int result = sigsuspend(&set);
    int error = errno;
    sigprocmask(SIG_SETMASK, NULL, &old);
    printf("sigsuspend: %d %d, blocked again %d\n", result, error == EINTR,
           sigismember(&old, SIGUSR1));
    show("suspended");
    mask(SIG_UNBLOCK, SIGUSR1);
    mask(SIG_UNBLOCK, SIGRTMIN);
}

static void nest(int signal, siginfo_t *info, void *context)
{
    sigset_t now;

    note(signal, info, context);
    sigprocmask(SIG_SETMASK, NULL, &now);
    if (seen_count < 4)
        raise(signal);
    printf("nested %d, blocked %d\n", (int)seen_count, sigismember(&now, signal));
}

static void test_flags(void)
{
    handle(SIGUSR1, nest, SA_NODEFER, 0);
    raise(SIGUSR1);
    show("nodefer");
    handle(SIGUSR1, note, SA_RESETHAND, 0);
    raise(SIGUSR1);
    struct sigaction action;
    sigaction(SIGUSR1, NULL, &action);
    printf("reset: %d\n", action.sa_handler == SIG_DFL);
    show("resethand");
    printf("errors: %d", sigaction(SIGKILL, &action, NULL) < 0 ? errno : 0);
    printf(" %d", kill(getpid(), 65) < 0 ? errno : 0);
    printf(" %d", kill(999999999, 0) < 0 ? errno : 0);
    printf(" %ld\n", syscall(SYS_tgkill, getpid(), 0, SIGUSR1) < 0 ? (long)errno : 0);
}

static void on_altstack(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    uint8_t here;
    stack_t now, other = {.ss_flags = SS_DISABLE};

    note(signal, info, context);
    sigaltstack(NULL, &now);
    int change = sigaltstack(&other, NULL) < 0 ? errno : 0;
    printf("altstack: on it %d, flags %x, change %d, saved %x\n",
           &here > altstack && &here < altstack + ALTSTACK_BYTES, (unsigned)now.ss_flags, change,
           (unsigned)c->uc_stack.ss_flags);
}

static void test_altstack(void)
{
    stack_t stack = {.ss_sp = altstack, .ss_size = ALTSTACK_BYTES}, small = {.ss_size = 100};

    printf("altstack: too small %d\n", sigaltstack(&small, NULL) < 0 ? errno : 0);
    sigaltstack(&stack, NULL);
    handle(SIGUSR1, on_altstack, SA_ONSTACK, 0);
    raise(SIGUSR1);
    stack.ss_flags = (int)AUTODISARM;
    sigaltstack(&stack, NULL);
    raise(SIGUSR1);
    sigaltstack(NULL, &stack);
    printf("altstack: afterwards %x\n", (unsigned)stack.ss_flags);
    seen_count = 0;
    stack = (stack_t){.ss_sp = altstack, .ss_size = ALTSTACK_BYTES};
    sigaltstack(&stack, NULL);
}

static volatile uintptr_t expected; /* address of the next fault */

static void report_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;

    printf("signal %d code %d address %d trap %lld error %lld cr2 %d\n", signal, info->si_code,
           (uintptr_t)info->si_addr == expected, (long long)c->uc_mcontext.gregs[REG_TRAPNO],
           (long long)c->uc_mcontext.gregs[REG_ERR],
           (uintptr_t)c->uc_mcontext.gregs[REG_CR2] == expected);
    siglongjmp(escape, 1);
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char room[4096];

    room[0] = (char)depth;
    return depth > 100000 ? room[0] : recurse(depth + 1) + room[0];
}

static void test_faults(void)
{
    uint8_t *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    handle(SIGSEGV, report_fault, SA_ONSTACK, 0);
    handle(SIGFPE, report_fault, 0, 0);
    handle(SIGILL, report_fault, 0, 0);
    handle(SIGTRAP, report_fault, 0, 0);
    expected = 0x123;
    if (!sigsetjmp(escape, 1))
        *(volatile int *)expected = 1;
    expected = (uintptr_t)page + 5;
    if (!sigsetjmp(escape, 1))
        *(volatile uint8_t *)expected = 1;
    if (!sigsetjmp(escape, 1))
        __asm__ volatile("idivl %0" ::"r"(0), "a"(1), "d"(0));
    if (!sigsetjmp(escape, 1))
        __asm__ volatile("ud2");
    if (!sigsetjmp(escape, 1))
        __asm__ volatile("int3");
    if (!sigsetjmp(escape, 1))
        __asm__ volatile("hlt");
    if (!sigsetjmp(escape, 1))
        printf("recursion %d\n", recurse(0));
    puts("escaped");
}

static void change_context(int /* signal */, siginfo_t *, void *context)
{
    ucontext_t *c = context;
    const uint32_t *software = (const uint32_t *)((uint8_t *)c->uc_mcontext.fpregs + 464);
    const uint8_t *end = (uint8_t *)c->uc_mcontext.fpregs + software[1] - 4;

    printf("xstate: %x %d, size fits %d\n", software[0], *(const uint32_t *)end == 0x46505845,
           software[4] == software[1] - 4);
    c->uc_mcontext.gregs[REG_RBX] = 4711;
    c->uc_mcontext.fpregs->_xmm[3].element[0] = 42;
    __asm__ volatile("pxor %%xmm3, %%xmm3; pxor %%xmm4, %%xmm4" ::: "xmm3", "xmm4");
}

static void test_context(void)
{
    uint64_t rbx = 1, three = 3, four = 4;

    handle(SIGTRAP, change_context, 0, 0);
    __asm__ volatile("movq %1, %%xmm3; movq %2, %%xmm4; int3; movq %%xmm3, %1; movq %%xmm4, %2"
                     : "+b"(rbx), "+r"(three), "+r"(four)
                     :
                     : "xmm3", "xmm4", "memory");
    printf("context: rbx %d xmm3 %d xmm4 %d\n", (int)rbx, (int)three, (int)four);
}

static void test_limit(void)
{
    int sent = 0;

    mask(SIG_BLOCK, SIGRTMIN + 3);
    while (sent < 1000000 &&
           sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = sent}) == 0)
        sent++;
    printf("limit: %d %d\n", sent > 1000 && sent < 1000000, errno == EAGAIN);
    signal(SIGRTMIN + 3, SIG_IGN);
    mask(SIG_UNBLOCK, SIGRTMIN + 3);
}

static void default_action(const char *name)
{
    int signal = atoi(name);
    sigset_t all;

    sigfillset(&all);
    if (signal < 0) { /* blocked signals do not stop a fault */
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        __asm__ volatile("ud2");
    }
    raise(signal);
    printf("survived %d\n", signal);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    altstack = malloc(ALTSTACK_BYTES);
    if (argc > 1) {
        default_action(argv[1]);
        return 0;
    }
    test_sources();
    test_order();
    test_waits();
    test_flags();
    test_altstack();
    test_faults();
    test_context();
    test_limit();
    return 0;
}
