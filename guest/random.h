/* Bytes for getrandom, /dev/urandom and AT_RANDOM: the same sequence in every run, so that runs
 * repeat.  Not for secrets; nothing in a run needs any.
 */
#ifndef GUEST_RANDOM_H
#define GUEST_RANDOM_H

#include <stddef.h>

void random_bytes(void *to, size_t bytes);

#endif
