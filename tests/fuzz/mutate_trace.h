/* Makes traces that lie and whose checksums are right: chunks and records are dropped, doubled,
 * exchanged, spliced and edited, headers say what is not so.  What a checksum would catch is the
 * easy part.
 *
 * Most of the time everything but the lie is put right, counts and sequences too, so that nothing
 * else gives it away.
 */
#ifndef TESTS_FUZZ_MUTATE_TRACE_H
#define TESTS_FUZZ_MUTATE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "include/hr_format.h"
#include "lib/crc32c.h"

#define MUTATE_CHUNKS_MAX 512u

struct mutate_chunk {
    struct hr_chunk_header header;
    uint8_t *payload; /* HR_CHUNK_PAYLOAD_MAX bytes of room; owned */
};

struct mutate {
    uint64_t state; /* of the random numbers */
    struct mutate_chunk chunks[MUTATE_CHUNKS_MAX];
    uint32_t count;
    bool mends; /* counts and sequences are made right */
    uint32_t liar; /* the chunk whose header is left alone: UINT32_MAX, none */
};

static uint32_t mutate_below(struct mutate *m, uint32_t limit)
{
    m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
    return limit != 0 ? (uint32_t)((m->state >> 33) * limit >> 31) : 0;
}

static uint64_t mutate_value(struct mutate *m)
{
    static const uint64_t values[] = {
        0,         1,          2,          3,         5,          6,
        12,        13,         14,         127,       128,        255,
        256,       4095,       65535,      65536,     1000000,    INT32_MAX,
        1u << 31,  UINT32_MAX, 1000000000, INT64_MAX, 1ull << 63, UINT64_MAX - 1,
        UINT64_MAX};

    return mutate_below(m, 4) == 0 ? m->state : values[mutate_below(m, sizeof values / 8)];
}

/* The offsets of the records of a payload; how many. */
static uint32_t mutate_records(const struct mutate_chunk *c, uint32_t *at, uint32_t max)
{
    uint32_t count = 0;
    uint16_t body;

    for (uint32_t i = 0; i + 4 <= c->header.payload_bytes && count < max; i += 4u + body) {
        memcpy(&body, c->payload + i + 2, sizeof body);
        if (body > c->header.payload_bytes - i - 4)
            break;
        at[count++] = i;
    }
    return count;
}

static uint32_t mutate_record_bytes(const struct mutate_chunk *c, uint32_t at)
{
    uint16_t body;

    memcpy(&body, c->payload + at + 2, sizeof body);
    return 4u + body;
}

/* Makes room for, or takes away, bytes at a place of a payload. */
static bool mutate_resize(struct mutate_chunk *c, uint32_t at, uint32_t old, uint32_t new)
{
    uint32_t bytes = c->header.payload_bytes;

    if (bytes - old + new > HR_CHUNK_PAYLOAD_MAX)
        return false;
    memmove(c->payload + at + new, c->payload + at + old, bytes - at - old);
    c->header.payload_bytes = bytes - old + new;
    return true;
}

static void mutate_edit(struct mutate *m, struct mutate_chunk *c, uint32_t at)
{
    uint32_t body = mutate_record_bytes(c, at) - 4, size = 1u << mutate_below(m, 4);
    uint64_t value = mutate_value(m);
    uint32_t place;

    if (body < size) {
        c->payload[at] = (uint8_t)value;
        return;
    }
    place = mutate_below(m, body / size < 8 ? body / size : 8) * size;
    if (mutate_below(m, 4) == 0)
        place = mutate_below(m, body - size + 1);
    memcpy(c->payload + at + 4 + place, &value, size);
}

/* Copies a record of any chunk to a place of another. */
static void mutate_splice(struct mutate *m, struct mutate_chunk *to, uint32_t at)
{
    const struct mutate_chunk *from = &m->chunks[mutate_below(m, m->count)];
    uint32_t records[4096], count = mutate_records(from, records, 4096), bytes;
    uint8_t copy[4 + UINT16_MAX];

    if (count == 0)
        return;
    count = records[mutate_below(m, count)];
    bytes = mutate_record_bytes(from, count);
    memcpy(copy, from->payload + count, bytes);
    if (mutate_resize(to, at, 0, bytes))
        memcpy(to->payload + at, copy, bytes);
}

