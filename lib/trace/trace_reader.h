/* Reads a trace from memory, chunk by chunk.  Freestanding; no allocation; every input is hostile.
 *
 * The functions trust no length, count or checksum before they have verified it, and read nothing
 * outside the given bytes.
 */
#pragma once

#include "include/hr_format.h"
#include "lib/trace/trace_slot.h"

enum trace_status {
    TRACE_OK = 0,
    TRACE_END, /* no more records, or no more samples */
    TRACE_SHORT, /* the bytes end too early: read more, or the trace is truncated */
    TRACE_BAD_MAGIC,
    TRACE_BAD_VERSION,
    TRACE_BAD_CHECKSUM,
    TRACE_BAD_LENGTH, /* a length or count contradicts another */
    TRACE_BAD_RECORD, /* a record's body does not decode */
    TRACE_BAD_HEADER, /* a chunk's header contradicts its records */
};

/* Returns a short phrase for people: "truncated", "checksum does not match" ... */
const char *trace_status_text(enum trace_status status);

/* Verifies the file header in `bytes`; stores the offset of the first chunk. */
enum trace_status trace_check_file(const void *bytes, size_t available, uint32_t *first_chunk);

/* Verifies a chunk header (magic, checksum, payload length); copies it to *header. */
enum trace_status trace_check_header(const void *bytes, size_t available,
                                     struct hr_chunk_header *header);

/* Verifies a payload of header->payload_bytes bytes against its checksum. */
enum trace_status trace_check_payload(const struct hr_chunk_header *header, const void *payload);

/* One record of a payload. */
struct trace_record {
    uint8_t type;
    uint16_t bytes; /* of body */
    const uint8_t *body; /* unaligned; points into the payload */
    uint32_t offset; /* of the record header in the payload */
};

struct trace_cursor {
    const uint8_t *payload;
    uint32_t bytes;
    uint32_t offset; /* of the next record; after an error, of the offending one */
};

void trace_cursor_init(struct trace_cursor *c, const void *payload, uint32_t bytes);

/* Returns TRACE_OK, TRACE_END, or TRACE_BAD_LENGTH if a record reaches past the payload. */
enum trace_status trace_next(struct trace_cursor *c, struct trace_record *record);

/* Copies a record's fixed body.  Returns false if the body is shorter than `bytes`.  A longer body
 * has a tail or comes from a newer minor version; *tail and *tail_bytes (each may be NULL) get the
 * rest.
 */
int trace_body(const struct trace_record *record, void *out, size_t bytes, const uint8_t **tail,
               size_t *tail_bytes);

/* Decodes the differences of one chunk's samples. */
struct trace_decoder {
    uint32_t event_count;
    int has_base;
    struct trace_slot previous;
    uint64_t interval;
    uint64_t intervals; /* those of the last run, or-ed: tells whether times can be out of order */
    uint64_t increments[HR_EVENTS_MAX];
};

/* Starts a DATA chunk.  event_count is that of HR_META_SAMPLING, at most HR_EVENTS_MAX. */
void trace_decoder_init(struct trace_decoder *d, uint32_t event_count);

/* Takes HR_REC_BASE.  Returns TRACE_BAD_RECORD if it does not fit event_count. */
enum trace_status trace_decoder_base(struct trace_decoder *d, const struct trace_record *record);

/* Decodes the samples of an HR_REC_SAMPLES or HR_REC_SAMPLES_WIDE record into out[0..], which has
 * `room` slots (TRACE_RUN_SAMPLES_MAX always suffices), and stores their number in *count.  If any
 * part of the record does not decode, the samples do not count.
 */
#define TRACE_RUN_SAMPLES_MAX 1024
enum trace_status trace_decoder_samples(struct trace_decoder *d, const struct trace_record *record,
                                        struct trace_slot *out, uint32_t room, uint32_t *count);
