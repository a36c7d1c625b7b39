/* Samples with call stacks on their way through a writer and back, for the stacks' unit tests. */
#ifndef TESTS_UNIT_LIB_STACKS_FIXTURE_H
#define TESTS_UNIT_LIB_STACKS_FIXTURE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/trace_chains.h"
#include "lib/trace/trace_copies.h"
#include "lib/trace/trace_writer.h"
#include "tests/unit/test.h"

#define FIXTURE_EVENTS 2u
#define FIXTURE_SLOT_BYTES 65536u
#define FIXTURE_STACK_OFFSET 64u /* of two events */

struct stacks_fixture {
    enum hr_stack_kind kind;
    struct trace_writer w;
    uint8_t *buffer;
    void *memory;
    uint8_t *written; /* the samples' slots since the chunk began, FIXTURE_SLOT_BYTES apart */
    uint32_t count, capacity;
    uint32_t chunks;
    uint32_t stack_bytes; /* of the records of stacks of all chunks */
    /* what reads */
    struct trace_chains_decoder chains;
    struct trace_copies_decoder *copies;
    struct trace_decoder samples;
    struct trace_slot run[TRACE_RUN_SAMPLES_MAX];
    uint32_t nodes[TRACE_RUN_SAMPLES_MAX];
};

static inline void fixture_open(struct stacks_fixture *f, enum hr_stack_kind kind,
                                uint32_t capacity)
{
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->buffer = malloc(capacity);
    f->memory = malloc(trace_stacks_bytes(kind));
    f->copies = malloc(sizeof *f->copies);
    f->chains.frames = malloc(HR_STACK_NODES_MAX * sizeof f->chains.frames[0]);
    assert_true(f->buffer && f->memory && f->copies && f->chains.frames);
    trace_writer_init(&f->w, f->buffer, capacity, 3, FIXTURE_EVENTS);
    trace_writer_stacks(&f->w, kind, f->memory);
    trace_writer_begin(&f->w, HR_CHUNK_DATA);
}

static inline void fixture_close(struct stacks_fixture *f)
{
    free(f->buffer);
    free(f->memory);
    free(f->copies);
    free(f->chains.frames);
    free(f->written);
}

static inline struct trace_slot *fixture_slot(struct stacks_fixture *f, uint32_t i)
{
    return (struct trace_slot *)(void *)(f->written + (size_t)i * FIXTURE_SLOT_BYTES);
}

static inline struct trace_slot_stack *fixture_stack(struct stacks_fixture *f, uint32_t i)
{
    return (struct trace_slot_stack *)(void *)(f->written + (size_t)i * FIXTURE_SLOT_BYTES +
                                               FIXTURE_STACK_OFFSET);
}

/* The next slot, for its stack to be filled in. */
static inline struct trace_slot_stack *fixture_next(struct stacks_fixture *f, uint32_t tid)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 16;
        f->written = realloc(f->written, (size_t)f->capacity * FIXTURE_SLOT_BYTES);
        assert_non_null(f->written);
    }
    *fixture_slot(f, f->count) = (struct trace_slot){
        .time = 1000 + f->w.samples * 1000 + f->count * 10, .ip = 0x401000 + f->count, .tid = tid};
    return fixture_stack(f, f->count);
}

static inline void expect_chain(struct stacks_fixture *f, uint32_t node,
                                const struct trace_slot_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        assert_in_range(node, HR_STACK_ROOTS, f->chains.count - 1);
        assert_int_equal(f->chains.frames[node].address, stack->words[i]);
        assert_int_equal(f->chains.frames[node].depth, stack->count - i);
        node = f->chains.frames[node].parent;
    }
    assert_int_equal(node, stack->root);
}

static inline void expect_copy(struct stacks_fixture *f, const struct trace_slot_stack *stack)
{
    assert_int_equal(trace_copies_decoder_next(f->copies), TRACE_OK);
    assert_int_equal(f->copies->taken, stack->root != HR_STACK_NONE);
    if (stack->root == HR_STACK_NONE)
        return;
    assert_int_equal(f->copies->stack_bytes, stack->count);
    assert_memory_equal(f->copies->registers, stack->words, sizeof f->copies->registers);
    assert_memory_equal(f->copies->stack, stack->words + HR_STACK_REGISTERS, stack->count);
}

