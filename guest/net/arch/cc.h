/* What lwIP wants to know of the compiler and the kernel. */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "guest/net/net_checksum.h"
#include "guest/net/net_port.h"

#ifndef SSIZE_MAX /* lwIP takes it for the sign that there is an ssize_t */
#define SSIZE_MAX LONG_MAX
#endif
#define LWIP_NO_CTYPE_H 1
#define LWIP_NO_UNISTD_H 1
#define LWIP_RAND net_port_random
#define LWIP_PLATFORM_DIAG(x) ((void)0)
#define LWIP_PLATFORM_ASSERT(text) net_port_assert(text)
