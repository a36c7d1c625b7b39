/* Encodes registers and copies of stack memory; the guest runs this for every sample with -g dwarf.
 */
#include "lib/trace/trace_copies.h"

#include <string.h>

#include "lib/bytes.h"
#include "lib/trace/trace_stacks.h"
#include "lib/trace/varint.h"

#define LINE_BYTES HR_STACK_LINE_BYTES
#define RSP 7u /* its index among the registers */
#define LINES_MAX (HR_STACK_BYTES_MAX / LINE_BYTES + 1)
#define VALUE_BYTES_MAX VARINT_BYTES_MAX /* a raw value takes 2 + 8 */
#define REGISTERS_BYTES_MAX (2u + HR_STACK_REGISTERS * VALUE_BYTES_MAX)
#define LINE_BYTES_MAX (2u + 1u + TRACE_COPIES_WORDS * VALUE_BYTES_MAX)
#define SAMPLE_BYTES_MAX(lines) (3u + REGISTERS_BYTES_MAX + (lines)*LINE_BYTES_MAX + 1u)

_Static_assert(SAMPLE_BYTES_MAX(LINES_MAX) <= TRACE_BODY_BYTES_MAX, "a sample fits a record");
_Static_assert(LINES_MAX < HR_STACK_LINES, "a copy's lines do not displace each other");
_Static_assert(SAMPLE_BYTES_MAX(LINES_MAX) + 4096 <= TRACE_STACKS_CHUNK_BYTES_MIN,
               "the first sample of an empty chunk fits");

void trace_copies_memory_clear(struct trace_copies_memory *m)
{
    for (uint32_t i = 0; i < HR_STACK_LINES; i++)
        m->addresses[i] = 1;
    memset(m->values, 0, sizeof m->values);
}

void trace_copies_init(struct trace_copies *c)
{
    memset(c, 0, sizeof *c);
}

void trace_copies_begin(struct trace_copies *c)
{
    trace_copies_memory_clear(&c->memory);
    memset(c->registers, 0, sizeof c->registers);
    c->stack_bytes = 0;
    c->any = 0;
    c->used = 0;
}

static uint32_t copied(const struct trace_slot_stack *stack)
{
    return stack->count < HR_STACK_BYTES_MAX ? stack->count : HR_STACK_BYTES_MAX;
}

uint32_t trace_copies_bound(const struct trace_copies *c, const struct trace_slot_stack *stack)
{
    uint32_t lines = copied(stack) / LINE_BYTES + 2;
    uint32_t bytes = c->used + SAMPLE_BYTES_MAX(lines);

    if (bytes > TRACE_BODY_BYTES_MAX)
        return TRACE_STACKS_NO_ROOM;
    return (uint32_t)sizeof(struct hr_record_header) + bytes;
}

/* Writes a value: its place among the recent values, or its difference. */
static uint8_t *put_value(struct trace_copies *c, uint64_t value, uint64_t before, uint8_t *at)
{
    uint64_t difference = trace_code_zigzag(value - before);
    uint32_t place = trace_copies_place(value);
    bool known = c->memory.values[place] == value;

    c->memory.values[place] = value;
    if (difference < place || (!known && difference >> 63 == 0))
        return varint_put(at, difference << 1);
    if (known)
        return varint_put(at, place << 1 | 1);
    at = varint_put(at, TRACE_COPIES_RAW << 1 | 1);
    bytes_store64(at, value);
    return at + 8;
}

static uint8_t *put_registers(struct trace_copies *c, const uint64_t *registers, uint8_t *at)
{
    uint8_t *changed_at = at;
    uint32_t changed = 0;

    at += 2;
    for (uint32_t i = 0; i < HR_STACK_REGISTERS; i++) {
        if (registers[i] == c->registers[i])
            continue;
        changed |= 1u << i;
        at = put_value(c, registers[i], c->registers[i], at);
        c->registers[i] = registers[i];
    }
    bytes_store16(changed_at, (uint16_t)changed);
    return at;
}

/* Writes the words that have changed; writes nothing if there are none. */
static uint8_t *put_line(struct trace_copies *c, uint64_t *words, const uint64_t *now,
                         uint32_t *skipped, uint8_t *at)
{
    uint8_t *changed_at;
    uint64_t all = 0;

    for (uint32_t i = 0; i < TRACE_COPIES_WORDS; i++)
        all |= now[i] ^ words[i];
    if (all == 0) {
        ++*skipped;
        return at;
    }
    at = varint_put(at, *skipped + 1);
    *skipped = 0;
    changed_at = at++;
    *changed_at = 0;
    for (uint32_t i = 0; i < TRACE_COPIES_WORDS; i++) {
        if (now[i] == words[i])
            continue;
        *changed_at |= (uint8_t)(1u << i);
        at = put_value(c, now[i], words[i], at);
        words[i] = now[i];
    }
    return at;
}

/* Lines at both ends may be copied in part: their other words stay unchanged. */
static uint8_t *put_stack(struct trace_copies *c, uint64_t rsp, const uint8_t *from, uint32_t bytes,
                          uint8_t *at)
{
    uint32_t into = (uint32_t)(rsp % LINE_BYTES), skipped = 0;
    uint64_t line = rsp - into;

    while (bytes != 0) {
        uint32_t part = LINE_BYTES - into < bytes ? LINE_BYTES - into : bytes;
        uint64_t *words = trace_copies_line(&c->memory, line);
        uint64_t now[TRACE_COPIES_WORDS];

        if (part != LINE_BYTES)
            memcpy(now, words, sizeof now);
        memcpy((uint8_t *)now + into, from, part);
        at = put_line(c, words, now, &skipped, at);
        from += part;
        bytes -= part;
        line += LINE_BYTES;
        into = 0;
    }
    return varint_put(at, 0);
}

void trace_copies_add(struct trace_copies *c, const struct trace_slot_stack *stack)
{
    uint8_t *at = c->body + c->used;
    uint32_t bytes = copied(stack);

    if (stack->root == HR_STACK_NONE) {
        *at = 0;
        c->used++;
        return;
    }
    at = varint_put(at, bytes == c->stack_bytes ? 1 : bytes + 2);
    c->stack_bytes = bytes;
    at = put_registers(c, stack->words, at);
    at = put_stack(c, stack->words[RSP], (const uint8_t *)(stack->words + HR_STACK_REGISTERS),
                   bytes, at);
    c->any = 1;
    c->used = (uint32_t)(at - c->body);
}

uint8_t *trace_copies_flush(struct trace_copies *c, uint8_t *at, uint32_t *records)
{
    if (c->any) {
        trace_code_record(at, HR_REC_USER_STACKS, c->used);
        memcpy(at + sizeof(struct hr_record_header), c->body, c->used);
        at += sizeof(struct hr_record_header) + c->used;
        ++*records;
    }
    c->any = 0;
    c->used = 0;
    return at;
}
