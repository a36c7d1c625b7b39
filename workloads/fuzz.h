/* What the programs that make random system calls share: values and numbers. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "workloads/random.h"

#define PAGE 4096ull
#define WINDOW 0x200000000000ull /* the area that calls work on */
#define WINDOW_BYTES (4ull << 20)
#define USER_END 0x7ffffffff000ull
#define REPORT_FD 900
#define NUMBERS 452 /* system calls tried: Linux 6.1 has 0 to 450, with a gap */
#define SIGNAL_CAUGHT_MAX 49 /* rt_sigaction may change the others */
#define SIGNAL_SENT_MIN 35 /* C libraries keep 32 to 34 for themselves */
#define SIGNALS 64

extern char __executable_start; /* from the linker */

struct fuzz { /* of one thread */
    uint64_t random;
    uint64_t window; /* WINDOW_BYTES that its calls work on */
    stack_t odd_stack;
    struct iovec own_parts[4], other_parts[4]; /* of process_vm_readv and process_vm_writev */
};

/* Calls leave this program's own memory alone: it ends at the first, and begins at the second. */
extern uint64_t fuzz_own_end, fuzz_own_stack;
extern struct timespec fuzz_soon;

static inline uint64_t random64(struct fuzz *f)
{
    return random_next(&f->random);
}

static inline uint64_t below(struct fuzz *f, uint64_t limit)
{
    return random64(f) % limit;
}

static inline int64_t call(uint64_t number, const uint64_t *a)
{
    register uint64_t r10 __asm__("r10") = a[3], r8 __asm__("r8") = a[4], r9 __asm__("r9") = a[5];
    int64_t result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* A call that makes a process: the new one ends at once, and the caller waits for it. */
static inline int64_t call_fork(uint64_t number, const uint64_t *a)
{
    const uint64_t none[6] = {0}, wait[6] = {0, 0, 0x40000000 /* __WALL */, 0, 0, 0};
    int64_t own = call(__NR_getpid, none), result = call(number, a);
    uint64_t reap[6];

    if (call(__NR_getpid, none) != own)
        call(__NR_exit_group, none);
    if (result <= 0)
        return result;
    for (int i = 0; i < 6; i++)
        reap[i] = wait[i];
    reap[0] = (uint64_t)result;
    while (call(__NR_wait4, reap) == -EINTR)
        ;
    return result;
}

static inline int makes_process(uint64_t number)
{
    return number == __NR_fork || number == __NR_vfork || number == __NR_clone ||
           number == __NR_clone3;
}

static inline int executes(uint64_t number)
{
    return number == __NR_execve || number == __NR_execveat;
}

static inline int64_t call3(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    return call(number, (const uint64_t[6]){a, b, c});
}

/* ---- values ---- */

static inline uint64_t edge(struct fuzz *f)
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

    return edges[below(f, sizeof edges / sizeof edges[0])];
}

static inline uint64_t in_window(struct fuzz *f)
{
    uint64_t address = f->window + below(f, WINDOW_BYTES);

    switch (below(f, 4)) {
    case 0:
        return address & ~(PAGE - 1);
    case 1:
        return (address | (PAGE - 1)) - below(f, 64); /* across the end of a page */
    default:
        return address & ~7ull;
    }
}

static inline uint64_t any_argument(struct fuzz *f)
{
    switch (below(f, 10)) {
    case 0:
    case 1:
        return edge(f);
    case 2:
        return edge(f) + below(f, 32) - 16;
    case 3:
        return random64(f) >> below(f, 64);
    case 4:
    case 5:
        return below(f, 32); /* descriptors, options */
    case 6:
        return PAGE * below(f, 256);
    default:
        return in_window(f);
    }
}

/* Not an address of this program's own data or stack: calls write there. */
static inline uint64_t argument(struct fuzz *f)
{
    uint64_t value = any_argument(f);

    return (value >= (uint64_t)&__executable_start && value < fuzz_own_end) ||
                   (value >= fuzz_own_stack && value < USER_END - 32)
               ? in_window(f)
               : value;
}

/* ---- system calls ---- */

static inline int is_own(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes + PAGE;

    if (end < address)
        end = UINT64_MAX;
    return bytes && (address < fuzz_own_end || end > fuzz_own_stack);
}

static inline void keep_own(struct fuzz *f, uint64_t *address, uint64_t *bytes)
{
    if (is_own(*address, *bytes)) {
        *address = in_window(f);
        *bytes %= WINDOW_BYTES;
    }
}

static inline uint64_t choose_number(struct fuzz *f)
{
    static const uint16_t often[] = {__NR_mmap,
                                     __NR_munmap,
                                     __NR_mprotect,
                                     __NR_mremap,
                                     __NR_madvise,
                                     __NR_brk,
                                     __NR_readv,
                                     __NR_read,
                                     __NR_pread64,
                                     __NR_preadv,
                                     __NR_openat,
                                     __NR_getdents64,
                                     __NR_select,
                                     __NR_poll,
                                     __NR_mincore,
                                     __NR_dup2,
                                     __NR_rt_sigaction,
                                     __NR_sigaltstack,
                                     __NR_tgkill,
                                     __NR_rt_sigprocmask,
                                     __NR_writev,
                                     __NR_lseek,
                                     __NR_fcntl,
                                     __NR_ioctl,
                                     __NR_futex,
                                     __NR_getrandom,
                                     __NR_process_vm_readv,
                                     __NR_process_vm_writev,
                                     __NR_kcmp,

                                     __NR_socket,
                                     __NR_socketpair,
                                     __NR_bind,
                                     __NR_listen,
                                     __NR_connect,
                                     __NR_accept4,
                                     __NR_sendto,
                                     __NR_recvfrom,
                                     __NR_sendmsg,
                                     __NR_recvmsg,
                                     __NR_shutdown,
                                     __NR_setsockopt,
                                     __NR_getsockopt,
                                     __NR_close};

    static const uint16_t between[] = {
        __NR_shmget,    __NR_shmat,         __NR_shmctl,       __NR_shmdt,
        __NR_semget,    __NR_semop,         __NR_semctl,       __NR_msgget,
        __NR_msgsnd,    __NR_msgrcv,        __NR_msgctl,       __NR_semtimedop,
        __NR_mq_open,   __NR_mq_unlink,     __NR_mq_timedsend, __NR_mq_timedreceive,
        __NR_mq_notify, __NR_mq_getsetattr, __NR_execve,       __NR_execveat};

    switch (below(f, 8)) {
    case 0:
        return edge(f);
    case 1:
        return between[below(f, sizeof between / sizeof between[0])];
    case 2:
    case 3:
        return below(f, NUMBERS);
    default:
        return often[below(f, sizeof often / sizeof often[0])];
    }
}
