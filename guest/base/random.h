/* Bytes for getrandom, /dev/urandom and AT_RANDOM: the same sequence in every run, so that runs
 * repeat.  Not for secrets; nothing in a run needs any.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

void random_bytes(void *to, size_t bytes);
