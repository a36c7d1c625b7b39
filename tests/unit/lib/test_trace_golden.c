/* The golden traces: the writer still makes these bytes, the reader still finds their content. */
#include <stdio.h>
#include <string.h>

#include "lib/trace/trace_chains.h"
#include "lib/trace/trace_copies.h"
#include "lib/trace/trace_reader.h"
#include "tests/golden/golden.h"
#include "tests/golden/golden_accesses.h"
#include "tests/golden/golden_probes.h"
#include "tests/unit/test.h"

static uint8_t golden_bytes[GOLDEN_BYTES_MAX + 1];

/* Tests run from the top of the tree. */
static size_t load(const struct golden *g)
{
    char path[256];
    size_t count;
    FILE *f;

    snprintf(path, sizeof path, "tests/golden/%s.bin", g->name);
    f = fopen(path, "rb");
    assert_non_null(f);
    count = fread(golden_bytes, 1, sizeof golden_bytes, f);
    fclose(f);
    return count;
}

static void writer_makes_these_bytes(void **state)
{
    static uint8_t built[GOLDEN_BYTES_MAX];

    (void)state;
    for (const struct golden *g = golden_table; g->name; g++) {
        size_t count = load(g);

        assert_int_equal(g->build(built), count);
        assert_memory_equal(built, golden_bytes, count);
    }
}

static void expect_slot(const struct golden *g, const struct trace_slot *got, uint32_t i)
{
    const struct trace_slot expected = g->sample(i);

    assert_memory_equal(got, &expected, offsetof(struct trace_slot, counters) + 8 * g->event_count);
}

static uint32_t read_data(const struct golden *g, const uint8_t *payload, uint32_t bytes,
                          uint32_t at)
{
    static struct trace_slot slots[TRACE_RUN_SAMPLES_MAX];
    struct trace_decoder d;
    struct trace_cursor c;
    struct trace_record r;
    uint32_t count;

    trace_decoder_init(&d, g->event_count);
    trace_cursor_init(&c, payload, bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        if (r.type == HR_REC_BASE)
            assert_int_equal(trace_decoder_base(&d, &r), TRACE_OK);
        if (r.type != HR_REC_SAMPLES && r.type != HR_REC_SAMPLES_WIDE)
            continue;
        assert_int_equal(trace_decoder_samples(&d, &r, slots, TRACE_RUN_SAMPLES_MAX, &count),
                         TRACE_OK);
        for (uint32_t i = 0; i < count; i++)
            expect_slot(g, &slots[i], at++);
    }
    assert_int_equal(c.offset, bytes);
    return at;
}

static void reader_finds_the_samples(void **state)
{
    (void)state;
    for (const struct golden *g = golden_table; g->name; g++) {
        size_t count = load(g);
        struct hr_chunk_header header;
        uint32_t samples = 0, first;
        size_t at;

        assert_int_equal(trace_check_file(golden_bytes, count, &first), TRACE_OK);
        for (at = first; at < count; at += sizeof header + header.payload_bytes) {
            const uint8_t *payload = golden_bytes + at + sizeof header;

            assert_int_equal(trace_check_header(golden_bytes + at, count - at, &header), TRACE_OK);
            assert_true(at + sizeof header + header.payload_bytes <= count);
            assert_int_equal(trace_check_payload(&header, payload), TRACE_OK);
            if (header.type == HR_CHUNK_DATA)
                samples = read_data(g, payload, header.payload_bytes, samples);
        }
        assert_int_equal(at, count);
        assert_int_equal(samples, g->samples);
    }
}

/* The stack of sample `i` as golden.c makes it. */
static const struct trace_slot_stack *expected_stack(const struct golden *g, uint32_t i)
{
    static uint64_t room[128];
    struct trace_slot_stack *stack = (struct trace_slot_stack *)room;

    g->stack(i, stack);
    return stack;
}

static void expect_chain(const struct trace_chains_frame *frames, uint32_t node,
                         const struct trace_slot_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++, node = frames[node].parent)
        assert_int_equal(frames[node].address, stack->words[i]);
    assert_int_equal(node, stack->root);
}

