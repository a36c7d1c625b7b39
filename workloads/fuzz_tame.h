/* Changes arguments of random system calls that would end the run. */
#pragma once

#include "workloads/fuzz.h"

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
