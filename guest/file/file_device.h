/* The devices of /dev. */
#pragma once

#include "guest/file/files.h"

extern const struct file_type file_device_null;
extern const struct file_type file_device_zero;
extern const struct file_type file_device_full;
extern const struct file_type file_device_random;
extern const struct file_type file_device_terminal; /* /dev/tty: the terminal of the session */
extern const struct file_type file_device_command; /* /dev/pts/0: the command's terminal */

/* Writes random bytes, in parts: a signal ends it.  Returns how many, or -EFAULT. */
int64_t file_device_fill_random(const struct thread *thread, uint64_t user, uint64_t bytes);
