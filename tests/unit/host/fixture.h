/* Small traces for the readers' tests, built in memory and written to a temporary file. */
#ifndef TESTS_UNIT_HOST_FIXTURE_H
#define TESTS_UNIT_HOST_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/trace/trace_index.h"
#include "lib/trace/trace_writer.h"
#include "tests/unit/test.h"

#define FIXTURE_BYTES (1u << 20)
#define FIXTURE_CHUNK_BYTES 4096u
#define FIXTURE_START 1000u /* ticks */
#define FIXTURE_INTERVAL 100u /* ticks; the clock has 10^9 a second */
#define FIXTURE_CHUNKS_MAX 64u

struct fixture {
    uint8_t *bytes; /* FIXTURE_BYTES */
    size_t count;
    uint8_t chunk[FIXTURE_CHUNK_BYTES];
    struct trace_writer meta; /* META, END and HOST chunks */
    struct trace_writer data; /* CPU 0 */
    uint8_t data_chunk[FIXTURE_CHUNK_BYTES];
    struct trace_slot slot;
    size_t offsets[FIXTURE_CHUNKS_MAX]; /* of chunks, in file order */
    size_t chunk_count;
    char path[64];
};

static inline void fixture_chunk(struct fixture *f, struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);

    assert_true(f->count + bytes <= FIXTURE_BYTES);
    assert_true(f->chunk_count < FIXTURE_CHUNKS_MAX);
    f->offsets[f->chunk_count++] = f->count;
    memcpy(f->bytes + f->count, w->buffer, bytes);
    f->count += bytes;
}

static inline void fixture_add(struct trace_writer *w, uint8_t type, const void *body, size_t bytes,
                               const char *tail)
{
    uint64_t time = TRACE_NO_TIME;

    if ((type >= HR_REC_SYSCALL && type <= HR_REC_PERIOD) || type == HR_REC_EXIT)
        memcpy(&time, body, sizeof time);
    assert_int_equal(trace_writer_record(w, type, time, body, (uint32_t)bytes, tail,
                                         tail != NULL ? (uint32_t)strlen(tail) : 0),
                     0);
}

/* As fixture_init, with the sampling given, its event count but for 2. */
static inline void fixture_init_sampling(struct fixture *f, struct hr_meta_sampling sampling,
                                         struct hr_meta_calibration calibration)
{
    const struct hr_meta_clock clock = {
        1000000000, FIXTURE_START, 0,
        sampling.flags & HR_SAMPLING_SHARED ? HR_CLOCK_VIRTUAL : HR_CLOCK_CPUID_15H, 0};
    const struct hr_meta_event first = {
        .index = 0, .source = HR_SOURCE_ICOUNT, .width_bits = 64, .flags = HR_EVENT_USER};
    const struct hr_meta_event second = {
        .index = 1, .source = HR_SOURCE_STUB, .width_bits = 64, .flags = HR_EVENT_USER};
    struct hr_file_header header;

    sampling.event_count = 2;
    memset(f, 0, sizeof *f);
    f->bytes = malloc(FIXTURE_BYTES);
    assert_non_null(f->bytes);
    trace_file_header(&header);
    memcpy(f->bytes, &header, sizeof header);
    f->count = sizeof header;
    f->slot = (struct trace_slot){.time = FIXTURE_START, .ip = 0x401000, .tid = 1};
    trace_writer_init(&f->meta, f->chunk, sizeof f->chunk, HR_CPU_NONE, 0);
    trace_writer_init(&f->data, f->data_chunk, sizeof f->data_chunk, 0, 2);
    trace_writer_begin(&f->meta, HR_CHUNK_META);
    fixture_add(&f->meta, HR_META_CLOCK, &clock, sizeof clock, NULL);
    fixture_add(&f->meta, HR_META_SAMPLING, &sampling, sizeof sampling, NULL);
    fixture_add(&f->meta, HR_META_EVENT, &first, sizeof first, "instructions:u");
    fixture_add(&f->meta, HR_META_EVENT, &second, sizeof second, "cycles:u");
    fixture_add(&f->meta, HR_META_CALIBRATION, &calibration, sizeof calibration, NULL);
}

