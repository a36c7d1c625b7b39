/* pidfd: a file that stands for a process, and can be polled for its end.  Context: thread, with
 * the kernel lock held. */
#pragma once

#include "guest/file/files.h"

/* Makes a descriptor of a pidfd, closed on execve, and stores its number at `user`, unless that is
 * 0.  Returns the descriptor or -errno.  pidfd_name says which process it stands for. */
int64_t pidfd_reserve(struct thread *thread, uint64_t user);
void pidfd_name(const struct thread *thread, int64_t fd, uint32_t pid);

/* Returns the process that a file stands for: its pid, 0 if it was waited for, or -EBADF if the
 * file is no pidfd. */
int64_t pidfd_pid(const struct file *file);

/* Call when a process has ended, and when its parent has waited for it. */
void pidfd_process_ended(uint32_t pid);
void pidfd_process_gone(uint32_t pid);
