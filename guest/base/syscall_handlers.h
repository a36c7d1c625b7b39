/* The system calls: one function each, called by guest/syscall/syscall.c through its table.
 *
 * Arguments are in frame->rdi, rsi, rdx, r10, r8, r9; the result is 0 or positive, or -errno, and
 * goes to frame->rax.  Thread context, interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"

#define SYSCALL_IO_MAX 0x7ffff000ull /* bytes of one read or write */

struct thread;

/* What uname says of the kernel. */
#define SYSCALL_RELEASE "6.1.0-microtome"
#define SYSCALL_VERSION "#1"

/* One for each line of the table; some handle several calls. */
#define SYSCALL(name, handler, support, note) \
    int64_t syscall_##handler(struct thread *thread, struct trap_frame *frame);
#include "lib/program/syscall_table.h"
#undef SYSCALL