static void mutate_record(struct mutate *m, struct mutate_chunk *c)
{
    static const uint8_t types[] = {1,  2,  3,  4,  5,  6,  7,  32, 33, 34, 35,
                                    36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 64,
                                    65, 66, 67, 68, 69, 70, 71, 96, 97, 200};
    uint32_t records[4096], count = mutate_records(c, records, 4096), at, bytes;
    uint16_t body;

    if (count == 0)
        return;
    at = records[mutate_below(m, mutate_below(m, 3) == 0 ? 1 : count)];
    bytes = mutate_record_bytes(c, at);
    switch (mutate_below(m, 8)) {
    case 0:
        mutate_resize(c, at, bytes, 0);
        break;
    case 1:
        if (mutate_resize(c, at, 0, bytes))
            memcpy(c->payload + at, c->payload + at + bytes, bytes);
        break;
    case 2:
        mutate_splice(m, c, at);
        break;
    case 3:
        c->payload[at] = types[mutate_below(m, sizeof types)];
        break;
    case 4: /* longer or shorter, with a length that says so */
        body = (uint16_t)mutate_below(m, mutate_below(m, 2) == 0 ? bytes : bytes + 64);
        if (mutate_resize(c, at + 4, bytes - 4, body))
            memcpy(c->payload + at + 2, &body, sizeof body);
        break;
    default:
        mutate_edit(m, c, at);
    }
}

static void mutate_header(struct mutate *m, uint32_t n)
{
    struct hr_chunk_header *h = &m->chunks[n].header;
    const struct hr_chunk_header *other = &m->chunks[mutate_below(m, m->count)].header;

    m->liar = n;
    switch (mutate_below(m, 8)) {
    case 0:
        h->time_first = mutate_below(m, 2) == 0 ? other->time_first : mutate_value(m);
        break;
    case 1:
        h->time_last = mutate_below(m, 2) == 0 ? other->time_last : mutate_value(m);
        break;
    case 2:
        h->record_count += mutate_below(m, 3) - 1;
        break;
    case 3:
        h->sample_count = (uint32_t)mutate_value(m);
        break;
    case 4:
        h->lost_count = mutate_value(m);
        break;
    case 5:
        h->cpu = (uint16_t)mutate_value(m);
        break;
    case 6:
        h->type = (uint16_t)mutate_below(m, 8);
        break;
    default:
        h->sequence = (uint32_t)mutate_value(m);
    }
}

static void mutate_chunks(struct mutate *m, uint32_t n)
{
    uint32_t other = mutate_below(m, m->count);
    struct mutate_chunk kept = m->chunks[n];

    switch (mutate_below(m, 3)) {
    case 0: /* exchanged */
        m->chunks[n] = m->chunks[other];
        m->chunks[other] = kept;
        break;
    case 1: /* gone */
        free(kept.payload);
        memmove(m->chunks + n, m->chunks + n + 1, (--m->count - n) * sizeof kept);
        break;
    default: /* once more */
        if (m->count == MUTATE_CHUNKS_MAX || (kept.payload = malloc(HR_CHUNK_PAYLOAD_MAX)) == NULL)
            break;
        memcpy(kept.payload, m->chunks[n].payload, kept.header.payload_bytes);
        memmove(m->chunks + other + 1, m->chunks + other, (m->count++ - other) * sizeof kept);
        m->chunks[other] = kept;
    }
}

