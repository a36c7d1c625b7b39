/* Builds the chunks of a trace in a caller's buffer.  Freestanding; no allocation; not reentrant.
 *
 * One writer serves one CPU's DATA chunks, or any sequence of META, END, HOST chunks.  Call begin,
 * then add samples and records until one returns -ENOSPC, then finish, send the buffer, begin
 * again and repeat the refused addition.  The first addition to an empty chunk never fails if the
 * buffer has TRACE_CHUNK_BYTES_MIN bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "include/hr_format.h"
#include "lib/trace/trace_accesses.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_probes.h"
#include "lib/trace/trace_slot.h"
#include "lib/trace/trace_stacks.h"

#define TRACE_CHUNK_BYTES_MIN 4096u

struct trace_writer {
    uint8_t *buffer; /* the chunk: header, then payload */
    uint32_t capacity; /* of buffer, bytes */
    uint32_t used; /* bytes of buffer in use; 0 between finish and begin */
    uint32_t event_count;
    uint32_t control_bytes; /* of a sample */
    uint32_t sequence; /* of the next chunk */
    uint32_t run; /* offset of the record header of the open run of samples or hits; 0: none */
    uint32_t run_samples;
    uint32_t run_tid;
    uint16_t run_flags;
    uint8_t run_type; /* HR_REC_SAMPLES, HR_REC_PROBES, or one of these with _WIDE */
    uint8_t narrow_streak; /* samples in a wide run that would have fitted a narrow one */
    uint64_t narrow_key; /* of an open narrow run of samples: what they have in common */
    struct hr_chunk_header header; /* of the chunk being built */
    struct trace_stacks *stacks; /* of the samples; NULL: they have none */
    uint32_t stack_offset; /* offset of the stack in a slot */
    struct trace_accesses *accesses; /* of the samples; NULL: they have none */
    /* state of the difference coding, kept across chunks */
    struct trace_slot previous; /* counters: as read modulo their ranges, extended to 64 bits */
    uint64_t interval;
    uint64_t increments[HR_EVENTS_MAX];
    uint64_t ranges[HR_EVENTS_MAX]; /* mask of the bits that each counter has */
    uint64_t first[HR_EVENTS_MAX]; /* value of each counter when it had counted nothing */
    /* totals since init */
    uint64_t samples; /* those of the open run are added when it is closed */
    uint64_t lost;
    struct trace_probes probes;
};

/* capacity must be at least TRACE_CHUNK_BYTES_MIN.  cpu is a CPU number or HR_CPU_NONE. */
void trace_writer_init(struct trace_writer *w, void *buffer, uint32_t capacity, uint16_t cpu,
                       uint32_t event_count);

/* Declares how samples hold event number `event`: a counter of width_bits (1 to 64) bits that
 * started at `first`.  The trace gets whole counts, which are right as long as no counter passes
 * its range between two samples.  Call it before the first chunk; without it counts are 64 bits
 * wide and start at 0.
 */
void trace_writer_counter(struct trace_writer *w, uint32_t event, uint32_t width_bits,
                          uint64_t first);

/* Declares that samples have call stacks: a struct trace_slot_stack follows each slot.  `memory`
 * must have trace_stacks_bytes(kind) bytes, aligned to 8, and the buffer at least
 * TRACE_STACKS_CHUNK_BYTES_MIN bytes.  Call it before the first chunk.
 */
void trace_writer_stacks(struct trace_writer *w, enum hr_stack_kind kind, void *memory);

/* Declares that samples have accesses, which follow the events in each slot
 * (lib/trace/trace_slot.h). `memory` is the writer's from now on.  Call it before the first chunk,
 * and before trace_writer_stacks. */
void trace_writer_accesses(struct trace_writer *w, struct trace_accesses *memory, bool registers);

/* Declares that there are hits of probes, with so many arguments (up to HR_PROBE_ARGUMENTS_MAX).
 * Call it before the first chunk, and before trace_writer_stacks. */
void trace_writer_probes(struct trace_writer *w, uint32_t argument_count);

/* Extends a reading that was taken after the last sample or hit to whole counts. */
void trace_writer_extend(const struct trace_writer *w, const uint64_t *counters, uint64_t *whole);

