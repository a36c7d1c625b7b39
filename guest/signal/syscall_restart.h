/* Which system calls are made again after a handler with SA_RESTART. */
#ifndef GUEST_SIGNAL_SYSCALL_RESTART_H
#define GUEST_SIGNAL_SYSCALL_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

/* The call `number` with the frame's arguments ended with EINTR: true when Linux would make it
 * again.  Waits with a time limit, and those for signals, are not. */
bool syscall_restarts(uint64_t number, const struct trap_frame *frame);

#endif