/* The stacks of the run that was read last: of the samples from `first` on. */
static inline void expect_run(struct stacks_fixture *f, const struct trace_record *r,
                              uint32_t first, uint32_t count)
{
    if (r != NULL && f->kind == HR_STACK_FP)
        assert_int_equal(trace_chains_decoder_stacks(&f->chains, r, f->nodes, count), TRACE_OK);
    else if (r != NULL)
        trace_copies_decoder_record(f->copies, r);
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_slot_stack *stack = fixture_stack(f, first + i);

        assert_int_equal(f->run[i].time, fixture_slot(f, first + i)->time);
        if (r == NULL)
            assert_int_equal(stack->root | (f->kind == HR_STACK_FP ? stack->count : 0), 0);
        else if (f->kind == HR_STACK_FP)
            expect_chain(f, f->nodes[i], stack);
        else
            expect_copy(f, stack);
    }
    if (r != NULL && f->kind == HR_STACK_DWARF)
        assert_ptr_equal(f->copies->at, f->copies->end);
}

/* Reads the chunk and compares it with what was written; begins the next one. */
static inline void fixture_check(struct stacks_fixture *f)
{
    uint32_t bytes = trace_writer_finish(&f->w), done = 0, records = 0;
    struct hr_chunk_header header;
    struct trace_record r;
    struct trace_cursor c;
    uint32_t run = 0;

    assert_in_range(bytes, sizeof header, f->w.capacity);
    assert_int_equal(trace_check_header(f->buffer, bytes, &header), TRACE_OK);
    assert_int_equal(trace_check_payload(&header, f->buffer + sizeof header), TRACE_OK);
    trace_decoder_init(&f->samples, FIXTURE_EVENTS);
    trace_chains_decoder_begin(&f->chains, f->chains.frames);
    trace_copies_decoder_begin(f->copies);
    trace_cursor_init(&c, f->buffer + sizeof header, header.payload_bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        bool stacks = r.type == HR_REC_STACKS || r.type == HR_REC_USER_STACKS;

        records++;
        if (r.type >= HR_REC_STACK_NODES && r.type <= HR_REC_USER_STACKS)
            f->stack_bytes += (uint32_t)sizeof(struct hr_record_header) + r.bytes;
        if (r.type == HR_REC_STACK_NODES)
            assert_int_equal(trace_chains_decoder_nodes(&f->chains, &r), TRACE_OK);
        else if (run != 0) {
            expect_run(f, stacks ? &r : NULL, done, run);
            done += run;
            run = 0;
        } else {
            assert_false(stacks);
        }
        if (r.type == HR_REC_BASE)
            assert_int_equal(trace_decoder_base(&f->samples, &r), TRACE_OK);
        if (r.type == HR_REC_SAMPLES || r.type == HR_REC_SAMPLES_WIDE)
            assert_int_equal(
                trace_decoder_samples(&f->samples, &r, f->run, TRACE_RUN_SAMPLES_MAX, &run),
                TRACE_OK);
    }
    if (run != 0)
        expect_run(f, NULL, done, run);
    assert_int_equal(done + run, f->count);
    assert_int_equal(header.record_count, records);
    assert_int_equal(header.sample_count, f->count);
    f->chunks++;
    f->count = 0;
    trace_writer_begin(&f->w, HR_CHUNK_DATA);
}

/* Writes the slot of fixture_next; a full chunk is checked first. */
static inline void fixture_write(struct stacks_fixture *f)
{
    const size_t bytes = FIXTURE_SLOT_BYTES;
    int status = trace_writer_sample(&f->w, fixture_slot(f, f->count));

    if (status == 0) {
        f->count++;
        return;
    }
    assert_int_equal(status, -ENOSPC);
    assert_int_not_equal(f->count, 0);
    uint32_t refused = f->count;
    fixture_check(f);
    memcpy(f->written, f->written + refused * bytes, bytes);
    assert_int_equal(trace_writer_sample(&f->w, fixture_slot(f, 0)), 0);
    f->count = 1;
}

#endif
