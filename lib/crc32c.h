/* CRC32C: Castagnoli, polynomial 1EDC6F41H reflected, inverted before and after; RFC 3720 B.4. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum; crc is 0 at the start.  crc32c(crc32c(0, a), b) is the checksum of a then
 * b.  Uses the SSE4.2 CRC32 instruction where the CPU has it (it needs no vector registers).
 */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);

/* Computes crc32c by tables, on every CPU: the fallback, separate so that a test reaches it. */
uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t count);