/* Makes a header say what the records do, but for times. */
static void mutate_mend(struct mutate_chunk *c)
{
    uint32_t records[4096], count = mutate_records(c, records, 4096);
    struct hr_rec_samples samples;
    struct hr_rec_lost lost;

    c->header.record_count = count;
    c->header.sample_count = 0;
    c->header.lost_count = 0;
    for (uint32_t i = 0; i < count && c->header.type == HR_CHUNK_DATA; i++) {
        const uint8_t *at = c->payload + records[i];
        uint32_t bytes = mutate_record_bytes(c, records[i]) - 4;

        if ((at[0] == HR_REC_SAMPLES || at[0] == HR_REC_SAMPLES_WIDE) && bytes >= sizeof samples) {
            memcpy(&samples, at + 4, sizeof samples);
            c->header.sample_count += samples.count;
        } else if (at[0] == HR_REC_LOST && bytes >= sizeof lost) {
            memcpy(&lost, at + 4, sizeof lost);
            c->header.lost_count += lost.count;
        }
    }
}

static void mutate_mend_all(struct mutate *m)
{
    static uint32_t next[65536];

    memset(next, 0, sizeof next);
    for (uint32_t i = 0; i < m->count; i++) {
        struct hr_chunk_header *h = &m->chunks[i].header;

        if (i == m->liar)
            next[h->cpu] = h->sequence;
        else
            mutate_mend(&m->chunks[i]);
        if (h->type <= HR_CHUNK_END)
            h->sequence = next[h->cpu]++;
    }
}

static bool mutate_parse(struct mutate *m, const uint8_t *bytes, size_t count)
{
    size_t at = sizeof(struct hr_file_header);

    while (count >= at + sizeof m->chunks[0].header && m->count < MUTATE_CHUNKS_MAX) {
        struct mutate_chunk *c = &m->chunks[m->count];

        memcpy(&c->header, bytes + at, sizeof c->header);
        if (c->header.magic != HR_CHUNK_MAGIC || c->header.payload_bytes > HR_CHUNK_PAYLOAD_MAX ||
            c->header.payload_bytes > count - at - sizeof c->header)
            break;
        at += sizeof c->header;
        if (c->header.type != HR_CHUNK_INDEX) { /* readers do without */
            c->payload = malloc(HR_CHUNK_PAYLOAD_MAX);
            if (c->payload == NULL)
                return false;
            memcpy(c->payload, bytes + at, c->header.payload_bytes);
            m->count++;
        }
        at += c->header.payload_bytes;
    }
    return m->count != 0;
}

static size_t mutate_write(struct mutate *m, uint8_t *bytes, size_t room)
{
    size_t at = sizeof(struct hr_file_header);

    for (uint32_t i = 0; i < m->count; i++) {
        struct mutate_chunk *c = &m->chunks[i];

        if (room - at < sizeof c->header + c->header.payload_bytes)
            break;
        c->header.payload_crc = crc32c(0, c->payload, c->header.payload_bytes);
        c->header.header_crc = crc32c(0, &c->header, offsetof(struct hr_chunk_header, header_crc));
        memcpy(bytes + at, &c->header, sizeof c->header);
        memcpy(bytes + at + sizeof c->header, c->payload, c->header.payload_bytes);
        at += sizeof c->header + c->header.payload_bytes;
    }
    return at;
}

/* Changes the trace of `count` bytes in place, which may grow to `room`; how long it is then.  What
 * is no trace stays as it is.
 */
static inline size_t mutate_trace(uint8_t *bytes, size_t count, size_t room, uint64_t seed)
{
    struct mutate *m = calloc(1, sizeof *m);

    if (m == NULL)
        return count;
    m->state = seed * 0x9e3779b97f4a7c15ull + 1;
    m->liar = UINT32_MAX;
    m->mends = mutate_below(m, 4) != 0;
    if (count <= room && mutate_parse(m, bytes, count)) {
        for (uint32_t n = 1 + mutate_below(m, 4); n > 0 && m->count != 0; n--) {
            uint32_t chunk = mutate_below(m, m->count), kind = mutate_below(m, 8);

            if (kind == 0)
                mutate_chunks(m, chunk);
            else if (kind <= 2)
                mutate_header(m, chunk);
            else
                mutate_record(m, &m->chunks[chunk]);
        }
        if (m->mends)
            mutate_mend_all(m);
        count = mutate_write(m, bytes, room);
    }
    for (uint32_t i = 0; i < m->count; i++)
        free(m->chunks[i].payload);
    free(m);
    return count;
}

#endif
