/* odd: what probes meet in programs that do odd things: exceptions through functions, code that
 * changes itself, breakpoints and single steps of the program's own, a probe on the handler of
 * SIGTRAP. It prints what it saw, which is the same with and without probes. */
#include "include/hr.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define OPAQUE extern "C" __attribute__((noinline, weak))

/* patched returns 5 + n; steps jumps about: 10 instructions for 2. */
extern "C" uint64_t patched(uint64_t n);
extern "C" uint64_t steps(uint64_t n);
extern "C" const uint8_t patched_end[], steps_end[];
__asm__(".pushsection .odd, \"ax\", @progbits\n"
        ".balign 4096\n"
        ".globl patched, patched_end\n.type patched, @function\n"
        "patched: mov $5, %eax\n"
        "add %rdi, %rax\n"
        "ret\n"
        "patched_end: .size patched, . - patched\n"
        ".balign 4096\n"
        ".globl steps, steps_end\n.type steps, @function\n"
        "steps: jmp 2f\n"
        "1: call 3f\n"
        "2: sub $1, %rdi\n"
        "jns 1b\n"
        "lea steps(%rip), %rax\n"
        "sub %rax, %rax\n"
        "ret\n"
        "3: ret\n"
        "steps_end: .size steps, . - steps\n"
        ".popsection\n");

static volatile uint64_t sink;

struct guard {
    ~guard()
    {
        sink = sink + 1;
    }
};

OPAQUE void throws(unsigned depth)
{
    guard cleaned;

    if (depth == 0)
        throw std::runtime_error("out");
    throws(depth - 1);
    sink = sink + 1;
}

OPAQUE unsigned catches(unsigned depth)
{
    try {
        throws(depth);
    } catch (const std::runtime_error &) {
        return depth;
    }
    return 0;
}

OPAQUE void again(unsigned depth)
{
    hr::request served(UINT64_MAX - depth);
    hr::joined part(UINT64_MAX - depth);

    try {
        throws(depth);
    } catch (...) {
        throw;
    }
    sink = sink + 1;
}

OPAQUE long passes(long a, long b)
{
    sink = sink + 1;
    return a - b;
}

static volatile sig_atomic_t breakpoints;
static volatile uint64_t stepped, trail;
static volatile bool stepping;

static bool in_steps(uint64_t ip)
{
    return ip >= (uint64_t)steps && ip < (uint64_t)steps_end;
}

/* A breakpoint of the program's own is taken away, and its instruction comes again. */
OPAQUE void on_trap(int, siginfo_t *, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t ip = (uint64_t)registers[REG_RIP];

    if (stepping) {
        stepped = stepped + 1;
        if (in_steps(ip))
            trail = trail * 31 + (ip - (uint64_t)steps) + 1;
        return;
    }
    breakpoints = breakpoints + 1;
    if (ip - 1 == (uint64_t)patched) {
        *(uint8_t *)patched = 0xb8;
        registers[REG_RIP] = (greg_t)(ip - 1);
    }
}

static void protect(int protection)
{
    if (mprotect((void *)patched, 4096, protection) != 0)
        perror("mprotect");
}

/* Code that changes: another value, nothing but a return, a breakpoint, and what it was. */
static void change()
{
    uint8_t *code = (uint8_t *)patched, old[16];

    memcpy(old, code, sizeof old);
    printf("as it was %lu\n", patched(1));
    protect(PROT_READ | PROT_WRITE | PROT_EXEC);
    code[1] = 70;
    printf("another value %lu\n", patched(2));
    code[0] = 0xcc;
    printf("a breakpoint %lu,", patched(3));
    printf(" %d\n", (int)breakpoints);
    code[0] = 0xc3;
    patched(4);
    code[0] = 0xb8, code[1] = 5;
    printf("restored %lu\n", patched(5));
    protect(PROT_READ | PROT_EXEC);
    printf("and protected %lu\n", patched(6));
    fflush(stdout);
    if (fork() == 0) {
        printf("in a child %lu\n", patched(7));
        fflush(stdout);
        _exit(0);
    }
    wait(nullptr);
}

static void step()
{
    stepping = true;
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n"
                     "mov $2, %%edi\n call steps\n"
                     "pushfq\n andq $~0x100, (%%rsp)\n popfq\n" ::
                         : "rax", "rdi", "memory", "cc");
    stepping = false;
    printf("%lu steps, trail %lx\n", stepped, trail);
}

int main(int argc, char **)
{
    struct sigaction trap = {};
    unsigned caught = 0;
    long sum = 0;

    trap.sa_sigaction = on_trap;
    trap.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &trap, nullptr);
    for (unsigned i = 0; i < 10; i++)
        caught += catches(i);
    for (unsigned i = 0; i < 5; i++)
        try {
            again(i);
        } catch (const std::exception &) {
            caught++;
        }
    printf("caught %u, cleaned %lu\n", caught, sink);
    for (long i = 0; i < 20; i++)
        sum += passes(100 * i, -i); /* passes */
    printf("sum %ld\n", sum);
    for (int i = 0; i < 3; i++)
        __asm__ volatile("int3");
    printf("breakpoints %d\n", (int)breakpoints);
    change();
    step();
    return argc - 1;
}
