/* Names of Linux's x86-64 system calls, for reports. */
#pragma once

#include <stdint.h>

const char *syscall_name(uint64_t number); /* NULL: no such call */
int syscall_number(const char *name); /* -1: no such call */
