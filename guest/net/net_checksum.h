/* The Internet checksum (RFC 1071), for lwIP. */
#pragma once

#include <stdint.h>

/* Returns the one's complement sum of 16-bit words as they are in memory, not inverted.  An odd
 * last byte counts as if a zero followed. */
uint16_t net_checksum(const void *bytes, int count);
