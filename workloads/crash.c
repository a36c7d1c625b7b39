/* crash: ends in the way that its argument names, each from a function of its own. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_ADDRESS 0xffffffff80000000ull /* where the kernel's code is linked */
#define DIRECT_MAP_ADDRESS 0xffff800000000000ull
#define NON_CANONICAL_ADDRESS 0x8000000000000000ull

typedef void (*action)(void);

/* Hides a value from the compiler, which would otherwise turn the fault into something else. */
static uint64_t opaque(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

static void store_to(uint64_t address)
{
    *(volatile uint32_t *)opaque(address) = 0xdeadbeef;
}

static void crash_segv(void)
{
    store_to(0x10);
}

static void crash_kernel_store(void)
{
    store_to(KERNEL_ADDRESS + 0x100000);
}

static void crash_kernel_load(void)
{
    (void)*(volatile uint32_t *)opaque(KERNEL_ADDRESS + 0x100000);
}

static void crash_direct_map(void)
{
    store_to(DIRECT_MAP_ADDRESS + 0x100000);
}

static void crash_non_canonical(void)
{
    store_to(NON_CANONICAL_ADDRESS);
}

static void crash_kernel_jump(void)
{
    ((action)(uintptr_t)opaque(KERNEL_ADDRESS + 0x100000))();
}

static void crash_null_call(void)
{
    ((action)(uintptr_t)opaque(0))();
}

static void crash_data_execute(void)
{
    static uint8_t code[16] = {0xc3};
    ((action)(uintptr_t)opaque((uint64_t)(uintptr_t)code))();
}

static void crash_text_store(void)
{
    store_to((uint64_t)(uintptr_t)crash_segv);
}

static void crash_ill(void)
{
    __asm__ volatile("ud2");
}

static void crash_fpe(void)
{
    volatile int zero = (int)opaque(0);
    printf("%d\n", (int)opaque(1000) / zero);
}

static void crash_abort(void)
{
    abort();
}

static void crash_int3(void)
{
    __asm__ volatile("int3");
}

static void crash_cli(void)
{
    __asm__ volatile("cli");
}

static void crash_hlt(void)
{
    __asm__ volatile("hlt");
}

static void crash_rdmsr(void)
{
    __asm__ volatile("rdmsr" : : "c"(0x10) : "eax", "edx");
}

static void crash_wrmsr(void)
{
    __asm__ volatile("wrmsr" : : "c"(0xc0000082), "a"(0), "d"(0));
}

static void crash_in(void)
{
    __asm__ volatile("inb $0x60, %%al" : : : "eax");
}

static void crash_out(void)
{
    __asm__ volatile("outb %%al, %%dx" : : "a"(0), "d"(0xf4));
}

static void crash_cr3(void)
{
    uint64_t value;
    __asm__ volatile("mov %%cr3, %0" : "=r"(value));
}

static void crash_lidt(void)
{
    static const uint8_t table[10];
    __asm__ volatile("lidt %0" : : "m"(table));
}

static void crash_int(void)
{
    __asm__ volatile("int $0x41");
}

__attribute__((noinline)) static uint64_t recurse(uint64_t depth)
{
    volatile uint8_t frame[256];
    frame[depth & 255] = (uint8_t)depth;
    return depth == UINT64_MAX ? 0 : recurse(depth + 1) + frame[depth & 255];
}

static void crash_stack(void)
{
    printf("%llu\n", (unsigned long long)recurse(opaque(0)));
}

/* Sets a stack pointer in the kernel: the next interrupt or system call must not use it. */
static void crash_stack_pointer(void)
{
    __asm__ volatile("mov %0, %%rsp\n push %%rax" : : "r"(opaque(KERNEL_ADDRESS + 0x100000)));
}

/* Returns to a non-canonical address through a system call. */
static void crash_sysret(void)
{
    uint64_t page = 0x7ffffffff000ull - 4096; /* the last page of user space */
    uint8_t *code = mmap((void *)(uintptr_t)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (code == MAP_FAILED)
        crash_null_call();
    memcpy(code + 4094, "\x0f\x05", 2); /* syscall */
    __asm__ volatile("jmp *%0" : : "r"(code + 4094), "a"(39));
}

static void crash_trap_flag(void)
{
    __asm__ volatile("pushf\n orq $0x100, (%rsp)\n popf\n nop");
}

static void crash_kill(void)
{
    kill(getpid(), SIGKILL);
}

static void crash_term(void)
{
    raise(SIGTERM);
}

static void crash_loop(void)
{
    for (;;)
        opaque(1);
}

static void crash_sleep(void)
{
    for (;;)
        pause();
}

static void crash_far_return(void)
{
    __asm__ volatile("pushq $0x4\n pushq $0x400000\n lretq"); /* to a code segment of no table */
}

/* Sleeps past the end of the clock's range. */
static void crash_sleep_ages(void)
{
    for (int i = 0; i < 8; i++)
        nanosleep(&(struct timespec){.tv_sec = 2000000000}, NULL);
}

/* Takes all memory through the kernel: the program itself touches no page. */
static void crash_memory(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    long bytes = 1 << 20;
    void *p;

    while ((p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                     0)) != MAP_FAILED)
        if (read(zero, p, (size_t)bytes) != bytes) {
            write(1, "not all read\n", 13); /* the first output, without memory */
            _exit(98);
        }
}

/* Maps pages far apart until that fails and little is left; then it prints for the first time. */
static void crash_tables(void)
{
    long pages = 0;

    for (uint64_t at = 1ull << 40; pages < 20000; at += 1ull << 30, pages++) {
        volatile char *p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

        *p = 1;
        munmap((void *)at, 4096);
    }
    printf("pages: %ld\n", pages);
    fflush(stdout);
    _exit(0);
}

/* This is no crash: the call returns -ENOSYS and leaves one line in the kernel's log. */
static void crash_unknown_syscall(void)
{
    long result = syscall(4000);
    printf("syscall 4000: %ld\n", result);
    exit(result == -1 ? 0 : 1);
}

static const struct {
    const char *name;
    action act;
} table[] = {
    {"segv", crash_segv},
    {"kernel-store", crash_kernel_store},
    {"kernel-load", crash_kernel_load},
    {"direct-map", crash_direct_map},
    {"non-canonical", crash_non_canonical},
    {"kernel-jump", crash_kernel_jump},
    {"null-call", crash_null_call},
    {"data-execute", crash_data_execute},
    {"text-store", crash_text_store},
    {"ill", crash_ill},
    {"fpe", crash_fpe},
    {"abort", crash_abort},
    {"int3", crash_int3},
    {"cli", crash_cli},
    {"hlt", crash_hlt},
    {"rdmsr", crash_rdmsr},
    {"wrmsr", crash_wrmsr},
    {"in", crash_in},
    {"out", crash_out},
    {"cr3", crash_cr3},
    {"lidt", crash_lidt},
    {"int", crash_int},
    {"stack", crash_stack},
    {"stack-pointer", crash_stack_pointer},
    {"sysret", crash_sysret},
    {"trap-flag", crash_trap_flag},
    {"kill", crash_kill},
    {"term", crash_term},
    {"loop", crash_loop},
    {"sleep", crash_sleep},
    {"far-return", crash_far_return},
    {"sleep-ages", crash_sleep_ages},
    {"memory", crash_memory},
    {"tables", crash_tables},
    {"unknown-syscall", crash_unknown_syscall},
};

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "exit") == 0)
        return (int)strtol(argv[2], NULL, 10);
    for (size_t i = 0; argc == 2 && i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(argv[1], table[i].name) == 0) {
            table[i].act();
            puts("crash: survived");
            return 99;
        }
    fputs("usage: crash exit STATUS, or crash MODE with MODE one of:\n", stderr);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        fprintf(stderr, "  %s\n", table[i].name);
    return 2;
}
