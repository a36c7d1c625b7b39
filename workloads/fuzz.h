/* What the programs that make random system calls share: values, numbers, and arguments that would
 * end the run. */
#ifndef WORKLOADS_FUZZ_H
#define WORKLOADS_FUZZ_H

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

/* Areas are small, or reservations that nothing can fill. */
static inline void tame_memory(struct fuzz *f, uint64_t number, uint64_t *a)
{
    if (number == __NR_mmap && below(f, 2))
        a[3] = MAP_PRIVATE | MAP_ANONYMOUS | (below(f, 2) ? MAP_FIXED : 0), a[2] = below(f, 8);
    if (number == __NR_mmap && a[1] >= 1ull << 40)
        a[2] = PROT_NONE;
    else if (a[1] > WINDOW_BYTES && a[1] < USER_END && number != __NR_munmap)
        a[1] %= WINDOW_BYTES;
    if (number != __NR_mmap || a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        keep_own(f, &a[0], &a[1]);
    if (number == __NR_mremap) {
        if (a[2] > WINDOW_BYTES && a[2] < USER_END)
            a[2] %= WINDOW_BYTES;
        if (below(f, 2))
            a[3] = below(f, 8);
        keep_own(f, &a[4], &a[2]);
    }
}

/* Times are taken from here, so a wait ends soon. */
static inline uint64_t wait_time(struct fuzz *f)
{
    return below(f, 8) ? (uint64_t)&fuzz_soon : 0xffff800000000000;
}

static inline void tame_wait(struct fuzz *f, uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_poll:
        a[2] = below(f, 3);
        break;
    case __NR_nanosleep:
        a[0] = wait_time(f);
        break;
    case __NR_ppoll:
    case __NR_clock_nanosleep:
    case __NR_rt_sigtimedwait:
        a[2] = wait_time(f);
        break;
    case __NR_select:
    case __NR_pselect6:
        a[4] = wait_time(f);
        break;
    case __NR_futex:
    case __NR_epoll_pwait2:
    case 449: /* futex_waitv, younger than some C libraries */
        a[3] = wait_time(f);
        break;
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
        a[3] = below(f, 3);
        break;
    }
}

/* Calls that would wait for ever do not wait at all: for a program with one thread. */
static inline void tame_blocking(uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_pipe2:
    case __NR_eventfd2:
    case __NR_timerfd_create:
        a[1] |= O_NONBLOCK;
        break;
    case __NR_signalfd4:
        a[3] |= O_NONBLOCK;
        break;
    case __NR_flock:
        a[1] |= LOCK_NB;
        break;
    case __NR_fcntl:
        if ((uint32_t)a[1] == F_SETLKW || (uint32_t)a[1] == F_OFD_SETLKW)
            a[1] = F_SETLK;
        if ((uint32_t)a[1] == F_SETFL)
            a[2] |= O_NONBLOCK;
        break;
    }
}

/* Files stay small: they are in memory. */
static inline void tame_sizes(uint64_t number, uint64_t *a)
{
    if (number == __NR_truncate || number == __NR_ftruncate || number == __NR_fallocate ||
        number == __NR_pwrite64 || number == __NR_pwritev) {
        uint64_t *last = &a[number == __NR_fallocate || number >= __NR_pwrite64 ? 3 : 1];

        if (*last < 1ull << 40)
            *last %= WINDOW_BYTES;
        if (number == __NR_fallocate && a[2] < 1ull << 40)
            a[2] %= WINDOW_BYTES;
    }
    /* Devices fill all the memory that is asked for. */
    if ((number == __NR_read || number == __NR_pread64) && a[2] < 1ull << 40)
        a[2] %= WINDOW_BYTES;
    if (number == __NR_getrandom && a[1] < 1ull << 40)
        a[1] %= WINDOW_BYTES;
}

/* Limits and timers that would end the program by a signal which it cannot catch. */
static inline int ends_program(uint64_t number, const uint64_t *a)
{
    switch (number) {
    case __NR_setrlimit:
    case __NR_timer_create:
    case __NR_clone: /* a thread that runs on this one's stack */
    case __NR_clone3:
        return 1;
    case __NR_prlimit64:
        return a[2] != 0;
    case __NR_rt_sigqueueinfo:
    case __NR_rt_tgsigqueueinfo:
        return 1;
    default:
        return 0;
    }
}

