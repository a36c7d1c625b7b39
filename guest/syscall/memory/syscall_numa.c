/* System calls about NUMA: there is one node, and all memory is there. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>

#include "guest/base/syscall_handlers.h"
#include "guest/thread/thread.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm.h"

#define MODES MPOL_MAX
#define NODES_MAX 1024u
#define WORD_BITS 64u

/* Checks that a mask of the program names node 0 and no other.  Returns 0, -EINVAL or -EFAULT. */
static int check_nodes(uint64_t user, uint64_t bits, bool *any)
{
    uint64_t word;

    *any = false;
    if (!user || bits <= 1)
        return 0;
    bits--; /* Linux's own off-by-one: maxnode counts one more */
    if (bits > NODES_MAX)
        return -EINVAL;
    for (uint64_t at = 0; at < bits; at += WORD_BITS) {
        if (copy_from_user(&word, user + at / 8, sizeof word) != 0)
            return -EFAULT;
        if (bits - at < WORD_BITS)
            word &= (1ull << (bits - at)) - 1;
        if (word & ~(at == 0 ? 1ull : 0))
            return -EINVAL;
        *any |= word;
    }
    return 0;
}

static int64_t check_policy(uint64_t mode, uint64_t nodes, uint64_t bits)
{
    uint32_t policy = (uint32_t)mode & ~(uint32_t)MPOL_MODE_FLAGS;
    bool any;
    int error = check_nodes(nodes, bits, &any);

    if (error)
        return error;
    if (policy >= MODES)
        return -EINVAL;
    if (policy == MPOL_DEFAULT || policy == MPOL_LOCAL)
        return any ? -EINVAL : 0;
    return any || policy == MPOL_PREFERRED ? 0 : -EINVAL;
}

int64_t syscall_set_mempolicy(struct thread *, struct trap_frame *frame)
{
    return check_policy(frame->rdi, frame->rsi, frame->rdx);
}

int64_t syscall_mbind(struct thread *, struct trap_frame *frame)
{
    if (frame->rdi & 4095)
        return -EINVAL;
    return check_policy(frame->rdx, frame->r10, frame->r8);
}

int64_t syscall_get_mempolicy(struct thread *thread, struct trap_frame *frame)
{
    const uint32_t mode = MPOL_DEFAULT; /* MPOL_F_NODE: node 0 */
    uint64_t bits = frame->rdx, flags = frame->r8, word;

    if (flags & ~(uint64_t)(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED))
        return -EINVAL;
    if (flags & MPOL_F_ADDR && vm_find(thread->process->space, frame->r10) == NULL)
        return -EFAULT;
    if (frame->rdi && copy_to_user(frame->rdi, &mode, sizeof mode) != 0)
        return -EFAULT;
    if (!frame->rsi)
        return 0;
    if (bits < 1 || bits > NODES_MAX)
        return -EINVAL;
    for (uint64_t at = 0; at < bits; at += WORD_BITS) {
        word = at == 0 && flags & MPOL_F_MEMS_ALLOWED;
        if (copy_to_user(frame->rsi + at / 8, &word, sizeof word) != 0)
            return -EFAULT;
    }
    return 0;
}

int64_t syscall_move_pages(struct thread *, struct trap_frame *frame)
{
    const int32_t node = 0;

    if ((uint32_t)frame->rdi && process_find((uint32_t)frame->rdi) == NULL)
        return -ESRCH;
    if (frame->rsi > UINT32_MAX)
        return -E2BIG;
    for (uint64_t i = 0; i < frame->rsi; i++)
        if (copy_to_user(frame->r8 + i * sizeof node, &node, sizeof node) != 0)
            return -EFAULT;
    return 0;
}
