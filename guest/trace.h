/* Turns ring contents into chunks and sends them: service context only, except where noted. */
#ifndef GUEST_TRACE_H
#define GUEST_TRACE_H

#include <stdint.h>

#include "guest/cpu.h"
#include "include/hr_format.h"

/* The program's load map, before the program starts. build_id may be NULL. */
void trace_map(uint64_t start, uint64_t end, uint64_t file_offset, uint32_t flags,
               const uint8_t *build_id, uint16_t build_id_bytes, const char *path);

#endif