static void expect_copy(struct trace_copies_decoder *d, const struct trace_slot_stack *stack)
{
    assert_int_equal(trace_copies_decoder_next(d), TRACE_OK);
    assert_int_equal(d->taken, stack->root != HR_STACK_NONE);
    if (!d->taken)
        return;
    assert_memory_equal(d->registers, stack->words, sizeof d->registers);
    assert_int_equal(d->stack_bytes, stack->count);
    assert_memory_equal(d->stack, stack->words + HR_STACK_REGISTERS, stack->count);
}

/* Every run of these traces has stacks; returns the number of samples. */
static uint32_t read_stacks(const struct golden *g, const uint8_t *payload, uint32_t bytes,
                            uint32_t at)
{
    static struct trace_chains_frame frames[HR_STACK_NODES_MAX];
    static struct trace_copies_decoder copies;
    struct trace_chains_decoder chains;
    uint32_t nodes[TRACE_RUN_SAMPLES_MAX], count = 0;
    struct hr_rec_samples run;
    struct trace_cursor c;
    struct trace_record r;

    trace_chains_decoder_begin(&chains, frames);
    trace_copies_decoder_begin(&copies);
    trace_cursor_init(&c, payload, bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        if (r.type == HR_REC_SAMPLES || r.type == HR_REC_SAMPLES_WIDE) {
            assert_true(trace_body(&r, &run, sizeof run, NULL, NULL));
            count = run.count;
        } else if (r.type == HR_REC_STACK_NODES) {
            assert_int_equal(trace_chains_decoder_nodes(&chains, &r), TRACE_OK);
        } else if (r.type == HR_REC_STACKS) {
            assert_int_equal(trace_chains_decoder_stacks(&chains, &r, nodes, count), TRACE_OK);
            for (uint32_t i = 0; i < count; i++)
                expect_chain(frames, nodes[i], expected_stack(g, at++));
        } else if (r.type == HR_REC_USER_STACKS) {
            trace_copies_decoder_record(&copies, &r);
            for (uint32_t i = 0; i < count; i++)
                expect_copy(&copies, expected_stack(g, at++));
        }
    }
    return at;
}

static void reader_finds_the_stacks(void **state)
{
    (void)state;
    for (const struct golden *g = golden_table; g->name; g++) {
        size_t count = load(g);
        struct hr_chunk_header header;
        uint32_t samples = 0;

        if (g->stack == NULL)
            continue;
        for (size_t at = sizeof(struct hr_file_header); at < count;
             at += sizeof header + header.payload_bytes) {
            memcpy(&header, golden_bytes + at, sizeof header);
            if (header.type == HR_CHUNK_DATA)
                samples = read_stacks(g, golden_bytes + at + sizeof header, header.payload_bytes,
                                      samples);
        }
        assert_int_equal(samples, g->samples);
    }
}

static uint32_t read_hits(const uint8_t *payload, uint32_t bytes, uint32_t at)
{
    static struct trace_hit hits[TRACE_RUN_SAMPLES_MAX];
    struct trace_decoder d;
    struct trace_probes_decoder p;
    struct trace_cursor c;
    struct trace_record r;
    uint32_t count;

    trace_decoder_init(&d, GOLDEN_PROBES_EVENTS);
    trace_cursor_init(&c, payload, bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        if (r.type == HR_REC_BASE) {
            assert_int_equal(trace_decoder_base(&d, &r), TRACE_OK);
            trace_probes_decoder_begin(&p, GOLDEN_PROBES_ARGUMENTS, &d);
        }
        if (r.type != HR_REC_PROBES && r.type != HR_REC_PROBES_WIDE)
            continue;
        assert_int_equal(trace_probes_decoder_hits(&p, &r, hits, TRACE_RUN_SAMPLES_MAX, &count),
                         TRACE_OK);
        for (uint32_t i = 0; i < count; i++) {
            const struct trace_hit expected = golden_probes_hit(at++);

            assert_memory_equal(&hits[i], &expected,
                                offsetof(struct trace_hit, counters[GOLDEN_PROBES_EVENTS]));
            assert_memory_equal(hits[i].arguments, expected.arguments, 8 * GOLDEN_PROBES_ARGUMENTS);
        }
    }
    return at;
}

