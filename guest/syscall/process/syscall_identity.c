/* System calls about who the program is and what it may: user 1000, without privileges. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/personality.h>
#include <string.h>

#include "guest/base/syscall_handlers.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"

#define UNCHANGED UINT32_MAX

static bool is_own(uint64_t id)
{
    return (uint32_t)id == PROCESS_USER_ID || (uint32_t)id == UNCHANGED;
}

int64_t syscall_set_two_identities(struct thread *, struct trap_frame *frame)
{
    return is_own(frame->rdi) && is_own(frame->rsi) ? 0 : -EPERM;
}

int64_t syscall_set_three_identities(struct thread *, struct trap_frame *frame)
{
    return is_own(frame->rdi) && is_own(frame->rsi) && is_own(frame->rdx) ? 0 : -EPERM;
}

/* setfsuid, setfsgid: return the previous id and never an error. */
int64_t syscall_set_file_identity(struct thread *, struct trap_frame *)
{
    return PROCESS_USER_ID;
}

/* Calls that need a privilege. */
int64_t syscall_not_permitted(struct thread *, struct trap_frame *)
{
    return -EPERM;
}

/* Addresses are not randomised anyway. */
int64_t syscall_personality(struct thread *, struct trap_frame *frame)
{
    return frame->rdi == 0xffffffff || (frame->rdi & ~(uint64_t)ADDR_NO_RANDOMIZE) == PER_LINUX
               ? PER_LINUX
               : -EINVAL;
}

/* Reads the version; sets *words to the number of 32-bit words of each set.  Returns 0 or -errno.
 */
static int capability_version(uint64_t user, uint32_t *words)
{
    const uint32_t preferred = _LINUX_CAPABILITY_VERSION_3;
    struct __user_cap_header_struct header;

    if (copy_from_user(&header, user, sizeof header) != 0)
        return -EFAULT;
    if (header.version != _LINUX_CAPABILITY_VERSION_1 &&
        header.version != _LINUX_CAPABILITY_VERSION_2 &&
        header.version != _LINUX_CAPABILITY_VERSION_3)
        return copy_to_user(user, &preferred, sizeof preferred) ? -EFAULT : -EINVAL;
    if (header.pid < 0)
        return -EINVAL;
    if (header.pid && threads_find((uint32_t)header.pid) == NULL)
        return -ESRCH;
    *words = header.version == _LINUX_CAPABILITY_VERSION_1 ? 1 : 2;
    return 0;
}

int64_t syscall_capget(struct thread *, struct trap_frame *frame)
{
    const struct __user_cap_data_struct none[2] = {{0}};
    uint32_t words = 0;
    int error = capability_version(frame->rdi, &words);

    if (!frame->rsi) /* asks for the version only */
        return error == -EINVAL ? 0 : error;
    return error ? error : copy_to_user(frame->rsi, none, words * sizeof none[0]);
}

int64_t syscall_capset(struct thread *, struct trap_frame *frame)
{
    struct __user_cap_data_struct wanted[2] = {{0}};
    uint32_t words = 0;
    int error = capability_version(frame->rdi, &words);

    if (!error && copy_from_user(wanted, frame->rsi, words * sizeof wanted[0]) != 0)
        error = -EFAULT;
    for (uint32_t i = 0; !error && i < words; i++)
        if (wanted[i].effective || wanted[i].permitted || wanted[i].inheritable)
            error = -EPERM;
    return error;
}

int64_t syscall_ioprio_get(struct thread *, struct trap_frame *frame)
{
    if ((uint32_t)frame->rdi < IOPRIO_WHO_PROCESS || (uint32_t)frame->rdi > IOPRIO_WHO_USER)
        return -EINVAL;
    return IOPRIO_CLASS_NONE;
}
