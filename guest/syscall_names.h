/* Names of Linux's x86-64 system calls, for reports. */
#ifndef GUEST_SYSCALL_NAMES_H
#define GUEST_SYSCALL_NAMES_H

#include <stdint.h>

const char *syscall_name(uint64_t number); /* NULL: no such call */

#endif
