/* A CPU's part of the trace: its ring, and the chunk that is being built of it.  Context: service.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/trace/trace_loss.h"
#include "guest/trace/trace_meta.h"
#include "include/hr_format.h"
#include "lib/trace/trace_writer.h"

#define TRACE_CHUNK_BYTES 65536u

struct trace_stream {
    struct trace_writer writer; /* of `buffer` */
    uint8_t buffer[TRACE_CHUNK_BYTES] __attribute__((aligned(64)));
    struct ring *ring;
    struct trace_loss loss; /* for want of room: not written yet */
    uint64_t skipped; /* of the CPU's share.skipped, how many are written */
    uint64_t skipped_last; /* the last of them */
    uint64_t counters[HR_EVENTS_MAX]; /* of the last sample that has them: --counters-every */
    bool records_only; /* the open chunk takes no samples: there was no room for them */
};

/* What was left out so far for want of room in the transport, by all CPUs. */
extern struct trace_dropped trace_stream_dropped;

/* Empties the ring into chunks; sends those that are full, and with `flush` the last one too.
 * Returns true if there was anything in the ring. */
bool trace_stream_drain(struct trace_stream *s, bool flush);

/* Sends the rest, and losses that no later slot could announce. */
void trace_stream_end(struct trace_stream *s);

/* Returns whether there is room for another chunk, with samples or without; the open ones have
 * theirs in transport_end_bytes. */
bool trace_stream_room(const struct trace_writer *w, bool samples);

/* Completes the open chunk, if there is one, and sends it. */
void trace_stream_send(struct trace_writer *w);
