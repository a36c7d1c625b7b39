/* A child that executes something: this program with an argument, a small program with or without
 * mistakes, a script, what is no program, anything.  The caller waits for it.
 */
#pragma once

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "workloads/random.h"

#define FUZZ_EXEC_SELF "/proc/self/exe"
#define FUZZ_EXEC_WORD "exec" /* argument of the program that is executed: fuzz_exec_life */
#define FUZZ_EXEC_LIVES 256 /* kinds of lives */
#define FUZZ_EXEC_WALL 0x40000000ul /* __WALL of <linux/wait.h> */

struct fuzz_exec_file { /* a small program: exit(7) */
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    char interpreter[8];
    uint8_t code[16];
};

struct fuzz_exec { /* memory of the caller's own */
    struct fuzz_exec_file file;
    char name[8], life[8];
    char *arguments[4], *variables[2];
    struct itimerval limit; /* what a program with mistakes does may have no end */
    uint64_t signals;
};

static inline int64_t fuzz_exec_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c,
                                     uint64_t d, uint64_t e)
{
    register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e;
    int64_t result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint64_t fuzz_exec_below(uint64_t *random, uint64_t limit)
{
    return random_next(random) % limit;
}

static inline void fuzz_exec_program(struct fuzz_exec_file *file)
{
    static const uint8_t code[] = {0xb8, 60, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x0f, 0x05};

    memset(file, 0, sizeof *file);
    memcpy(file->header.e_ident, ELFMAG, SELFMAG);
    file->header.e_ident[EI_CLASS] = ELFCLASS64;
    file->header.e_ident[EI_DATA] = ELFDATA2LSB;
    file->header.e_ident[EI_VERSION] = EV_CURRENT;
    file->header.e_type = ET_EXEC;
    file->header.e_machine = EM_X86_64;
    file->header.e_version = EV_CURRENT;
    file->header.e_entry = 0x400000 + offsetof(struct fuzz_exec_file, code);
    file->header.e_phoff = offsetof(struct fuzz_exec_file, segments);
    file->header.e_ehsize = sizeof file->header;
    file->header.e_phentsize = sizeof file->segments[0];
    file->header.e_phnum = 3;
    file->segments[0] =
        (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, 0x400000, 0x400000, sizeof *file, sizeof *file, 4096};
    file->segments[1] =
        (Elf64_Phdr){PT_LOAD, PF_R | PF_W, 0, 0x600000, 0x600000, sizeof *file, 20000, 4096};
    file->segments[2] =
        (Elf64_Phdr){PT_NULL, PF_R, offsetof(struct fuzz_exec_file, interpreter), 0, 0, 8, 8, 1};
    memcpy(file->interpreter, "/tmp/x1", 8);
    memcpy(file->code, code, sizeof code);
}

/* Writes a small program or script to e->name; other threads may do so, too. */
static inline void fuzz_exec_make(struct fuzz_exec *e, uint64_t *random)
{
    static const char *const scripts[] = {"#!" FUZZ_EXEC_SELF " exec0\n",
                                          "#!/tmp/x1\n",
                                          "#!",
                                          "#! /tmp/x0 a b\n",
                                          "#!/absent\n",
                                          "no program\n"};
    static const uint8_t values[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 56, 64, 127, 128, 255};
    uint64_t flags = O_CREAT | O_WRONLY | (fuzz_exec_below(random, 2) ? O_TRUNC : 0), bytes;
    const void *from = &e->file;
    int64_t fd;

    memcpy(e->name, "/tmp/x0", 8);
    e->name[6] = (char)('0' + fuzz_exec_below(random, 3));
    fuzz_exec_program(&e->file);
    bytes = sizeof e->file;
    switch (fuzz_exec_below(random, 4)) {
    case 0:
        break;
    case 1:
        from = scripts[fuzz_exec_below(random, sizeof scripts / sizeof scripts[0])];
        bytes = strlen(from);
        break;
    case 2:
        e->file.segments[2].p_type = PT_INTERP;
        break;
    default:
        for (uint64_t i = fuzz_exec_below(random, 6); i > 0; i--)
            ((uint8_t *)&e->file)[fuzz_exec_below(random, sizeof e->file)] =
                values[fuzz_exec_below(random, sizeof values)];
        bytes = fuzz_exec_below(random, 4) ? bytes : fuzz_exec_below(random, bytes);
    }
    fd = fuzz_exec_call(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)e->name, flags, 0755, 0);
    if (fd < 0)
        return;
    fuzz_exec_call(SYS_write, (uint64_t)fd, (uint64_t)from, bytes, 0, 0);
    fuzz_exec_call(SYS_close, (uint64_t)fd, 0, 0, 0, 0);
}