static inline void tame_signals(struct fuzz *f, uint64_t number, uint64_t *a)
{
    uint64_t *signal = &a[number == __NR_tgkill ? 2 : 1];

    if (number == __NR_sigaltstack && a[0]) { /* not around the current stack: that one stays */
        f->odd_stack.ss_sp = (void *)in_window(f);
        f->odd_stack.ss_size = argument(f) % WINDOW_BYTES;
        f->odd_stack.ss_flags = (int)argument(f);
        a[0] = (uint64_t)&f->odd_stack;
    }
    if (number == __NR_rt_sigaction && a[1])
        a[0] = SIGNAL_CAUGHT_MAX + 1 + below(f, 20);
    if (number != __NR_kill && number != __NR_tkill && number != __NR_tgkill)
        return;
    if ((uint32_t)*signal <= SIGNALS)
        *signal = SIGNAL_SENT_MIN + below(f, SIGNAL_CAUGHT_MAX - SIGNAL_SENT_MIN + 1);
    if (below(f, 2)) {
        a[0] = (uint64_t)getpid();
        if (number == __NR_tgkill)
            a[1] = a[0];
    }
}

/* Copies between processes: of this one into the window, or from it, with odd addresses on the
 * other side. */
static inline void tame_copies(struct fuzz *f, uint64_t number, uint64_t *a)
{
    if (number == __NR_kcmp && below(f, 4)) {
        a[0] = a[1] = (uint64_t)getpid();
        a[2] = below(f, 10);
    }
    if (number != __NR_process_vm_readv && number != __NR_process_vm_writev)
        return;
    for (int i = 0; i < 4; i++) {
        f->own_parts[i] = (struct iovec){(void *)in_window(f), below(f, 3 * PAGE)};
        f->other_parts[i] = (struct iovec){(void *)in_window(f), below(f, 3 * PAGE)};
        if (number == __NR_process_vm_readv)
            f->other_parts[i].iov_base = (void *)argument(f);
        else
            f->own_parts[i].iov_base = (void *)argument(f);
        if (!below(f, 16))
            f->other_parts[i].iov_len = argument(f);
    }
    a[0] = below(f, 8) ? (uint64_t)getpid() : a[0];
    a[1] = (uint64_t)f->own_parts;
    a[2] = below(f, 5);
    a[3] = (uint64_t)f->other_parts;
    a[4] = below(f, 5);
    a[5] = below(f, 8) ? 0 : a[5];
}

static inline void tame_files(uint64_t number, uint64_t *a)
{
    uint64_t *target = &a[number == __NR_dup2 || number == __NR_dup3];

    if ((number == __NR_dup2 || number == __NR_dup3 || number == __NR_close) &&
        (uint32_t)*target == REPORT_FD)
        *target = 3;
}

/* Changes arguments that would end the run.  0: do not make the call at all. */
static inline int tame(struct fuzz *f, uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_exit:
    case __NR_exit_group:
    case __NR_pause:
    case __NR_rt_sigsuspend:
    case __NR_rt_sigreturn:
        return 0;
    case __NR_close_range:
        a[0] %= REPORT_FD;
        a[1] %= REPORT_FD;
        return 1;
    case __NR_brk:
        if (a[0] < fuzz_own_end || a[0] > fuzz_own_end + WINDOW_BYTES)
            a[0] = fuzz_own_end + below(f, WINDOW_BYTES);
        return 1;
    case __NR_mmap:
    case __NR_munmap:
    case __NR_mprotect:
    case __NR_mremap:
    case __NR_madvise:
        tame_memory(f, number, a);
        return 1;
    default:
        if (ends_program(number, a))
            return 0;
        tame_sizes(number, a);
        tame_wait(f, number, a);
        tame_signals(f, number, a);
        tame_files(number, a);
        tame_copies(f, number, a);
        return 1;
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

#endif
