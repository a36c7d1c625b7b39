/* Bytes for getrandom, /dev/urandom and AT_RANDOM: the same sequence in every run, so that runs
 * repeat.  Not for secrets; nothing in a run needs any.
 */
#ifndef GUEST_BASE_RANDOM_H
#define GUEST_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

void random_bytes(void *to, size_t bytes);

/* The same to user memory.  The bytes that were written, or -EFAULT when none could be.  Thread
 * context.
 */
int64_t random_to_user(uint64_t user, uint64_t bytes);

#endif
