/* Measures trace_probes_decoder_hits (and the encoder): prints hits of probes per second on one
 * core.
 *
 * Usage: decode_hits [EVENTS [ARGUMENTS [HITS]]].  The stream resembles short functions that call
 * each other: entries and returns in turns, with small numbers as arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/trace/trace_writer.h"

#define CHUNK_BYTES 65536u
#define ROUNDS 20

static uint32_t event_count = 5, argument_count = 1, hits = 1000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t noise(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void advance(struct trace_slot *s, uint64_t *arguments, uint32_t i)
{
    s->time += 400 + noise() % 60;
    s->ip = 0x7ffff7000000 - 8 * (noise() % 64);
    trace_slot_set_point(s, noise() % 64, i % 2 == 0 ? HR_PROBE_ENTERED : HR_PROBE_RETURNED);
    for (uint32_t e = 0; e < event_count; e++)
        s->counters[e] += 300 + noise() % 60;
    for (uint32_t e = 0; e < argument_count; e++)
        arguments[e] = noise() % 1000;
}

static size_t send(struct trace_writer *w, uint8_t *out)
{
    uint32_t bytes = trace_writer_finish(w);

    memcpy(out, w->buffer, bytes);
    return bytes;
}

static size_t encode(uint8_t *out)
{
    static uint8_t buffer[CHUNK_BYTES];
    union {
        struct trace_slot slot;
        uint8_t bytes[192];
    } room = {.slot = {.time = 1000000, .tid = 1, .kind = HR_REC_PROBES}};
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
    struct trace_writer w;
    size_t used = 0;

    trace_writer_init(&w, buffer, sizeof buffer, 0, event_count);
    trace_writer_probes(&w, argument_count);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < hits; i++) {
        advance(&room.slot, arguments, i);
        memcpy(room.bytes + offsetof(struct trace_slot, counters) + 8 * event_count, arguments,
               8 * argument_count);
        while (trace_writer_probe(&w, &room.slot) != 0) {
            used += send(&w, out + used);
            trace_writer_begin(&w, HR_CHUNK_DATA);
        }
    }
    return used + send(&w, out + used);
}

static uint64_t decode_chunk(const struct hr_chunk_header *header, const uint8_t *payload)
{
    static struct trace_hit out[TRACE_RUN_SAMPLES_MAX];
    struct trace_decoder d;
    struct trace_probes_decoder p;
    struct trace_cursor c;
    struct trace_record r;
    uint64_t sum = 0;
    uint32_t count;

    trace_decoder_init(&d, event_count);
    trace_cursor_init(&c, payload, header->payload_bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        if (r.type == HR_REC_BASE) {
            trace_decoder_base(&d, &r);
            trace_probes_decoder_begin(&p, argument_count, &d);
        } else if (trace_probes_decoder_hits(&p, &r, out, TRACE_RUN_SAMPLES_MAX, &count) ==
                   TRACE_OK) {
            sum += count;
        }
    }
    return sum;
}

static uint64_t decode(const uint8_t *bytes, size_t count)
{
    struct hr_chunk_header header;
    uint64_t sum = 0;
    size_t at = 0;

    while (trace_check_header(bytes + at, count - at, &header) == TRACE_OK) {
        if (trace_check_payload(&header, bytes + at + sizeof header) != TRACE_OK)
            return 0;
        sum += decode_chunk(&header, bytes + at + sizeof header);
        at += sizeof header + header.payload_bytes;
    }
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t start, encoded, decoded = 0;
    uint8_t *trace;
    size_t bytes;

    event_count = argc > 1 ? (uint32_t)atoi(argv[1]) : event_count;
    argument_count = argc > 2 ? (uint32_t)atoi(argv[2]) : argument_count;
    hits = argc > 3 ? (uint32_t)atoi(argv[3]) : hits;
    trace = malloc((size_t)hits * 200 + CHUNK_BYTES);
    if (!trace || event_count > HR_EVENTS_MAX || argument_count > HR_PROBE_ARGUMENTS_MAX || !hits)
        return 2;
    start = now_ns();
    bytes = encode(trace);
    encoded = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        decoded += decode(trace, bytes);
    if (decoded != (uint64_t)hits * ROUNDS) {
        fprintf(stderr, "decode_hits: %llu hits came back\n", (unsigned long long)decoded);
        return 1;
    }
    printf(
        "events %u, arguments %u, %.2f bytes a hit, encode %.1f M hits/s, decode %.1f M hits/s\n",
        event_count, argument_count, (double)bytes / hits, hits * 1e3 / (double)(encoded - start),
        (double)decoded * 1e3 / (double)(now_ns() - encoded));
    free(trace);
    return 0;
}
