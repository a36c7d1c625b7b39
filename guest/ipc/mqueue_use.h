/* Descriptors of message queues, for the system calls. */
#pragma once

#include "guest/ipc/mqueue.h"

enum { MQUEUE_RECEIVES = 1, MQUEUE_SENDS = 2 };

/* Returns the open queue that may be used in this way; NULL: EBADF. */
struct file *mqueue_use(const struct thread *thread, uint64_t descriptor, uint32_t how);
