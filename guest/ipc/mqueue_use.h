/* Descriptors of message queues, for the system calls. */
#ifndef GUEST_IPC_MQUEUE_USE_H
#define GUEST_IPC_MQUEUE_USE_H

#include "guest/ipc/mqueue.h"

enum { MQUEUE_RECEIVES = 1, MQUEUE_SENDS = 2 };

/* Returns the open queue that may be used in this way; NULL: EBADF. */
struct file *mqueue_use(const struct thread *thread, uint64_t descriptor, uint32_t how);

#endif
