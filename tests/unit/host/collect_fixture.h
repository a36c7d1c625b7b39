/* A small trace as a guest sends it, and where its chunks end: for tests of what collects it. */
#ifndef TESTS_UNIT_HOST_COLLECT_FIXTURE_H
#define TESTS_UNIT_HOST_COLLECT_FIXTURE_H

#include "tests/unit/test.h"

#include <string.h>

#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_writer.h"

#define STREAM_ROOM 65536
#define SAMPLES 100
#define CHUNKS 3 /* of data; META and END come with them */

static uint8_t stream[STREAM_ROOM];
static size_t stream_bytes;
static size_t chunk_ends[CHUNKS + 3]; /* offsets after the header and after each chunk */

static void append(const void *bytes, size_t count)
{
    static size_t ends;

    assert_true(stream_bytes + count <= sizeof stream);
    memcpy(stream + stream_bytes, bytes, count);
    stream_bytes += count;
    chunk_ends[ends++] = stream_bytes;
}

static void append_meta(struct trace_writer *w)
{
    const struct hr_meta_event event = {.source = HR_SOURCE_STUB};
    const struct hr_meta_sampling sampling = {.event_count = 1};

    trace_writer_begin(w, HR_CHUNK_META);
    assert_int_equal(trace_writer_record(w, HR_META_SAMPLING, TRACE_NO_TIME, &sampling,
                                         sizeof sampling, NULL, 0),
                     0);
    assert_int_equal(
        trace_writer_record(w, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event, "cycles", 6), 0);
    append(w->buffer, trace_writer_finish(w));
}

static void build_stream(void)
{
    static uint8_t meta[TRACE_CHUNK_BYTES_MIN];
    static uint8_t data[TRACE_CHUNK_BYTES_MIN];
    const struct hr_rec_exit end = {.kind = HR_EXIT_STATUS, .code = 5};
    struct hr_file_header header;
    struct trace_writer m;
    struct trace_writer d;

    trace_file_header(&header);
    append(&header, sizeof header);
    trace_writer_init(&m, meta, sizeof meta, HR_CPU_NONE, 1);
    trace_writer_init(&d, data, sizeof data, 0, 1);
    append_meta(&m);
    for (uint64_t i = 0; i < CHUNKS; i++) {
        trace_writer_begin(&d, HR_CHUNK_DATA);
        for (uint64_t j = 0; j < SAMPLES; j++) {
            struct trace_slot slot = {.time = (i * SAMPLES + j) * 1000, .ip = 0x400000 + j};

            assert_int_equal(trace_writer_sample(&d, &slot), 0);
        }
        append(d.buffer, trace_writer_finish(&d));
    }
    trace_writer_begin(&m, HR_CHUNK_END);
    assert_int_equal(trace_writer_record(&m, HR_REC_EXIT, 1000000, &end, sizeof end, NULL, 0), 0);
    append(m.buffer, trace_writer_finish(&m));
}

#endif
