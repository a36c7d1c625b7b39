/* fcntl's commands for locks: F_GETLK, F_SETLK, F_SETLKW and the F_OFD_ ones. */
#pragma once

#include "guest/file/files.h"

int64_t syscall_lock_control(struct thread *thread, struct file *file, uint32_t command,
                             uint64_t user);