/* File header and META chunk of a trace with the events instructions:u and cycles:u; the chunk
 * stays open for fixture_add(&f->meta, ...) until fixture_begin_data.
 */
static inline void fixture_init(struct fixture *f)
{
    fixture_init_sampling(
        f,
        (struct hr_meta_sampling){.interval_ticks = FIXTURE_INTERVAL,
                                  .mode = HR_MODE_TIMER,
                                  .flags = HR_SAMPLING_EMULATED | HR_SAMPLING_SHARED,
                                  .cpu_count = 1},
        (struct hr_meta_calibration){40, 7, 0, 100, 0});
}

static inline void fixture_begin_data(struct fixture *f)
{
    fixture_chunk(f, &f->meta);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
}

/* One more sample, `ticks` after the last; instructions rise by that, cycles by twice that. */
static inline void fixture_sample(struct fixture *f, uint64_t ticks, uint64_t ip)
{
    f->slot.time += ticks;
    f->slot.ip = ip;
    f->slot.cost_ticks = 7;
    f->slot.counters[0] += ticks;
    f->slot.counters[1] += 2 * ticks;
    if (trace_writer_sample(&f->data, &f->slot) == 0)
        return;
    fixture_chunk(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    assert_int_equal(trace_writer_sample(&f->data, &f->slot), 0);
}

static inline void fixture_samples(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fixture_sample(f, FIXTURE_INTERVAL, 0x401000 + i % 7 * 16);
}

static inline void fixture_split(struct fixture *f)
{
    fixture_chunk(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
}

/* The last DATA chunk, and the END chunk, which stays open for fixture_add(&f->meta, ...) until
 * fixture_finish.
 */
static inline void fixture_begin_end(struct fixture *f)
{
    const struct hr_rec_exit last = {
        .time = f->slot.time + 50, .user_ticks = 1, .kind = HR_EXIT_STATUS, .code = 3};
    struct hr_rec_stream stream;

    fixture_chunk(f, &f->data);
    stream = (struct hr_rec_stream){
        .samples = f->data.samples, .lost = f->data.lost, .chunks = f->data.sequence, .cpu = 0};
    trace_writer_begin(&f->meta, HR_CHUNK_END);
    fixture_add(&f->meta, HR_REC_EXIT, &last, sizeof last, NULL);
    for (uint16_t i = 0; i < 2; i++) {
        const struct hr_rec_total total = {.value = f->slot.counters[i] + 50, .index = i};

        fixture_add(&f->meta, HR_REC_TOTAL, &total, sizeof total, NULL);
    }
    fixture_add(&f->meta, HR_REC_STREAM, &stream, sizeof stream, NULL);
}

/* Seals the END chunk and adds the HOST chunk. */
static inline void fixture_finish(struct fixture *f)
{
    const struct hr_host_end host = {.wall_ns = 5, .reason = HR_HOST_COMPLETE};

    fixture_chunk(f, &f->meta);
    trace_writer_begin(&f->meta, HR_CHUNK_HOST);
    fixture_add(&f->meta, HR_HOST_END, &host, sizeof host, NULL);
    fixture_chunk(f, &f->meta);
}

static inline void fixture_end(struct fixture *f)
{
    fixture_begin_end(f);
    fixture_finish(f);
}

/* Writes the bytes to a file of its own; the path is good until fixture_free. */
static inline const char *fixture_file(struct fixture *f)
{
    int fd;

    if (f->path[0] != 0)
        unlink(f->path);
    strcpy(f->path, "/tmp/microtome-test-XXXXXX");
    fd = mkstemp(f->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f->bytes, f->count), (ssize_t)f->count);
    close(fd);
    return f->path;
}

static inline void fixture_free(struct fixture *f)
{
    if (f->path[0] != 0)
        unlink(f->path);
    free(f->bytes);
}

#endif
