/* System calls that Microtome refuses, and counts for the end of the run: guest/base/refused.h. */
#include <errno.h>
#include <sys/socket.h>

#include "guest/base/refused.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/ipc/mqueue_socket.h"

int64_t syscall_unsupported(struct thread *, struct trap_frame *frame)
{
    refused_count(frame->vector, REFUSED_CALL);
    return -ENOSYS;
}

/* Refuses, without a count, what every program tries and can do without. */
int64_t syscall_not_offered(struct thread *, struct trap_frame *)
{
    return -ENOSYS;
}

/* To look up users and hosts, C libraries first ask a local daemon, and can do without: such a call
 * is not counted. */
int64_t syscall_socket(struct thread *thread, struct trap_frame *frame)
{
    if ((uint32_t)frame->rdi == AF_NETLINK)
        return mqueue_socket_new(thread->process, (uint32_t)frame->rsi, (uint32_t)frame->rdx);
    return (uint32_t)frame->rdi == AF_UNIX ? -EAFNOSUPPORT : syscall_no_network(thread, frame);
}
