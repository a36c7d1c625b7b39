/* Call stacks as registers and copies of stack memory (-g dwarf): HR_REC_USER_STACKS.
 *
 * Both sides remember the last contents of each line of memory in the chunk, and recent values; a
 * sample says what has changed.  Freestanding; the decoder's input is hostile.
 */
#pragma once

#include <stdbool.h>

#include "include/hr_format.h"
#include "lib/hash.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_slot.h"

#define TRACE_COPIES_WORDS (HR_STACK_LINE_BYTES / 8)

struct trace_copies_memory { /* what both sides remember */
    uint64_t values[HR_STACK_VALUES]; /* each at its trace_copies_place */
    uint64_t addresses[HR_STACK_LINES]; /* of the line's first byte; 1: no line yet */
    uint64_t words[HR_STACK_LINES][TRACE_COPIES_WORDS];
};

void trace_copies_memory_clear(struct trace_copies_memory *m);

#define TRACE_COPIES_RAW HR_STACK_VALUES /* instead of a place: the value itself follows */

static inline uint32_t trace_copies_place(uint64_t value)
{
    return hash_place(value, 10); /* below HR_STACK_VALUES */
}

/* Returns the words of the line at an aligned address: its last contents, or zeros. */
static inline uint64_t *trace_copies_line(struct trace_copies_memory *m, uint64_t address)
{
    uint64_t place = address / HR_STACK_LINE_BYTES % HR_STACK_LINES;

    if (m->addresses[place] != address) {
        m->addresses[place] = address;
        __builtin_memset(m->words[place], 0, sizeof m->words[place]);
    }
    return m->words[place];
}

struct trace_copies { /* the encoder, for trace_stacks.c */
    struct trace_copies_memory memory;
    uint64_t registers[HR_STACK_REGISTERS]; /* of the previous sample that has a stack */
    uint32_t stack_bytes; /* of that sample */
    uint32_t any; /* 1: the open run has a stack */
    uint32_t used; /* bytes of body */
    uint8_t body[TRACE_BODY_BYTES_MAX]; /* of the open run's record */
};

/* These are trace_stacks_init to trace_stacks_flush for copies. */
void trace_copies_init(struct trace_copies *c);
void trace_copies_begin(struct trace_copies *c);
uint32_t trace_copies_bound(const struct trace_copies *c, const struct trace_slot_stack *stack);
void trace_copies_add(struct trace_copies *c, const struct trace_slot_stack *stack);
uint8_t *trace_copies_flush(struct trace_copies *c, uint8_t *at, uint32_t *records);

struct trace_copies_decoder {
    struct trace_copies_memory memory;
    const uint8_t *at; /* position in the record */
    const uint8_t *end;
    bool taken; /* this sample has a stack; otherwise the fields below belong to an earlier one */
    uint32_t stack_bytes;
    uint64_t registers[HR_STACK_REGISTERS]; /* in the order of include/hr_format.h */
    uint8_t stack[HR_STACK_BYTES_MAX]; /* stack memory from registers[7] (rsp) on */
};

/* Starts a DATA chunk. */
void trace_copies_decoder_begin(struct trace_copies_decoder *d);

/* Takes HR_REC_USER_STACKS.  Then the caller calls trace_copies_decoder_next for each of the run's
 * samples, after which d->at must be d->end.  The record's bytes must outlive that. */
void trace_copies_decoder_record(struct trace_copies_decoder *d, const struct trace_record *record);

/* Decodes the next sample.  After TRACE_BAD_RECORD the rest of the chunk cannot be decoded. */
enum trace_status trace_copies_decoder_next(struct trace_copies_decoder *d);
