/* Samples from a row of slots: the same bytes as one by one, up to a record or a full chunk. */
#include <errno.h>
#include <string.h>

#include "lib/trace/trace_writer.h"
#include "tests/unit/test.h"

#define SLOTS 64u
#define EVENTS 5u
#define SLOT_BYTES 64u /* of five events: less than the struct */

static uint8_t slots[SLOTS * SLOT_BYTES] __attribute__((aligned(64)));
static uint8_t buffers[2][TRACE_CHUNK_BYTES_MIN];
static struct trace_writer row, single;

static struct trace_slot *slot(uint32_t i)
{
    return (struct trace_slot *)(void *)(slots + i * SLOT_BYTES);
}

static void prepare(struct test_random *random)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct trace_slot *s = slot(i);
        s->time = 1000 * i;
        s->ip = test_random_next(random) >> test_random_below(random, 64);
        s->tid = 7;
        s->cost_ticks = (uint16_t)test_random_below(random, 100);
        s->flags = 0;
        s->kind = 0;
        for (uint32_t e = 0; e < EVENTS; e++)
            s->counters[e] = test_random_next(random) >> test_random_below(random, 64);
    }
    trace_writer_init(&row, buffers[0], TRACE_CHUNK_BYTES_MIN, 1, EVENTS);
    trace_writer_init(&single, buffers[1], TRACE_CHUNK_BYTES_MIN, 1, EVENTS);
    trace_writer_begin(&row, HR_CHUNK_DATA);
    trace_writer_begin(&single, HR_CHUNK_DATA);
}

static void expect_same_chunk(void)
{
    uint32_t bytes = trace_writer_finish(&row);

    assert_int_equal(bytes, trace_writer_finish(&single));
    assert_memory_equal(buffers[0], buffers[1], bytes);
    assert_int_equal(row.samples, single.samples);
}

static void stops_at_a_record(void **state)
{
    struct test_random random = {1};

    (void)state;
    prepare(&random);
    slot(20)->kind = HR_REC_SWITCH;
    assert_int_equal(trace_writer_samples(&row, slots, SLOT_BYTES, 10), 10);
    assert_int_equal(trace_writer_samples(&row, slot(10), SLOT_BYTES, SLOTS - 10), 10);
    assert_int_equal(trace_writer_samples(&row, slot(20), SLOT_BYTES, SLOTS - 20), 0);
    assert_int_equal(trace_writer_samples(&row, slot(21), SLOT_BYTES, 0), 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(trace_writer_sample(&single, slot(i)), 0);
    expect_same_chunk();
}

static void stops_when_the_chunk_is_full(void **state)
{
    struct test_random random = {2};
    uint32_t chunks = 0;

    (void)state;
    prepare(&random);
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t at = 0; at < SLOTS;) {
            uint32_t added = trace_writer_samples(&row, slot(at), SLOT_BYTES, SLOTS - at);
            for (uint32_t i = 0; i < added; i++)
                assert_int_equal(trace_writer_sample(&single, slot(at + i)), 0);
            at += added;
            if (at == SLOTS)
                break;
            assert_int_equal(trace_writer_sample(&single, slot(at)), -ENOSPC);
            expect_same_chunk();
            trace_writer_begin(&row, HR_CHUNK_DATA);
            trace_writer_begin(&single, HR_CHUNK_DATA);
            chunks++;
        }
    }
    assert_in_range(chunks, 20, 400);
    expect_same_chunk();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_at_a_record),
        cmocka_unit_test(stops_when_the_chunk_is_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
