/* The field coding that trace_writer and trace_reader share; docs/format.md, "Samples" and
 * "Hits of probes". */
#pragma once

#include <stdint.h>

#include "include/hr_format.h"
#include "lib/bytes.h"

#define TRACE_FIELDS_FIXED 3u /* time, ip, cost; events follow */
#define TRACE_FIELDS_MAX (TRACE_FIELDS_FIXED + HR_EVENTS_MAX)
#define TRACE_NARROW_LIMIT (1ull << 24) /* narrow runs hold fields below this */
/* Largest control word and fields, and how many bytes an 8-byte access may touch after them. */
#define TRACE_SAMPLE_BYTES_MAX (4u + 8u * TRACE_FIELDS_MAX)
#define TRACE_SAMPLE_SLACK 8u

/* Likewise for a hit of a probe: its arguments follow the events. */
#define TRACE_HIT_FIELDS_MAX (TRACE_FIELDS_MAX + HR_PROBE_ARGUMENTS_MAX)
#define TRACE_HIT_BYTES_MAX (6u + 8u * TRACE_HIT_FIELDS_MAX)

#define TRACE_BODY_BYTES_MAX 65535u /* of a record */

static inline void trace_code_record(uint8_t *at, uint8_t type, uint32_t body_bytes)
{
    const struct hr_record_header head = {.type = type, .bytes = (uint16_t)body_bytes};

    __builtin_memcpy(at, &head, sizeof head);
}

/* Values are events and a hit's arguments. */
static inline uint32_t trace_code_control_bytes(uint32_t value_count)
{
    return (2 * (TRACE_FIELDS_FIXED + value_count) + 7) / 8;
}

static inline uint64_t trace_code_zigzag(uint64_t value)
{
    return (value << 1) ^ (uint64_t)((int64_t)value >> 63);
}

static inline uint64_t trace_code_unzigzag(uint64_t coded)
{
    return (coded >> 1) ^ (0 - (coded & 1));
}

/* Decodes the field at *at, whose length its two bits of the control word say. */
static inline __attribute__((always_inline)) uint64_t trace_code_take(const uint8_t **at,
                                                                      uint32_t code, int wide)
{
    static const uint32_t narrow_masks[4] = {0, 0xff, 0xffff, 0xffffff};
    static const uint64_t wide_masks[4] = {0, 0xffff, 0xffffffff, UINT64_MAX};
    uint64_t value;

    if (wide) {
        value = bytes_load64(*at) & wide_masks[code];
        *at += (1u << code) & ~1u;
    } else {
        value = bytes_load32(*at) & narrow_masks[code];
        *at += code;
    }
    return trace_code_unzigzag(value);
}
