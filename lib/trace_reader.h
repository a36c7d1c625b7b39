/* Reads a trace from memory, chunk by chunk.  Freestanding; no allocation; every input is hostile.
 *
 * Nothing here trusts a length, a count or a checksum that it has not verified, and nothing reads
 * outside the bytes given.
 */
#ifndef LIB_TRACE_READER_H
#define LIB_TRACE_READER_H

#include "include/hr_format.h"
#include "lib/trace_slot.h"

enum trace_status {
    TRACE_OK = 0,
    TRACE_END, /* no more records, or no more samples */
    TRACE_SHORT, /* the bytes end before the thing does: read more, or truncated */
    TRACE_BAD_MAGIC,
    TRACE_BAD_VERSION,
    TRACE_BAD_CHECKSUM,
    TRACE_BAD_LENGTH, /* a length or count contradicts another */
    TRACE_BAD_RECORD, /* a record's body does not decode */
    TRACE_BAD_HEADER, /* a chunk's header contradicts its records */
};

/* A short phrase for people: "truncated", "checksum does not match" ... */
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

/* TRACE_OK, TRACE_END, or TRACE_BAD_LENGTH when a record reaches past the payload. */
enum trace_status trace_next(struct trace_cursor *c, struct trace_record *record);

/* Copies a record's fixed body; false when the body is shorter than `bytes`.  A longer body is
 * a newer minor version's or has a tail; *tail and *tail_bytes (either may be NULL) get the rest.
 */
int trace_body(const struct trace_record *record, void *out, size_t bytes, const uint8_t **tail,
               size_t *tail_bytes);

/* Difference decoding of one chunk's samples. */
struct trace_decoder {
    uint32_t event_count;
    int has_base;
    struct trace_slot previous;
    uint64_t interval;
    uint64_t intervals; /* those of the last run, or-ed: whether its times can be out of order */
    uint64_t increments[HR_EVENTS_MAX];
};

/* Starts a DATA chunk.  event_count is that of HR_META_SAMPLING, at most HR_EVENTS_MAX. */
void trace_decoder_init(struct trace_decoder *d, uint32_t event_count);

/* Takes HR_REC_BASE.  TRACE_BAD_RECORD when it does not fit event_count. */
enum trace_status trace_decoder_base(struct trace_decoder *d, const struct trace_record *record);

/* Decodes the samples of an HR_REC_SAMPLES or HR_REC_SAMPLES_WIDE record into out[0..], which has
 * room for `room` slots (TRACE_RUN_SAMPLES_MAX always suffices); stores the number in *count.
 * The whole record must decode exactly or nothing counts.
 */
#define TRACE_RUN_SAMPLES_MAX 1024
enum trace_status trace_decoder_samples(struct trace_decoder *d, const struct trace_record *record,
                                        struct trace_slot *out, uint32_t room, uint32_t *count);

#endif
