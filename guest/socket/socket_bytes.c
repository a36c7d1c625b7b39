/* Copies between a socket's packets and the buffers of a call. */
#include "guest/socket/socket_bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "guest/base/context.h"
#include "guest/base/syscall_handlers.h"
#include "guest/vm/uaccess.h"

#define VECTORS_MAX 1024u

int socket_bytes_vectors(struct socket_bytes *b, uint64_t vectors, uint64_t count)
{
    uint64_t all = 0;

    if (count > VECTORS_MAX)
        return -EMSGSIZE;
    for (uint64_t i = 0; i < count; i++) {
        struct iovec part;

        if (copy_from_user(&part, vectors + i * sizeof part, sizeof part) != 0)
            return -EFAULT;
        if ((int64_t)part.iov_len < 0)
            return -EINVAL;
        all += part.iov_len < SYSCALL_IO_MAX - all ? part.iov_len : SYSCALL_IO_MAX - all;
    }
    *b = (struct socket_bytes){.left = all, .vectors = vectors, .vector_count = (uint32_t)count};
    return 0;
}

/* Goes to the next part that has bytes.  The program may have changed the vectors since they were
 * counted: then there may be none. */
static int next_part(struct socket_bytes *b)
{
    while (!b->part) {
        struct iovec part;

        if (!b->vector_count || copy_from_user(&part, b->vectors, sizeof part) != 0)
            return -EFAULT;
        b->vectors += sizeof part;
        b->vector_count--;
        b->at = (uint64_t)part.iov_base;
        b->part = part.iov_len;
    }
    return 0;
}

/* Copies as much as lies in one part.  Returns how much, or -EFAULT. */
static int64_t copy_part(struct socket_bytes *b, uint8_t *inside, uint64_t bytes, bool take)
{
    uint64_t part;

    if (b->kernel != NULL) {
        memcpy(take ? inside : b->kernel, take ? b->kernel : inside, bytes);
        b->kernel += bytes;
        return (int64_t)bytes;
    }
    if (next_part(b) != 0)
        return -EFAULT;
    part = bytes < b->part ? bytes : b->part;
    if ((take ? copy_from_user(inside, b->at, part) : copy_to_user(b->at, inside, part)) != 0)
        return -EFAULT;
    b->at += part;
    b->part -= part;
    return (int64_t)part;
}

static int copy_bytes(struct socket_bytes *b, uint8_t *inside, uint64_t bytes, bool take)
{
    context_assert_thread();
    while (bytes) {
        int64_t part = copy_part(b, inside, bytes, take);

        if (part < 0)
            return (int)part;
        inside += part;
        bytes -= (uint64_t)part;
        b->left -= (uint64_t)part;
    }
    return 0;
}

int socket_bytes_take(struct socket_bytes *b, void *to, uint64_t bytes)
{
    return copy_bytes(b, to, bytes, true);
}

int socket_bytes_put(struct socket_bytes *b, const void *from, uint64_t bytes)
{
    return copy_bytes(b, (uint8_t *)(uintptr_t)from, bytes, false);
}
