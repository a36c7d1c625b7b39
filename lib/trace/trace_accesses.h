/* The accesses of HR_REC_ACCESSES: how they are written and read.
 *
 * The record belongs to the run of samples before it, and holds one access for each of them.  An
 * access is coded as varints: 2 * its events, plus 1 if it has an address; then, if it has one, its
 * address less that of the one before in the chunk that has one, zigzag-coded, its source, and its
 * latency; then, with HR_ACCESSES_REGISTERS, each register less that of the access before,
 * zigzag-coded.  What a chunk's first access is compared with is 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_reader.h"

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

/* Decodes the HR_REC_ACCESSES of a run of `count` samples into out[0..].  Returns TRACE_BAD_RECORD
 * if the record does not hold exactly so many. */
enum trace_status trace_accesses_decode(struct trace_access_state *state,
                                        const struct trace_record *record, struct hr_access *out,
                                        uint32_t count, bool registers);

/* What a writer keeps of the open run, for trace_writer*.c. */
struct trace_accesses {
    struct trace_access_state state;
    bool registers;
    uint32_t bytes; /* of `coded` in use */
    uint8_t coded[TRACE_BODY_BYTES_MAX];
};

/* Returns an upper bound of the record's bytes with one more access; TRACE_ACCESSES_NO_ROOM if the
 * run must be closed first. */
#define TRACE_ACCESSES_NO_ROOM UINT32_MAX
uint32_t trace_accesses_bound(const struct trace_accesses *a);

/* Adds the access of a sample of the open run, after trace_accesses_bound allowed it. */
void trace_accesses_add(struct trace_accesses *a, const struct hr_access *access);

/* Writes the record of the run that is being closed, if it has any, and adds it to *records.
 * Returns the end of what was written. */
uint8_t *trace_accesses_flush(struct trace_accesses *a, uint8_t *at, uint32_t *records);