/* Replaces a[0] to a[2] by a path, arguments and variables; some stay. */
static inline void fuzz_exec_choose(struct fuzz_exec *e, uint64_t *random, uint64_t *a)
{
    static const char *const others[] = {"/",        "/dev/null", "/proc/self/maps",
                                         "",         "/tmp/none", "/proc/self/fd/3",
                                         "/tmp/x0/", "/tmp/d"};
    uint64_t life = fuzz_exec_below(random, FUZZ_EXEC_LIVES);
    int keep = fuzz_exec_below(random, 3) == 0;

    for (int i = 2; i >= 0; i--, life /= 10)
        e->life[i] = (char)('0' + life % 10);
    e->arguments[0] = e->name;
    e->arguments[1] = (char *)(uintptr_t)FUZZ_EXEC_WORD;
    e->arguments[2] = e->life;
    e->variables[0] = (char *)(uintptr_t) "A=1";
    switch (fuzz_exec_below(random, 8)) {
    case 0:
        a[0] = (uint64_t)others[fuzz_exec_below(random, sizeof others / sizeof others[0])];
        break;
    case 1:
        break;
    case 2:
    case 3:
        a[0] = (uint64_t)FUZZ_EXEC_SELF;
        keep = 0;
        break;
    default:
        fuzz_exec_make(e, random);
        a[0] = (uint64_t)e->name;
    }
    if (!keep)
        a[1] = (uint64_t)e->arguments;
    if (!keep || fuzz_exec_below(random, 2))
        a[2] = fuzz_exec_below(random, 2) ? (uint64_t)e->variables : 0;
}

/* Makes the call, execve or execveat, in a child.  Returns its wait status, or an error. */
static inline int64_t fuzz_exec_run(struct fuzz_exec *e, uint64_t *random, uint64_t number,
                                    uint64_t *a)
{
    static const uint64_t ways[] = {SIGCHLD, SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};
    uint64_t at = fuzz_exec_below(random, 2) ? (uint64_t)AT_FDCWD : a[3];
    uint64_t flags = fuzz_exec_below(random, 2) ? 0 : a[4] & 0x1100; /* AT_EMPTY_PATH, NOFOLLOW */
    int64_t pid, status = 0, result;

    fuzz_exec_choose(e, random, a);
    e->limit.it_value.tv_sec = 1;
    pid = fuzz_exec_call(SYS_clone, ways[fuzz_exec_below(random, 3)], 0, 0, 0, 0);
    if (pid == 0) {
        fuzz_exec_call(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t)&e->signals, 0, 8, 0);
        fuzz_exec_call(SYS_setitimer, ITIMER_REAL, (uint64_t)&e->limit, 0, 0, 0);
        result = number == SYS_execveat ? fuzz_exec_call(number, at, a[0], a[1], a[2], flags)
                                        : fuzz_exec_call(number, a[0], a[1], a[2], 0, 0);
        fuzz_exec_call(SYS_exit_group, (uint64_t)-result, 0, 0, 0, 0);
    }
    if (pid < 0)
        return pid;
    while (fuzz_exec_call(SYS_wait4, (uint64_t)pid, (uint64_t)&status, FUZZ_EXEC_WALL, 0, 0) ==
           -EINTR)
        ;
    return status;
}

/* ---- what is executed ---- */

static inline void *fuzz_exec_again(void *life)
{
    char *const arguments[] = {(char *)(uintptr_t) "x", (char *)(uintptr_t)FUZZ_EXEC_WORD, life,
                               NULL};

    fuzz_exec_call(SYS_execve, (uint64_t)FUZZ_EXEC_SELF, (uint64_t)arguments, 0, 0, 0);
    return NULL;
}

/* A program that was executed begins here: it ends, executes another one, from one of three threads
 * that all try, or in a child whose end is not waited for.  Does nothing in others. */
static inline void fuzz_exec_life(int argc, char **argv)
{
    unsigned long life = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    char digits[4] = {0};
    pthread_t other;

    if (argc > 1 && strncmp(argv[1], FUZZ_EXEC_WORD, strlen(FUZZ_EXEC_WORD)) != 0)
        return;
    for (unsigned long i = 3, rest = life / 4 % 1000; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    if (life % 4 == 2)
        for (int i = 0; i < 2; i++)
            pthread_create(&other, NULL, fuzz_exec_again, digits);
    if (life % 4 == 3 && fuzz_exec_call(SYS_fork, 0, 0, 0, 0, 0) != 0)
        fuzz_exec_call(SYS_exit_group, 3, 0, 0, 0, 0);
    if (life % 4 != 0)
        fuzz_exec_again(digits);
    for (;;)
        fuzz_exec_call(SYS_exit_group, life & 63, 0, 0, 0, 0);
}

/* Takes what is left of children that others left, and the files. */
static inline void fuzz_exec_reap(void)
{
    static const char *const names[] = {"/tmp/x0", "/tmp/x1", "/tmp/x2"};

    while (fuzz_exec_call(SYS_wait4, UINT64_MAX, 0, 1 /* WNOHANG */, 0, 0) > 0)
        ;
    for (int i = 0; i < 3; i++)
        fuzz_exec_call(SYS_unlink, (uint64_t)names[i], 0, 0, 0, 0);
}