/* Fills a file header. */
void trace_file_header(struct hr_file_header *header);

/* Starts a chunk.  A DATA chunk gets its HR_REC_BASE. */
void trace_writer_begin(struct trace_writer *w, enum hr_chunk_type type);

/* Adds a sample.  Returns 0, or -ENOSPC if the chunk is full.  HR_SAMPLE_ASIDE needs stacks; its
 * counters are not used. */
int trace_writer_sample(struct trace_writer *w, const struct trace_slot *sample);

/* Adds samples from up to `count` slots, slot_bytes apart, until a slot is not a sample (kind is
 * not 0) or the chunk is full.  Returns how many were added. */
uint32_t trace_writer_samples(struct trace_writer *w, const void *slots, size_t slot_bytes,
                              uint32_t count);

/* Adds a hit of a probe (see trace_slot.h).  Returns 0, or -ENOSPC if the chunk is full. */
int trace_writer_probe(struct trace_writer *w, const struct trace_slot *hit);

/* Notes a sample that will not be written, like those before it since the last written one: the
 * next sample is coded as differences from this one.  No chunk may be open, unless it gets no more
 * samples. */
void trace_writer_skip(struct trace_writer *w, const struct trace_slot *sample);

/* Adds a record made of a fixed body and a variable tail.  `time` updates the chunk's time range
 * unless it is TRACE_NO_TIME.  Returns 0, -ENOSPC if the chunk is full, or -EMSGSIZE if the record
 * can never fit (body + tail > 65535 bytes, or larger than an empty chunk of this buffer).
 */
#define TRACE_NO_TIME UINT64_MAX
int trace_writer_record(struct trace_writer *w, uint8_t type, uint64_t time, const void *body,
                        uint32_t body_bytes, const void *tail, uint32_t tail_bytes);

/* Adds HR_REC_LOST and counts it in the chunk header. */
int trace_writer_lost(struct trace_writer *w, const struct hr_rec_lost *lost);

/* Returns true if a chunk is open and holds more than its base. */
bool trace_writer_dirty(const struct trace_writer *w);

/* Seals the chunk: header, checksums.  Returns its length in bytes; the bytes are in w->buffer. */
uint32_t trace_writer_finish(struct trace_writer *w);

/* The rest is for trace_writer_samples.c and trace_probes.c. */

#define TRACE_NO_RUN UINT64_MAX /* narrow_key: none, because no run has such a thread and flags */
#define TRACE_NARROW_STREAK_MAX 16u /* fitting samples or hits before a wide run is ended */
#define TRACE_RUN_HEAD_BYTES \
    ((uint32_t)(sizeof(struct hr_record_header) + sizeof(struct hr_rec_samples)))

/* Completes the open run, if there is one. */
void trace_writer_close_run(struct trace_writer *w);

/* Whether samples have more than a slot, and runs of them are followed by records with it. */
static inline bool trace_writer_has_more(const struct trace_writer *w)
{
    return w->stacks != NULL || w->accesses != NULL;
}

static inline void trace_writer_note_time(struct trace_writer *w, uint64_t time)
{
    if (time < w->header.time_first)
        w->header.time_first = time;
    if (time > w->header.time_last)
        w->header.time_last = time;
}

/* In two steps what trace_writer_record does for a record with a time and no tail: such records
 * follow each other in most cases, with no run of samples between them, and take a third as long.
 * The first returns where the body, of at most so many bytes, is to be put, or NULL:
 * trace_writer_record has to do it.  The second adds the record, once the body is there. */
static inline uint8_t *trace_writer_body(const struct trace_writer *w, uint32_t bytes_max)
{
    if (w->run || sizeof(struct hr_record_header) + bytes_max > w->capacity - w->used)
        return NULL;
    return w->buffer + w->used + sizeof(struct hr_record_header);
}

static inline void trace_writer_add_body(struct trace_writer *w, uint8_t type, uint64_t time,
                                         uint32_t bytes)
{
    trace_code_record(w->buffer + w->used, type, bytes);
    w->used += (uint32_t)sizeof(struct hr_record_header) + bytes;
    w->header.record_count++;
    trace_writer_note_time(w, time);
}
