/* Writes the chunks of a made-up trace to a file and keeps its index.  For the generators here. */
#ifndef TESTS_TOOLS_TRACESINK_H
#define TESTS_TOOLS_TRACESINK_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/trace/trace_index.h"
#include "lib/trace/trace_writer.h"

struct sink {
    int fd;
    uint64_t offset;
    struct trace_index index;
};

static inline void fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

static inline void sink_close(struct sink *sink, const char *path)
{
    trace_index_free(&sink->index);
    if (close(sink->fd) != 0)
        fail(path);
}

static inline void put(struct sink *sink, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    sink->offset += count;
    while (count != 0) {
        ssize_t written = write(sink->fd, at, count);

        if (written < 0 && errno != EINTR)
            fail("write");
        if (written > 0) {
            at += written;
            count -= (size_t)written;
        }
    }
}

/* Makes the file, with its header. */
static inline void sink_begin(struct sink *sink, const char *path)
{
    struct hr_file_header header;

    *sink = (struct sink){.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)};
    if (sink->fd < 0)
        fail(path);
    trace_file_header(&header);
    put(sink, &header, sizeof header);
}

static inline void put_chunk(struct sink *sink, struct trace_writer *w)
{
    struct hr_chunk_header header;
    uint32_t bytes = trace_writer_finish(w);

    memcpy(&header, w->buffer, sizeof header);
    if (trace_index_add(&sink->index, &header, sink->offset) != 0)
        fail("index");
    put(sink, w->buffer, bytes);
}

static inline void add(struct trace_writer *w, uint8_t type, uint64_t time, const void *body,
                       size_t bytes, const void *tail, size_t tail_bytes)
{
    errno = -trace_writer_record(w, type, time, body, (uint32_t)bytes, tail, (uint32_t)tail_bytes);
    if (errno != 0)
        fail("record");
}

static inline void add_text(struct trace_writer *w, const char *key, const char *value)
{
    add(w, HR_META_INFO, TRACE_NO_TIME, key, strlen(key) + 1, value, strlen(value) + 1);
}

static inline void add_event(struct trace_writer *w, const struct hr_meta_event *event,
                             const char *name)
{
    add(w, HR_META_EVENT, TRACE_NO_TIME, event, sizeof *event, name, strlen(name));
}

/* Begins the META chunk of a trace. */
static inline void meta_begin(struct trace_writer *w, uint8_t *buffer, uint32_t bytes,
                              const struct hr_meta_clock *clock,
                              const struct hr_meta_sampling *sampling)
{
    trace_writer_init(w, buffer, bytes, HR_CPU_NONE, 0);
    trace_writer_begin(w, HR_CHUNK_META);
    add(w, HR_META_CLOCK, TRACE_NO_TIME, clock, sizeof *clock, NULL, 0);
    add(w, HR_META_SAMPLING, TRACE_NO_TIME, sampling, sizeof *sampling, NULL, 0);
}

/* The guest's account of each CPU: what the chunks so far hold. */
static inline void add_streams(const struct sink *sink, struct trace_writer *w)
{
    static struct hr_rec_stream streams[65536];

    for (size_t i = 0; i < sink->index.count; i++) {
        const struct hr_index_entry *entry = &sink->index.entries[i];
        struct hr_rec_stream *stream = &streams[entry->cpu];

        if (entry->type != HR_CHUNK_DATA)
            continue;
        stream->cpu = entry->cpu;
        stream->samples += entry->sample_count;
        stream->lost += entry->lost_count;
        stream->chunks = entry->sequence + 1;
    }
    for (uint32_t cpu = 0; cpu < HR_CPU_NONE; cpu++)
        if (streams[cpu].chunks != 0)
            add(w, HR_REC_STREAM, TRACE_NO_TIME, &streams[cpu], sizeof streams[cpu], NULL, 0);
}

/* What the collector adds: HOST and INDEX chunks. */
static inline void put_collector_part(struct sink *sink, struct trace_writer *w)
{
    const struct hr_host_end end = {.wall_ns = 1000000000, .reason = HR_HOST_COMPLETE};

    trace_writer_begin(w, HR_CHUNK_HOST);
    add(w, HR_HOST_END, TRACE_NO_TIME, &end, sizeof end, NULL, 0);
    put_chunk(sink, w);
    errno = -trace_index_append(&sink->index, sink->fd, sink->offset, NULL);
    if (errno != 0)
        fail("index");
}

#endif
