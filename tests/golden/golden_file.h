/* A golden trace while it is built, and the parts that all of them share.  Aborts where a part does
 * not fit: the traces are constants.
 */
#ifndef TESTS_GOLDEN_GOLDEN_FILE_H
#define TESTS_GOLDEN_GOLDEN_FILE_H

#include "lib/trace/trace_writer.h"
#include "tests/golden/golden.h"

#define GOLDEN_START_TIME 5000000ull

struct golden_file {
    uint8_t *out;
    size_t bytes;
    uint32_t event_count;
    enum hr_source source; /* of the last event; the first is exact, those between are stubs */
    uint8_t buffer[16384];
    struct trace_writer meta; /* META and END chunks */
    struct trace_writer data; /* DATA chunks of CPU 1 */
    struct trace_writer other; /* HOST and INDEX chunks */
    uint8_t data_buffer[TRACE_CHUNK_BYTES_MIN];
    struct hr_index_entry index[16];
    uint32_t chunks;
    struct hr_meta_stacks stacks; /* kind 0: samples have none */
    void *stack_memory; /* of the writer of DATA chunks, and its larger buffer */
    void *stack_buffer;
};

/* With its header, at `out`, which has GOLDEN_BYTES_MAX bytes. */
struct golden_file *golden_file_new(uint8_t *out, uint32_t event_count);

/* Samples have call stacks; before the META chunk. */
void golden_file_stacks(struct golden_file *f, enum hr_stack_kind kind, uint32_t limit);

/* Adds a record to the writer's chunk. */
void golden_file_put(struct trace_writer *w, uint8_t type, uint64_t time, const void *body,
                     size_t body_bytes, const char *tail);

/* Seals the writer's chunk and appends it to the trace. */
void golden_file_seal(struct golden_file *f, struct trace_writer *w);

/* The META chunk. */
void golden_file_meta(struct golden_file *f, enum hr_mode mode);

/* The END chunk, or its records alone: then more of them may follow before it is sealed. */
void golden_file_end(struct golden_file *f);
void golden_file_end_records(struct golden_file *f);

/* The HOST and INDEX chunks; frees the file and returns the trace's length. */
size_t golden_file_close(struct golden_file *f);

#endif
