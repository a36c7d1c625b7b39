/* probed: calls functions whose instructions are known, for probes: every way to leave a function,
 * and what probes must not disturb.
 *
 *   probed [ROUNDS]     prints what it computed
 *   probed calls N      calls asm_spin(10) N times, and nothing else
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define OPAQUE __attribute__((noinline, weak)) /* the compiler must not look into it */
#define THREADS 4u

/* asm_spin executes 2 + 2n instructions.  asm_loop jumps back to its first one, 2n times in all.
 * Values of the others: asm_relative the word, asm_tail as asm_spin, asm_if 7 for 0 or else 1,
 * asm_count likewise, asm_switch 10 + n for n below 4, asm_through and asm_pointer as what they go
 * to, asm_call 3, asm_load what is at an address. */
uint64_t asm_spin(uint64_t n);
uint64_t asm_loop(uint64_t n);
uint64_t asm_relative(uint64_t n, uint64_t more);
uint64_t asm_compare(void);
uint64_t asm_tail(uint64_t n);
uint64_t asm_if(uint64_t n);
uint64_t asm_count(uint64_t n);
uint64_t asm_switch(uint64_t n);
uint64_t asm_through(uint64_t n, uint64_t (*to)(uint64_t));
uint64_t asm_pointer(uint64_t n);
uint64_t asm_call(uint64_t n);
uint64_t asm_load(const uint64_t *from);
uint64_t asm_return(uint64_t n);

#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"

/* clang-format off */
__asm__(".text\n"
        FUNCTION("asm_spin")
        "mov %rdi, %rax\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "ret\n" END("asm_spin")
        FUNCTION("asm_loop")
        "dec %rdi\n"
        "jnz asm_loop\n"
        "mov $5, %eax\n"
        "ret\n" END("asm_loop")
        FUNCTION("asm_relative")
        "mov asm_word(%rip), %rax\n"
        "add %rsi, %rax\n"
        "add %rdi, %rax\n"
        "ret\n" END("asm_relative")
        FUNCTION("asm_compare")
        "cmpl $40, asm_word(%rip)\n"
        "sete %al\n"
        "movzx %al, %eax\n"
        "ret\n" END("asm_compare")
        FUNCTION("asm_tail")
        "jmp asm_spin\n" END("asm_tail")
        FUNCTION("asm_seven")
        "mov $7, %eax\n"
        "ret\n" END("asm_seven")
        FUNCTION("asm_if")
        "test %rdi, %rdi\n"
        "jz asm_seven\n"
        "mov $1, %eax\n"
        "ret\n" END("asm_if")
        FUNCTION("asm_count")
        "mov %rdi, %rcx\n"
        "jrcxz 1f\n"
        "mov $1, %eax\n"
        "ret\n"
        "1: jmp asm_seven\n" END("asm_count")
        FUNCTION("asm_switch")
        "mov asm_table(, %rdi, 8), %rax\n"
        "jmp *%rax\n"
        "asm_switch0: mov $10, %eax\n"
        "ret\n"
        "asm_switch1: mov $11, %eax\n"
        "ret\n"
        "asm_switch2: mov $12, %eax\n"
        "ret\n"
        "asm_switch3: jmp asm_seven\n" END("asm_switch")
        FUNCTION("asm_through")
        "jmp *%rsi\n" END("asm_through")
        FUNCTION("asm_pointer")
        "jmp *asm_place(%rip)\n" END("asm_pointer")
        FUNCTION("asm_call")
        "call asm_spin\n"
        "mov $3, %eax\n"
        "ret\n" END("asm_call")
        FUNCTION("asm_load")
        "mov (%rdi), %rax\n"
        "ret\n" END("asm_load")
        FUNCTION("asm_return")
        "ret\n" END("asm_return")
        ".section .rodata\n"
        ".balign 8\n"
        "asm_table: .quad asm_switch0, asm_switch1, asm_switch2, asm_switch3\n"
        ".data\n"
        ".balign 8\n"
        "asm_word: .quad 40\n"
        "asm_place: .quad asm_spin\n"
        ".text\n");
/* clang-format on */

static unsigned rounds = 100;
static volatile uint64_t sink;
static jmp_buf out;
static volatile sig_atomic_t signals, traps, faults;
static uint64_t *missing; /* a page that SIGSEGV's handler makes readable */

void recursive(unsigned depth);
void leaves(unsigned depth);
void on_signal(int signal);
void *in_thread(void *argument);
void in_child(unsigned child);

OPAQUE void recursive(unsigned depth)
{
    char page[4096];

    memset(page, (int)depth, sizeof page);
    sink += (uint64_t)page[depth];
    if (depth)
        recursive(depth - 1);
    sink++;
}

OPAQUE void leaves(unsigned depth)
{
    if (depth)
        leaves(depth - 1);
    else if (sink)
        longjmp(out, 1);
    sink++;
}

OPAQUE void on_signal(int signal)
{
    signals += signal == SIGUSR1;
}

static void on_trap(int signal)
{
    traps += signal == SIGTRAP;
}

/* The handler sees the instruction's own address (gregs[16] is rip), not that of a copy. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    faults += signal == SIGSEGV && info->si_addr == missing &&
              ((ucontext_t *)context)->uc_mcontext.gregs[16] == (greg_t)(uintptr_t)asm_load;
    mprotect(missing, 4096, PROT_READ | PROT_WRITE);
}

OPAQUE void *in_thread(void *argument)
{
    for (unsigned i = 0; i < rounds; i++)
        sink += asm_spin(100 + i % 7);
    return argument;
}

OPAQUE void in_child(unsigned child)
{
    for (unsigned i = 0; i < 10; i++)
        sink += asm_tail(50 + child);
}

static uint64_t compute(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < rounds; i++) {
        sum += asm_spin(i + 1) + asm_loop(3) + asm_relative(i, 2) + asm_compare() + asm_tail(10);
        sum += asm_if(i % 2) + asm_count(i % 3) + asm_switch(i % 4);
        sum += asm_through(4, asm_spin) + asm_pointer(5) + asm_call(6) + asm_return(1);
    }
    return sum;
}

static void threads(void)
{
    pthread_t thread[THREADS];

    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, in_thread, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void handlers(void)
{
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    signal(SIGUSR1, on_signal);
    signal(SIGTRAP, on_trap);
    sigaction(SIGSEGV, &fault, NULL);
    missing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < rounds; i++) {
        raise(SIGUSR1);
        __asm__ volatile("int3");
    }
    for (unsigned i = 0; i < 3; i++) {
        mprotect(missing, 4096, PROT_NONE);
        sink += asm_load(missing);
    }
}

static int children(char **argv)
{
    int sum = 0, status;

    for (unsigned child = 0; child < 3; child++) {
        pid_t pid = fork();

        if (pid == 0) {
            in_child(child);
            if (child == 2)
                execl(argv[0], argv[0], "exec", (char *)NULL);
            _exit((int)child + 1);
        }
        if (waitpid(pid, &status, 0) == pid)
            sum += WEXITSTATUS(status);
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        in_child(3);
        return 4;
    }
    if (argc > 2 && strcmp(argv[1], "calls") == 0) {
        for (int i = atoi(argv[2]); i > 0; i--)
            asm_spin(10);
        return 0;
    }
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    printf("sum %lu\n", compute());
    recursive(20);
    for (volatile unsigned i = 0; i < 5; i++)
        if (setjmp(out) == 0)
            leaves(i);
    threads();
    handlers();
    printf("signals %d, traps %d, faults %d\n", signals, traps, faults);
    fflush(stdout);
    printf("children %d\n", children(argv));
    return 0;
}
