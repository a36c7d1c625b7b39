/* Chains of return addresses: what is written comes back, and nothing else is accepted. */
#include "tests/unit/lib/stacks_fixture.h"

#include "lib/trace/varint.h"

static struct stacks_fixture f;

static void write_chain(uint32_t tid, enum hr_stack_root root, uint32_t count,
                        const uint64_t *addresses)
{
    struct trace_slot_stack *stack = fixture_next(&f, tid);

    stack->root = root;
    stack->count = count;
    if (count != 0)
        memcpy(stack->words, addresses, count * sizeof addresses[0]);
    fixture_write(&f);
}

static void every_root_and_depth(void **state)
{
    uint64_t addresses[HR_STACK_FRAMES_MAX];

    (void)state;
    for (uint32_t i = 0; i < HR_STACK_FRAMES_MAX; i++)
        addresses[i] = 0x7f0000000000 - i * 0x1234567;
    fixture_open(&f, HR_STACK_FP, TRACE_STACKS_CHUNK_BYTES_MIN);
    for (uint32_t root = HR_STACK_WHOLE; root < HR_STACK_ROOTS; root++)
        for (uint32_t count = 0; count <= HR_STACK_FRAMES_MAX; count = count * 2 + (count == 0))
            write_chain(1, root, count, addresses);
    write_chain(1, HR_STACK_NONE, 0, addresses);
    write_chain(1, HR_STACK_WHOLE, HR_STACK_FRAMES_MAX, addresses);
    fixture_check(&f);
    fixture_close(&f);
}

static void runs_without_stacks_have_no_record(void **state)
{
    const uint64_t address = 0x401234;

    (void)state;
    fixture_open(&f, HR_STACK_FP, TRACE_STACKS_CHUNK_BYTES_MIN);
    write_chain(1, HR_STACK_NONE, 0, NULL);
    write_chain(1, HR_STACK_NONE, 0, NULL);
    write_chain(2, HR_STACK_WHOLE, 1, &address);
    write_chain(3, HR_STACK_NONE, 0, NULL);
    fixture_check(&f);
    assert_int_equal(f.stack_bytes, 4 + 1 + 4 + 4 + 1);
    fixture_close(&f);
}

static void a_repeated_stack_costs_next_to_nothing(void **state)
{
    const uint64_t addresses[3] = {0x401020, 0x401140, 0x401333};

    (void)state;
    fixture_open(&f, HR_STACK_FP, TRACE_STACKS_CHUNK_BYTES_MIN);
    for (uint32_t i = 0; i < 1000; i++)
        write_chain(1, HR_STACK_WHOLE, 3, addresses);
    fixture_check(&f);
    assert_in_range(f.stack_bytes, 1, 40);
    fixture_close(&f);
}

/* A program that calls and returns: frames are pushed and popped at random. */
static void random_walks(uint32_t capacity, uint32_t samples, uint32_t spread, uint32_t limit)
{
    struct test_random random = {spread * 77 + limit};
    uint64_t addresses[HR_STACK_FRAMES_MAX]; /* the outermost last */
    uint32_t depth = 0;

    fixture_open(&f, HR_STACK_FP, capacity);
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t pops = (uint32_t)test_random_below(&random, 4);
        uint32_t pushes = (uint32_t)test_random_below(&random, 4);
        uint64_t *innermost;

        depth -= pops < depth ? pops : depth;
        for (; pushes != 0 && depth < limit; pushes--)
            addresses[HR_STACK_FRAMES_MAX - ++depth] =
                0x401000 + test_random_below(&random, spread) * 0x777777;
        innermost = addresses + HR_STACK_FRAMES_MAX - depth;
        write_chain(1 + (uint32_t)test_random_below(&random, 100) / 99,
                    i % 7 == 6 ? HR_STACK_CUT : HR_STACK_WHOLE, depth, innermost);
        if (test_random_below(&random, 500) == 0)
            assert_int_equal(
                trace_writer_record(&f.w, HR_REC_MARK, 5, "sixteen bytes...", 16, NULL, 0), 0);
    }
    fixture_check(&f);
}

static void random_stacks_come_back(void **state)
{
    (void)state;
    random_walks(TRACE_STACKS_CHUNK_BYTES_MIN, 3000, 3, 40);
    fixture_close(&f);
    random_walks(TRACE_STACKS_CHUNK_BYTES_MIN, 3000, 1u << 20, HR_STACK_FRAMES_MAX);
    fixture_close(&f);
}

/* Every sample has frames of its own: nodes, bodies and chunks run full. */
static void stacks_of_nothing_in_common(void **state)
{
    struct test_random random = {5};
    uint64_t addresses[HR_STACK_FRAMES_MAX];

    (void)state;
    fixture_open(&f, HR_STACK_FP, 1u << 20);
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t n = 0; n < HR_STACK_FRAMES_MAX; n++)
            addresses[n] = test_random_next(&random);
        write_chain(1, HR_STACK_BROKEN, HR_STACK_FRAMES_MAX, addresses);
    }
    fixture_check(&f);
    assert_in_range(f.chunks, 200 / (TRACE_CHAINS_NODES / HR_STACK_FRAMES_MAX), 20);
    fixture_close(&f);
}

