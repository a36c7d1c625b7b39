/* Tells which system calls are restarted after a handler with SA_RESTART. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

/* Returns true if Linux would restart the call `number`, which ended with EINTR, with the frame's
 * arguments.  It never restarts waits with a time limit or waits for signals. */
bool syscall_restarts(uint64_t number, const struct trap_frame *frame);
