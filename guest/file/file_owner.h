/* The owner of an open file: the process, thread or group that signals about it go to (F_SETOWN).
 * The only such signal is SIGURG.  Context: thread, with the kernel lock held. */
#pragma once

#include <stdint.h>

#include "guest/file/files.h"

/* As F_SETOWN and F_GETOWN: a group is a negative number; 0: none.  0 or more, or -errno; an owner
 * may be negative. */
int64_t file_owner_set(struct file *file, int32_t who);
int32_t file_owner_get(const struct file *file);

/* fcntl's commands about owners. */
int64_t file_owner_control(struct file *file, uint32_t command, uint64_t argument);

void file_owner_signal(const struct file *file, uint32_t signal);
