/* The system calls that Linux restarts after a handler with SA_RESTART (signal(7)). */
#include "guest/signal/syscall_restart.h"

#include <asm/unistd_64.h>
#include <linux/futex.h>

#include "lib/array.h"

static const bool restarts[] = {
    [__NR_read] = true,
    [__NR_readv] = true,
    [__NR_pread64] = true,
    [__NR_preadv] = true,
    [__NR_preadv2] = true,
    [__NR_write] = true,
    [__NR_writev] = true,
    [__NR_pwrite64] = true,
    [__NR_pwritev] = true,
    [__NR_pwritev2] = true,
    [__NR_open] = true,
    [__NR_openat] = true,
    [__NR_ioctl] = true,
    [__NR_fcntl] = true,
    [__NR_flock] = true,
    [__NR_wait4] = true,
    [__NR_waitid] = true,
    [__NR_sendfile] = true,
    [__NR_splice] = true,
    [__NR_tee] = true,
    [__NR_vmsplice] = true,
    [__NR_getrandom] = true,
    [__NR_fsync] = true,
    [__NR_copy_file_range] = true,
    [__NR_connect] = true,
    [__NR_accept] = true,
    [__NR_accept4] = true,
    [__NR_sendto] = true,
    [__NR_recvfrom] = true,
    [__NR_sendmsg] = true,
    [__NR_recvmsg] = true,
    [__NR_sendmmsg] = true,
    [__NR_recvmmsg] = true,
    [__NR_mq_timedsend] = true,
    [__NR_mq_timedreceive] = true,
};

bool syscall_restarts(uint64_t number, const struct trap_frame *frame)
{
    if (number == __NR_futex) { /* not restarted with a time limit */
        uint64_t command = frame->rsi & FUTEX_CMD_MASK;

        return command == FUTEX_LOCK_PI || !frame->r10;
    }
    return number < ARRAY_COUNT(restarts) && restarts[number];
}
