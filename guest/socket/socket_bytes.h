/* Bytes that a call on a socket sends or receives: in one buffer of the program, in several, or in
 * the kernel.  Context: thread, with the kernel lock held, which copies keep. */
#pragma once

#include <stdint.h>

struct socket_bytes {
    uint64_t left; /* of all parts */
    uint64_t at; /* the program's address in the current part */
    uint64_t part; /* bytes left of it */
    uint64_t vectors; /* the program's address of the next struct iovec */
    uint32_t vector_count; /* that are left */
    uint8_t *kernel; /* not NULL: all of it is here */
};

static inline struct socket_bytes socket_bytes_user(uint64_t user, uint64_t bytes)
{
    return (struct socket_bytes){.left = bytes, .at = user, .part = bytes};
}

static inline struct socket_bytes socket_bytes_kernel(void *at, uint64_t bytes)
{
    return (struct socket_bytes){.left = bytes, .kernel = at};
}

/* The bytes of `count` struct iovec.  Returns 0, -EFAULT, -EINVAL or -EMSGSIZE. */
int socket_bytes_vectors(struct socket_bytes *b, uint64_t vectors, uint64_t count);

/* Copy `bytes` <= left bytes from or to the parts and advance.  Return 0 or -EFAULT. */
int socket_bytes_take(struct socket_bytes *b, void *to, uint64_t bytes);
int socket_bytes_put(struct socket_bytes *b, const void *from, uint64_t bytes);
