/* The flags line of /proc/cpuinfo: CPUID's features by the names that Linux has for them. */
#pragma once

#include "guest/base/text.h"

void proc_add_cpu_flags(struct text *text); /* a space before each */
