/* Reads and writes that continue until all bytes are through, also when signals interrupt them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Return how many bytes were read, which are fewer than `count` only at the end of the file, or
 * -errno.  The second one reads at an offset. */
ssize_t transfer_read(int fd, void *bytes, size_t count);
ssize_t transfer_read_at(int fd, void *bytes, size_t count, uint64_t offset);

/* Return 0 or -errno, -ENOSPC where nothing more is taken.  *written (may be NULL) is how many
 * bytes were written in either case.  The second one writes at an offset. */
int transfer_write(int fd, const void *bytes, size_t count, size_t *written);
int transfer_write_at(int fd, const void *bytes, size_t count, uint64_t offset);
