/* The table of system calls, and how one is made. */
#include "guest/syscall.h"

#include <asm/unistd_64.h>
#include <errno.h>

#include "guest/log.h"
#include "guest/signal.h"
#include "guest/syscall_handlers.h"
#include "guest/syscall_names.h"

static int64_t (*const handlers[])(struct thread *thread, struct trap_frame *frame) = {
    [__NR_read] = syscall_read,
    [__NR_write] = syscall_write,
    [__NR_open] = syscall_open,
    [__NR_close] = syscall_close,
    [__NR_stat] = syscall_stat,
    [__NR_fstat] = syscall_fstat,
    [__NR_lstat] = syscall_lstat,
    [__NR_poll] = syscall_poll,
    [__NR_lseek] = syscall_lseek,
    [__NR_mmap] = syscall_mmap,
    [__NR_mprotect] = syscall_mprotect,
    [__NR_munmap] = syscall_munmap,
    [__NR_brk] = syscall_brk,
    [__NR_rt_sigaction] = syscall_rt_sigaction,
    [__NR_rt_sigprocmask] = syscall_rt_sigprocmask,
    [__NR_rt_sigreturn] = syscall_rt_sigreturn,
    [__NR_ioctl] = syscall_ioctl,
    [__NR_pread64] = syscall_pread64,
    [__NR_pwrite64] = syscall_pwrite64,
    [__NR_readv] = syscall_readv,
    [__NR_writev] = syscall_writev,
    [__NR_access] = syscall_access,
    [__NR_select] = syscall_select,
    [__NR_sched_yield] = syscall_nothing,
    [__NR_mremap] = syscall_mremap,
    [__NR_msync] = syscall_msync,
    [__NR_mincore] = syscall_mincore,
    [__NR_madvise] = syscall_madvise,
    [__NR_dup] = syscall_dup,
    [__NR_dup2] = syscall_dup2,
    [__NR_pause] = syscall_pause,
    [__NR_nanosleep] = syscall_nanosleep,
    [__NR_getpid] = syscall_getpid,
    [__NR_sendfile] = syscall_sendfile,
    [__NR_socket] = syscall_no_network,
    [__NR_socketpair] = syscall_no_network,
    [__NR_clone] = syscall_clone,
    [__NR_exit] = syscall_exit,
    [__NR_wait4] = syscall_wait4,
    [__NR_kill] = syscall_kill,
    [__NR_uname] = syscall_uname,
    [__NR_fcntl] = syscall_fcntl,
    [__NR_flock] = syscall_fd_nothing,
    [__NR_fsync] = syscall_fsync,
    [__NR_fdatasync] = syscall_fsync,
    [__NR_truncate] = syscall_read_only,
    [__NR_ftruncate] = syscall_fd_read_only,
    [__NR_getcwd] = syscall_getcwd,
    [__NR_chdir] = syscall_chdir,
    [__NR_fchdir] = syscall_fchdir,
    [__NR_rename] = syscall_read_only,
    [__NR_mkdir] = syscall_read_only,
    [__NR_rmdir] = syscall_read_only,
    [__NR_creat] = syscall_creat,
    [__NR_link] = syscall_read_only,
    [__NR_unlink] = syscall_read_only,
    [__NR_symlink] = syscall_read_only,
    [__NR_readlink] = syscall_readlink,
    [__NR_chmod] = syscall_read_only,
    [__NR_fchmod] = syscall_fd_read_only,
    [__NR_chown] = syscall_read_only,
    [__NR_fchown] = syscall_fd_read_only,
    [__NR_lchown] = syscall_read_only,
    [__NR_umask] = syscall_umask,
    [__NR_gettimeofday] = syscall_gettimeofday,
    [__NR_getrlimit] = syscall_getrlimit,
    [__NR_getrusage] = syscall_getrusage,
    [__NR_sysinfo] = syscall_sysinfo,
    [__NR_times] = syscall_times,
    [__NR_getuid] = syscall_getuid,
    [__NR_getgid] = syscall_getuid,
    [__NR_setuid] = syscall_set_identity,
    [__NR_setgid] = syscall_set_identity,
    [__NR_geteuid] = syscall_getuid,
    [__NR_getegid] = syscall_getuid,
    [__NR_setpgid] = syscall_setpgid,
    [__NR_getppid] = syscall_getppid,
    [__NR_getpgrp] = syscall_getpid,
    [__NR_getgroups] = syscall_getgroups,
    [__NR_getresuid] = syscall_getresuid,
    [__NR_getresgid] = syscall_getresuid,
    [__NR_getpgid] = syscall_getpgid,
    [__NR_getsid] = syscall_getpgid,
    [__NR_rt_sigpending] = syscall_rt_sigpending,
    [__NR_rt_sigtimedwait] = syscall_rt_sigtimedwait,
    [__NR_rt_sigsuspend] = syscall_rt_sigsuspend,
    [__NR_sigaltstack] = syscall_sigaltstack,
    [__NR_mknod] = syscall_read_only,
    [__NR_statfs] = syscall_statfs,
    [__NR_fstatfs] = syscall_fstatfs,
    [__NR_getpriority] = syscall_getpriority,
    [__NR_setpriority] = syscall_nothing,
    [__NR_sched_getparam] = syscall_sched_getparam,
    [__NR_sched_setscheduler] = syscall_sched_setscheduler,
    [__NR_sched_getscheduler] = syscall_nothing,
    [__NR_sched_get_priority_max] = syscall_sched_priority,
    [__NR_sched_get_priority_min] = syscall_sched_priority,
    [__NR_mlock] = syscall_nothing,
    [__NR_munlock] = syscall_nothing,
    [__NR_mlockall] = syscall_nothing,
    [__NR_munlockall] = syscall_nothing,
    [__NR_prctl] = syscall_prctl,
    [__NR_arch_prctl] = syscall_arch_prctl,
    [__NR_setrlimit] = syscall_setrlimit,
    [__NR_sync] = syscall_nothing,
    [__NR_gettid] = syscall_gettid,
    [__NR_readahead] = syscall_fd_nothing,
    [__NR_tkill] = syscall_tkill,
    [__NR_time] = syscall_time,
    [__NR_futex] = syscall_futex,
    [__NR_sched_setaffinity] = syscall_sched_setaffinity,
    [__NR_sched_getaffinity] = syscall_sched_getaffinity,
    [__NR_getdents64] = syscall_getdents64,
    [__NR_set_tid_address] = syscall_set_tid_address,
    [__NR_fadvise64] = syscall_fd_nothing,
    [__NR_clock_gettime] = syscall_clock_gettime,
    [__NR_clock_getres] = syscall_clock_getres,
    [__NR_clock_nanosleep] = syscall_clock_nanosleep,
    [__NR_exit_group] = syscall_exit_group,
    [__NR_tgkill] = syscall_tgkill,
    [__NR_utimes] = syscall_read_only,
    [__NR_openat] = syscall_openat,
    [__NR_mkdirat] = syscall_read_only,
    [__NR_mknodat] = syscall_read_only,
    [__NR_fchownat] = syscall_read_only,
    [__NR_newfstatat] = syscall_newfstatat,
    [__NR_unlinkat] = syscall_read_only,
    [__NR_renameat] = syscall_read_only,
    [__NR_linkat] = syscall_read_only,
    [__NR_symlinkat] = syscall_read_only,
    [__NR_readlinkat] = syscall_readlinkat,
    [__NR_fchmodat] = syscall_read_only,
    [__NR_faccessat] = syscall_faccessat,
    [__NR_pselect6] = syscall_pselect6,
    [__NR_ppoll] = syscall_ppoll,
    [__NR_set_robust_list] = syscall_set_robust_list,
    [__NR_get_robust_list] = syscall_get_robust_list,
    [__NR_utimensat] = syscall_read_only,
    [__NR_fallocate] = syscall_fd_read_only,
    [__NR_dup3] = syscall_dup3,
    [__NR_preadv] = syscall_preadv,
    [__NR_pwritev] = syscall_pwritev,
    [__NR_prlimit64] = syscall_prlimit64,
    [__NR_syncfs] = syscall_fd_nothing,
    [__NR_getcpu] = syscall_getcpu,
    [__NR_renameat2] = syscall_read_only,
    [__NR_getrandom] = syscall_getrandom,
    [__NR_membarrier] = syscall_membarrier,
    [__NR_mlock2] = syscall_nothing,
    [__NR_statx] = syscall_statx,
    [__NR_rseq] = syscall_unsupported, /* C libraries do without */
    [__NR_clone3] = syscall_clone3,
    [__NR_faccessat2] = syscall_faccessat2,
};

#define HANDLERS (sizeof handlers / sizeof handlers[0])
#define REPORTS 1024u

static uint64_t reported[REPORTS / 64];

int64_t syscall_unknown(uint64_t number)
{
    uint64_t slot = number < REPORTS ? number : REPORTS - 1;

    if (!(reported[slot / 64] >> slot % 64 & 1)) {
        const char *name = syscall_name(number);

        reported[slot / 64] |= 1ull << slot % 64;
        log_notice("system call %lu (%s) is not supported; the program gets ENOSYS", number,
                   name ? name : "no such call in Linux 6.1");
    }
    return -ENOSYS;
}

void syscall_dispatch(struct thread *thread, struct trap_frame *frame)
{
    uint64_t number = frame->rax;
    int64_t result;

    if (number < HANDLERS && handlers[number])
        result = handlers[number](thread, frame);
    else
        result = syscall_unknown(number);
    frame->rax = (uint64_t)result;
    if (signal_pending(thread) || thread->signal_restore_mask)
        signal_deliver(thread, frame);
}
