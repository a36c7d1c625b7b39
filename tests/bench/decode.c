/* Measures trace_decoder_samples (and the encoder): prints samples per second on one core.
 *
 * Usage: decode [EVENTS [SAMPLES]].  The stream resembles a program at a steady cadence: small
 * jitter of time, jumps of ip within a few functions, counters that advance with noise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_writer.h"

#define CHUNK_BYTES 65536u
#define ROUNDS 20

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
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

static void advance(struct trace_slot *s, uint32_t event_count)
{
    s->time += 1000 + noise() % 4;
    s->ip = 0x401000 + (noise() % 4) * 0x1800 + noise() % 256;
    s->cost_ticks = (uint16_t)(40 + noise() % 3);
    s->tid = 1;
    for (uint32_t i = 0; i < event_count; i++)
        s->counters[i] += 900 / (i + 1) + noise() % (200 / (i + 1));
}

/* Encodes `samples` samples as chunks one after another; returns their bytes. */
static size_t encode(uint8_t *out, uint32_t event_count, uint32_t samples)
{
    static uint8_t buffer[CHUNK_BYTES];
    struct trace_slot slot = {.time = 1000000};
    struct trace_writer w;
    size_t used = 0;

    trace_writer_init(&w, buffer, sizeof buffer, 0, event_count);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < samples; i++) {
        advance(&slot, event_count);
        while (trace_writer_sample(&w, &slot) != 0) {
            uint32_t bytes = trace_writer_finish(&w);

            memcpy(out + used, buffer, bytes);
            used += bytes;
            trace_writer_begin(&w, HR_CHUNK_DATA);
        }
    }
    trace_writer_finish(&w);
    memcpy(out + used, buffer, sizeof(struct hr_chunk_header) + w.header.payload_bytes);
    return used + sizeof(struct hr_chunk_header) + w.header.payload_bytes;
}

static uint64_t decode_chunk(const struct hr_chunk_header *header, const uint8_t *payload,
                             uint32_t event_count)
{
    static struct trace_slot slots[TRACE_RUN_SAMPLES_MAX];
    struct trace_decoder d;
    struct trace_cursor c;
    struct trace_record r;
    uint64_t samples = 0;
    uint32_t count;

    trace_decoder_init(&d, event_count);
    trace_cursor_init(&c, payload, header->payload_bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        if (r.type == HR_REC_BASE) {
            trace_decoder_base(&d, &r);
        } else if (trace_decoder_samples(&d, &r, slots, TRACE_RUN_SAMPLES_MAX, &count) ==
                   TRACE_OK) {
            samples += count;
        }
    }
    return samples;
}

static uint64_t decode(const uint8_t *bytes, size_t count, uint32_t event_count)
{
    struct hr_chunk_header header;
    uint64_t samples = 0;
    size_t at = 0;

    while (trace_check_header(bytes + at, count - at, &header) == TRACE_OK) {
        const uint8_t *payload = bytes + at + sizeof header;

        if (trace_check_payload(&header, payload) != TRACE_OK)
            return 0;
        samples += decode_chunk(&header, payload, event_count);
        at += sizeof header + header.payload_bytes;
    }
    return samples;
}

int main(int argc, char **argv)
{
    uint32_t event_count = argc > 1 ? (uint32_t)atoi(argv[1]) : 5;
    uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000000;
    uint8_t *trace = malloc((size_t)samples * 160 + CHUNK_BYTES);
    uint64_t start, encoded, decoded = 0;
    size_t bytes;

    if (!trace || event_count > HR_EVENTS_MAX || samples == 0)
        return 2;
    start = now_ns();
    bytes = encode(trace, event_count, samples);
    encoded = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        decoded += decode(trace, bytes, event_count);
    if (decoded != (uint64_t)samples * ROUNDS) {
        fprintf(stderr, "decode: %llu samples came back\n", (unsigned long long)decoded);
        return 1;
    }
    printf("events %u, %.2f bytes a sample, encode %.1f M samples/s, decode %.1f M samples/s\n",
           event_count, (double)bytes / samples, samples * 1e3 / (double)(encoded - start),
           (double)decoded * 1e3 / (double)(now_ns() - encoded));
    free(trace);
    return 0;
}