static enum trace_status decode_nodes(const uint8_t *body, uint16_t bytes)
{
    const struct trace_record r = {.type = HR_REC_STACK_NODES, .bytes = bytes, .body = body};

    return trace_chains_decoder_nodes(&f.chains, &r);
}

static enum trace_status decode_stacks(const uint8_t *body, uint16_t bytes, uint32_t count)
{
    const struct trace_record r = {.type = HR_REC_STACKS, .bytes = bytes, .body = body};

    return trace_chains_decoder_stacks(&f.chains, &r, f.nodes, count);
}

static void what_is_no_tree_is_refused(void **state)
{
    static uint8_t body[65534];

    (void)state;
    fixture_open(&f, HR_STACK_FP, TRACE_STACKS_CHUNK_BYTES_MIN);
    trace_chains_decoder_begin(&f.chains, f.chains.frames);
    assert_int_equal(decode_nodes((const uint8_t *)"\x00\x02", 2), TRACE_BAD_RECORD);
    assert_int_equal(decode_nodes((const uint8_t *)"\x05\x02", 2), TRACE_BAD_RECORD);
    assert_int_equal(decode_nodes((const uint8_t *)"\x03\x80", 2), TRACE_BAD_RECORD);
    assert_int_equal(decode_nodes((const uint8_t *)"\x03\x02\x01", 3), TRACE_BAD_RECORD);
    assert_int_equal(
        decode_nodes((const uint8_t *)"\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11),
        TRACE_BAD_RECORD);
    assert_int_equal(f.chains.count, HR_STACK_ROOTS);
    assert_int_equal(decode_nodes((const uint8_t *)"\x03\x02", 2), TRACE_OK);
    memset(body, 1, sizeof body); /* each the child of the one before */
    assert_int_equal(decode_nodes(body, 2 * HR_STACK_FRAMES_MAX), TRACE_BAD_RECORD);
    assert_int_equal(decode_nodes(body, 2 * HR_STACK_FRAMES_MAX - 2), TRACE_OK);
    fixture_close(&f);
}

static void nodes_have_a_limit(void **state)
{
    static uint8_t body[65535];
    uint8_t *at = body;

    (void)state;
    fixture_open(&f, HR_STACK_FP, TRACE_STACKS_CHUNK_BYTES_MIN);
    trace_chains_decoder_begin(&f.chains, f.chains.frames);
    while (at < body + sizeof body - 5 && f.chains.count != HR_STACK_NODES_MAX) {
        at = varint_put(body, f.chains.count - HR_STACK_WHOLE); /* all begin a thread */
        at = varint_put(at, 2);
        assert_int_equal(decode_nodes(body, (uint16_t)(at - body)), TRACE_OK);
    }
    assert_int_equal(f.chains.count, HR_STACK_NODES_MAX);
    assert_int_equal(decode_nodes(body, (uint16_t)(at - body)), TRACE_BAD_RECORD);
    fixture_close(&f);
}

static void stacks_are_of_known_nodes_and_of_all_samples(void **state)
{
    (void)state;
    fixture_open(&f, HR_STACK_FP, TRACE_STACKS_CHUNK_BYTES_MIN);
    trace_chains_decoder_begin(&f.chains, f.chains.frames);
    assert_int_equal(decode_stacks((const uint8_t *)"\x10", 1, 1), TRACE_BAD_RECORD); /* node 4 */
    assert_int_equal(decode_stacks((const uint8_t *)"\x02", 1, 1), TRACE_BAD_RECORD); /* -1 */
    assert_int_equal(decode_stacks((const uint8_t *)"\x04", 1, 2), TRACE_BAD_RECORD);
    assert_int_equal(decode_stacks((const uint8_t *)"\x04\x04", 2, 1), TRACE_BAD_RECORD);
    assert_int_equal(decode_stacks((const uint8_t *)"\x05", 1, 2), TRACE_BAD_RECORD);
    assert_int_equal(decode_stacks((const uint8_t *)"\x05\x02", 2, 2), TRACE_BAD_RECORD);
    assert_int_equal(decode_stacks((const uint8_t *)"\x05\x01", 2, 2), TRACE_OK);
    assert_int_equal(f.nodes[0], HR_STACK_WHOLE);
    assert_int_equal(f.nodes[1], HR_STACK_WHOLE);
    assert_int_equal(decode_stacks((const uint8_t *)"\x04", 1, 1), TRACE_OK);
    assert_int_equal(f.nodes[0], HR_STACK_CUT);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_root_and_depth),
        cmocka_unit_test(runs_without_stacks_have_no_record),
        cmocka_unit_test(a_repeated_stack_costs_next_to_nothing),
        cmocka_unit_test(random_stacks_come_back),
        cmocka_unit_test(stacks_of_nothing_in_common),
        cmocka_unit_test(what_is_no_tree_is_refused),
        cmocka_unit_test(nodes_have_a_limit),
        cmocka_unit_test(stacks_are_of_known_nodes_and_of_all_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
