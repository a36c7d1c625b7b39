/* The flags line of /proc/cpuinfo: CPUID's features by the names that Linux has for them. */
#ifndef GUEST_CPU_PROC_FLAGS_H
#define GUEST_CPU_PROC_FLAGS_H

#include "guest/base/text.h"

void proc_add_cpu_flags(struct text *text); /* a space before each */

#endif
