/* The system calls: one function each, called by guest/syscall/syscall.c through its table.
 *
 * Arguments are in frame->rdi, rsi, rdx, r10, r8, r9; the result is 0 or positive, or -errno, and
 * goes to frame->rax.  Thread context, interrupts off.
 */
#ifndef GUEST_BASE_SYSCALL_HANDLERS_H
#define GUEST_BASE_SYSCALL_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"

#define SYSCALL_IO_MAX 0x7ffff000ull /* bytes of one read or write */

struct file;
struct thread;

/* -ENOSYS; the end of the run names it with its count: guest/base/refused.h. */
int64_t syscall_unknown(uint64_t number);

/* What uname says of the kernel. */
#define SYSCALL_RELEASE "6.1.0-microtome"
#define SYSCALL_VERSION "#1"

/* Seconds and nanoseconds of the program: *ns, saturated; -EFAULT, -EINVAL. */
int syscall_read_time(uint64_t user, uint64_t *ns);

#define SYSCALL_HANDLER(name) \
    int64_t syscall_##name(struct thread *thread, struct trap_frame *frame)

/* guest/syscall/syscall_io.c */
SYSCALL_HANDLER(read);
SYSCALL_HANDLER(write);
SYSCALL_HANDLER(readv);
SYSCALL_HANDLER(writev);
SYSCALL_HANDLER(pread64);
SYSCALL_HANDLER(pwrite64);
SYSCALL_HANDLER(preadv);
SYSCALL_HANDLER(pwritev);
SYSCALL_HANDLER(preadv2);
SYSCALL_HANDLER(pwritev2);
SYSCALL_HANDLER(lseek);
SYSCALL_HANDLER(fsync);
/* guest/syscall/syscall_open.c */
SYSCALL_HANDLER(open);
SYSCALL_HANDLER(openat);
SYSCALL_HANDLER(creat);
SYSCALL_HANDLER(openat2);
/* guest/syscall/syscall_file.c */
SYSCALL_HANDLER(close);
SYSCALL_HANDLER(fd_nothing);
SYSCALL_HANDLER(umask);
/* guest/syscall/syscall_descriptor.c */
SYSCALL_HANDLER(dup);
SYSCALL_HANDLER(dup2);
SYSCALL_HANDLER(dup3);
SYSCALL_HANDLER(fcntl);
SYSCALL_HANDLER(close_range);
/* guest/syscall/syscall_transfer.c */
SYSCALL_HANDLER(sendfile);
SYSCALL_HANDLER(splice);
SYSCALL_HANDLER(tee);
SYSCALL_HANDLER(vmsplice);
SYSCALL_HANDLER(copy_file_range);
/* guest/file/signalfd.c */
SYSCALL_HANDLER(signalfd);
SYSCALL_HANDLER(signalfd4);
/* guest/syscall/syscall_memfd.c */
SYSCALL_HANDLER(memfd_create);
/* guest/syscall/syscall_lock.c */
SYSCALL_HANDLER(flock);
/* guest/syscall/syscall_ioctl.c */
SYSCALL_HANDLER(ioctl);
/* guest/syscall/syscall_link.c */
SYSCALL_HANDLER(mkdir);
SYSCALL_HANDLER(mkdirat);
SYSCALL_HANDLER(mknod);
SYSCALL_HANDLER(mknodat);
SYSCALL_HANDLER(symlink);
SYSCALL_HANDLER(symlinkat);
SYSCALL_HANDLER(unlink);
SYSCALL_HANDLER(unlinkat);
SYSCALL_HANDLER(rmdir);
SYSCALL_HANDLER(link);
SYSCALL_HANDLER(linkat);
SYSCALL_HANDLER(rename);
SYSCALL_HANDLER(renameat);
SYSCALL_HANDLER(renameat2);
SYSCALL_HANDLER(readlink);
SYSCALL_HANDLER(readlinkat);
/* guest/syscall/syscall_size.c */
SYSCALL_HANDLER(truncate);
SYSCALL_HANDLER(ftruncate);
SYSCALL_HANDLER(fallocate);
SYSCALL_HANDLER(sync_file_range);
/* guest/syscall/syscall_attributes.c */
SYSCALL_HANDLER(chmod);
SYSCALL_HANDLER(fchmod);
SYSCALL_HANDLER(fchmodat);
SYSCALL_HANDLER(chown);
SYSCALL_HANDLER(lchown);
SYSCALL_HANDLER(fchown);
SYSCALL_HANDLER(fchownat);
SYSCALL_HANDLER(utimensat);
SYSCALL_HANDLER(utimes);
SYSCALL_HANDLER(futimesat);
SYSCALL_HANDLER(utime);
SYSCALL_HANDLER(xattr);
SYSCALL_HANDLER(lxattr);
SYSCALL_HANDLER(fxattr);
SYSCALL_HANDLER(listxattr);
SYSCALL_HANDLER(llistxattr);
SYSCALL_HANDLER(flistxattr);
/* guest/syscall/syscall_stat.c */
SYSCALL_HANDLER(stat);
SYSCALL_HANDLER(lstat);
SYSCALL_HANDLER(fstat);
SYSCALL_HANDLER(newfstatat);
SYSCALL_HANDLER(statx);
SYSCALL_HANDLER(statfs);
SYSCALL_HANDLER(fstatfs);
SYSCALL_HANDLER(access);
SYSCALL_HANDLER(faccessat);
SYSCALL_HANDLER(faccessat2);
/* guest/syscall/syscall_directory.c */
SYSCALL_HANDLER(getcwd);
SYSCALL_HANDLER(chdir);
SYSCALL_HANDLER(fchdir);
SYSCALL_HANDLER(getdents64);
SYSCALL_HANDLER(getdents);
/* guest/file/pipe.c, guest/file/eventfd.c, guest/file/timerfd.c */
SYSCALL_HANDLER(pipe);
SYSCALL_HANDLER(pipe2);
SYSCALL_HANDLER(eventfd);
SYSCALL_HANDLER(eventfd2);
SYSCALL_HANDLER(timerfd_create);
SYSCALL_HANDLER(timerfd_settime);
SYSCALL_HANDLER(timerfd_gettime);
/* guest/syscall/syscall_epoll.c */
SYSCALL_HANDLER(epoll_create);
SYSCALL_HANDLER(epoll_create1);
SYSCALL_HANDLER(epoll_ctl);
SYSCALL_HANDLER(epoll_wait);
SYSCALL_HANDLER(epoll_pwait);
SYSCALL_HANDLER(epoll_pwait2);
/* guest/syscall/syscall_poll.c */
SYSCALL_HANDLER(poll);
SYSCALL_HANDLER(ppoll);
SYSCALL_HANDLER(select);
SYSCALL_HANDLER(pselect6);
/* guest/syscall/syscall_memory.c */
SYSCALL_HANDLER(mmap);
SYSCALL_HANDLER(munmap);
SYSCALL_HANDLER(mprotect);
SYSCALL_HANDLER(mremap);
SYSCALL_HANDLER(madvise);
SYSCALL_HANDLER(brk);
SYSCALL_HANDLER(msync);
SYSCALL_HANDLER(mincore);
SYSCALL_HANDLER(mlock);
SYSCALL_HANDLER(mlock2);
SYSCALL_HANDLER(mlockall);
SYSCALL_HANDLER(munlock);
SYSCALL_HANDLER(munlockall);
SYSCALL_HANDLER(nothing);
/* guest/syscall/syscall_signal.c */
SYSCALL_HANDLER(rt_sigaction);
SYSCALL_HANDLER(rt_sigprocmask);
SYSCALL_HANDLER(rt_sigpending);
SYSCALL_HANDLER(rt_sigsuspend);
SYSCALL_HANDLER(rt_sigtimedwait);
SYSCALL_HANDLER(rt_sigreturn);
SYSCALL_HANDLER(rt_sigqueueinfo);
SYSCALL_HANDLER(rt_tgsigqueueinfo);
SYSCALL_HANDLER(sigaltstack);
SYSCALL_HANDLER(kill);
SYSCALL_HANDLER(tkill);
SYSCALL_HANDLER(tgkill);
SYSCALL_HANDLER(pause);
/* guest/syscall/syscall_process.c */
SYSCALL_HANDLER(getpid);
SYSCALL_HANDLER(gettid);
SYSCALL_HANDLER(getppid);
SYSCALL_HANDLER(getuid);
SYSCALL_HANDLER(getresuid);
SYSCALL_HANDLER(getpgid);
SYSCALL_HANDLER(setpgid);
SYSCALL_HANDLER(set_identity);
SYSCALL_HANDLER(getgroups);
SYSCALL_HANDLER(uname);
SYSCALL_HANDLER(arch_prctl);
SYSCALL_HANDLER(prctl);
SYSCALL_HANDLER(wait4);
SYSCALL_HANDLER(getrandom);
/* guest/syscall/syscall_identity.c */
SYSCALL_HANDLER(set_two_identities);
SYSCALL_HANDLER(set_three_identities);
SYSCALL_HANDLER(set_file_identity);
SYSCALL_HANDLER(not_permitted);
SYSCALL_HANDLER(personality);
SYSCALL_HANDLER(capget);
SYSCALL_HANDLER(capset);
SYSCALL_HANDLER(waitid);
SYSCALL_HANDLER(ioprio_get);
/* guest/syscall/syscall_numa.c */
SYSCALL_HANDLER(set_mempolicy);
SYSCALL_HANDLER(mbind);
SYSCALL_HANDLER(get_mempolicy);
SYSCALL_HANDLER(move_pages);
/* guest/syscall/syscall_refused.c */
SYSCALL_HANDLER(unsupported);
SYSCALL_HANDLER(not_offered);
SYSCALL_HANDLER(no_process);
SYSCALL_HANDLER(no_program);
SYSCALL_HANDLER(no_network);
SYSCALL_HANDLER(socket);
SYSCALL_HANDLER(socketpair);
SYSCALL_HANDLER(sendto);
SYSCALL_HANDLER(recvfrom);
SYSCALL_HANDLER(shutdown);
SYSCALL_HANDLER(getsockopt);
SYSCALL_HANDLER(getsockname);
SYSCALL_HANDLER(no_socket);
/* guest/syscall/syscall_limits.c */
SYSCALL_HANDLER(getrlimit);
SYSCALL_HANDLER(setrlimit);
SYSCALL_HANDLER(prlimit64);
SYSCALL_HANDLER(getrusage);
SYSCALL_HANDLER(sysinfo);
/* guest/syscall/syscall_thread.c */
SYSCALL_HANDLER(set_tid_address);
SYSCALL_HANDLER(set_robust_list);
SYSCALL_HANDLER(get_robust_list);
SYSCALL_HANDLER(membarrier);
SYSCALL_HANDLER(getcpu);
SYSCALL_HANDLER(sched_getaffinity);
SYSCALL_HANDLER(sched_setaffinity);
SYSCALL_HANDLER(sched_yield);
SYSCALL_HANDLER(sched_getparam);
SYSCALL_HANDLER(sched_getattr);
SYSCALL_HANDLER(sched_rr_get_interval);
SYSCALL_HANDLER(sched_setparam);
SYSCALL_HANDLER(sched_setscheduler);
SYSCALL_HANDLER(sched_priority);
SYSCALL_HANDLER(getpriority);
/* guest/syscall/syscall_clone.c */
SYSCALL_HANDLER(clone);
SYSCALL_HANDLER(clone3);
SYSCALL_HANDLER(exit);
SYSCALL_HANDLER(exit_group);
/* guest/syscall/futex.c */
SYSCALL_HANDLER(futex);
/* guest/syscall/syscall_time.c */
SYSCALL_HANDLER(clock_gettime);
SYSCALL_HANDLER(clock_getres);
SYSCALL_HANDLER(gettimeofday);
SYSCALL_HANDLER(time);
SYSCALL_HANDLER(times);
SYSCALL_HANDLER(nanosleep);
SYSCALL_HANDLER(clock_nanosleep);
SYSCALL_HANDLER(clock_settime);
SYSCALL_HANDLER(settimeofday);
SYSCALL_HANDLER(adjtimex);
SYSCALL_HANDLER(clock_adjtime);
/* guest/syscall/syscall_timer.c */
SYSCALL_HANDLER(timer_create);
SYSCALL_HANDLER(timer_settime);
SYSCALL_HANDLER(timer_gettime);
SYSCALL_HANDLER(timer_getoverrun);
SYSCALL_HANDLER(timer_delete);
SYSCALL_HANDLER(getitimer);
SYSCALL_HANDLER(setitimer);
SYSCALL_HANDLER(alarm);

#endif
