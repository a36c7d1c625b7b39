/* The accesses of HR_REC_ACCESSES: how they are written and read.
 *
 * The record belongs to the run of samples before it, and holds one access for each of them.  An
 * access is coded as varints: 2 * its events, plus 1 if it has an address; then, if it has one, its
 * address less that of the one before in the chunk that has one, zigzag-coded, its source, and its
 * latency; then, with HR_ACCESSES_REGISTERS, each register less that of the access before,
 * zigzag-coded.  What a chunk's first access is compared with is 0.
 */
#ifndef LIB_TRACE_ACCESSES_H
#define LIB_TRACE_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

struct hr_access {
    uint64_t address; /* of the data; 0: the instruction that was sampled accessed none */
    uint64_t source; /* of the data, as the processor codes it; see hr_meta_accesses.sources */
    uint32_t latency; /* ticks of the core's clock until the data came; 0: unknown */
    uint32_t events; /* bit n: the counter of event n made the record */
    uint64_t registers[HR_ACCESS_REGISTERS]; /* after the instruction; with HR_ACCESSES_REGISTERS */
};

/* Coded bytes of an access, at most. */
#define TRACE_ACCESS_BYTES_MAX (10u * (4 + HR_ACCESS_REGISTERS))

struct trace_access_state { /* of either side; zero where a chunk begins */
    uint64_t address;
    uint64_t registers[HR_ACCESS_REGISTERS];
};

/* Codes an access at `to`, which has room for TRACE_ACCESS_BYTES_MAX bytes.  Returns the end. */
uint8_t *trace_access_put(struct trace_access_state *state, uint8_t *to,
                          const struct hr_access *access, bool registers);

/* Decodes the access at `at`.  Returns its end, or NULL if it is damaged: cut off, a number of more
 * than 64 bits, no event, or an event beyond HR_EVENTS_MAX.  Without `registers` does not write
 * access->registers. */
const uint8_t *trace_access_get(struct trace_access_state *state, const uint8_t *at,
                                const uint8_t *stop, struct hr_access *access, bool registers);

#endif
