/* Codes accesses: see lib/trace/trace_accesses.h. */
#include "lib/trace/trace_accesses.h"

#include <string.h>

#include "lib/trace/varint.h"

#define HAS_ADDRESS 1u

static uint8_t *put_difference(uint8_t *to, uint64_t *before, uint64_t value)
{
    uint8_t *end = varint_put(to, trace_code_zigzag(value - *before));

    *before = value;
    return end;
}

uint8_t *trace_access_put(struct trace_access_state *state, uint8_t *to,
                          const struct hr_access *access, bool registers)
{
    to = varint_put(to, (uint64_t)access->events << 1 | (access->address ? HAS_ADDRESS : 0));
    if (access->address) {
        to = put_difference(to, &state->address, access->address);
        to = varint_put(to, access->source);
        to = varint_put(to, access->latency);
    }
    for (uint32_t i = 0; registers && i < HR_ACCESS_REGISTERS; i++)
        to = put_difference(to, &state->registers[i], access->registers[i]);
    return to;
}

static const uint8_t *get_difference(const uint8_t *at, const uint8_t *stop, uint64_t *before,
                                     uint64_t *value)
{
    uint64_t coded = 0;

    at = varint_get(at, stop, &coded);
    *before += trace_code_unzigzag(coded);
    *value = *before;
    return at;
}

const uint8_t *trace_access_get(struct trace_access_state *state, const uint8_t *at,
                                const uint8_t *stop, struct hr_access *access, bool registers)
{
    uint64_t events = 0, latency = 0;

    at = varint_get(at, stop, &events);
    if (at == NULL || events >> 1 == 0 || events >> (1 + HR_EVENTS_MAX))
        return NULL;
    access->events = (uint32_t)(events >> 1);
    access->address = access->source = 0;
    if (events & HAS_ADDRESS) {
        at = get_difference(at, stop, &state->address, &access->address);
        if (at != NULL)
            at = varint_get(at, stop, &access->source);
        if (at != NULL)
            at = varint_get(at, stop, &latency);
    }
    if (latency > UINT32_MAX)
        return NULL;
    access->latency = (uint32_t)latency;
    for (uint32_t i = 0; registers && at != NULL && i < HR_ACCESS_REGISTERS; i++)
        at = get_difference(at, stop, &state->registers[i], &access->registers[i]);
    return at;
}

enum trace_status trace_accesses_decode(struct trace_access_state *state,
                                        const struct trace_record *record, struct hr_access *out,
                                        uint32_t count, bool registers)
{
    const uint8_t *at = record->body, *stop = record->body + record->bytes;

    for (uint32_t i = 0; i < count; i++) {
        at = trace_access_get(state, at, stop, &out[i], registers);
        if (at == NULL)
            return TRACE_BAD_RECORD;
    }
    return at == stop ? TRACE_OK : TRACE_BAD_RECORD;
}

uint32_t trace_accesses_bound(const struct trace_accesses *a)
{
    if (a->bytes + TRACE_ACCESS_BYTES_MAX > TRACE_BODY_BYTES_MAX)
        return TRACE_ACCESSES_NO_ROOM;
    /* the sample may end the run, whose record comes before that of the next one */
    return 2 * (uint32_t)sizeof(struct hr_record_header) + a->bytes + TRACE_ACCESS_BYTES_MAX;
}

void trace_accesses_add(struct trace_accesses *a, const struct hr_access *access)
{
    uint8_t *end = trace_access_put(&a->state, a->coded + a->bytes, access, a->registers);

    a->bytes = (uint32_t)(end - a->coded);
}

uint8_t *trace_accesses_flush(struct trace_accesses *a, uint8_t *at, uint32_t *records)
{
    uint32_t bytes = a->bytes;

    if (bytes == 0)
        return at;
    trace_code_record(at, HR_REC_ACCESSES, bytes);
    memcpy(at + sizeof(struct hr_record_header), a->coded, bytes);
    a->bytes = 0;
    ++*records;
    return at + sizeof(struct hr_record_header) + bytes;
}