static void reader_finds_the_hits(void **state)
{
    struct hr_chunk_header header;
    uint32_t hits = 0;
    size_t count;

    (void)state;
    for (const struct golden *g = golden_table; g->name; g++) {
        if (g->build != golden_probes_build)
            continue;
        count = load(g);
        for (size_t at = sizeof(struct hr_file_header); at < count;
             at += sizeof header + header.payload_bytes) {
            memcpy(&header, golden_bytes + at, sizeof header);
            if (header.type == HR_CHUNK_DATA)
                hits = read_hits(golden_bytes + at + sizeof header, header.payload_bytes, hits);
        }
    }
    assert_int_equal(hits, GOLDEN_PROBES_HITS);
}

static uint32_t read_accesses(const uint8_t *payload, uint32_t bytes, uint32_t at)
{
    static struct hr_access accesses[TRACE_RUN_SAMPLES_MAX];
    struct trace_access_state state = {0};
    struct hr_rec_samples run = {0};
    struct trace_cursor c;
    struct trace_record r;

    trace_cursor_init(&c, payload, bytes);
    while (trace_next(&c, &r) == TRACE_OK) {
        if (r.type == HR_REC_SAMPLES || r.type == HR_REC_SAMPLES_WIDE)
            assert_true(trace_body(&r, &run, sizeof run, NULL, NULL));
        if (r.type != HR_REC_ACCESSES)
            continue;
        assert_int_equal(trace_accesses_decode(&state, &r, accesses, run.count, true), TRACE_OK);
        for (uint32_t i = 0; i < run.count; i++) {
            const struct hr_access expected = golden_accesses_access(at++);

            assert_memory_equal(&accesses[i], &expected, sizeof expected);
        }
    }
    return at;
}

static void reader_finds_the_accesses(void **state)
{
    struct hr_chunk_header header;
    uint32_t accesses = 0;
    size_t count = 0;

    (void)state;
    for (const struct golden *g = golden_table; g->name; g++)
        if (g->build == golden_accesses_build)
            count = load(g);
    for (size_t at = sizeof(struct hr_file_header); at < count;
         at += sizeof header + header.payload_bytes) {
        memcpy(&header, golden_bytes + at, sizeof header);
        if (header.type == HR_CHUNK_DATA)
            accesses =
                read_accesses(golden_bytes + at + sizeof header, header.payload_bytes, accesses);
    }
    assert_int_equal(accesses, GOLDEN_ACCESSES_SAMPLES);
}

static void trailer_is_last(void **state)
{
    (void)state;
    for (const struct golden *g = golden_table; g->name; g++) {
        size_t count = load(g);
        struct hr_index_trailer trailer;
        struct hr_chunk_header header;

        memcpy(&trailer, golden_bytes + count - sizeof trailer, sizeof trailer);
        assert_memory_equal(trailer.magic, HR_TRAILER_MAGIC, 8);
        assert_true(trailer.first_offset < count);
        assert_int_equal(trace_check_header(golden_bytes + trailer.first_offset,
                                            count - trailer.first_offset, &header),
                         TRACE_OK);
        assert_int_equal(header.type, HR_CHUNK_INDEX);
        assert_int_equal(header.payload_bytes,
                         4 + trailer.entry_count * sizeof(struct hr_index_entry) + 4 +
                             sizeof trailer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writer_makes_these_bytes),  cmocka_unit_test(reader_finds_the_samples),
        cmocka_unit_test(reader_finds_the_stacks),   cmocka_unit_test(reader_finds_the_hits),
        cmocka_unit_test(reader_finds_the_accesses), cmocka_unit_test(trailer_is_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
