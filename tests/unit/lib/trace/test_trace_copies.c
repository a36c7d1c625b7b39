/* Registers and copies of stack memory: what is written comes back, and nothing else is accepted.
 */
#include "tests/unit/lib/stacks_fixture.h"

#define MEMORY_BYTES (256u << 10)
#define MEMORY_TOP 0x7ffffffff000ull

static struct stacks_fixture f;
static uint8_t memory[MEMORY_BYTES]; /* the program's stack; its last byte is below MEMORY_TOP */

static void write_copy(uint32_t tid, uint64_t rsp, uint32_t bytes, struct test_random *random)
{
    struct trace_slot_stack *stack = fixture_next(&f, tid);

    stack->root = HR_STACK_WHOLE;
    stack->count = bytes;
    for (uint32_t i = 0; i < HR_STACK_REGISTERS; i++)
        stack->words[i] = test_random_next(random) >> test_random_below(random, 64);
    stack->words[7] = rsp;
    memcpy(stack->words + HR_STACK_REGISTERS, memory + MEMORY_BYTES - (MEMORY_TOP - rsp), bytes);
    fixture_write(&f);
}

static void scribble(struct test_random *random, uint64_t rsp, uint32_t bytes)
{
    uint8_t *at = memory + MEMORY_BYTES - (MEMORY_TOP - rsp);

    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)test_random_next(random);
}

static void copies_of_every_size_and_place(void **state)
{
    static const uint32_t sizes[] = {0, 1, 7, 8, 63, 64, 65, 4096, HR_STACK_BYTES_MAX};
    struct test_random random = {3};

    (void)state;
    fixture_open(&f, HR_STACK_DWARF, TRACE_STACKS_CHUNK_BYTES_MIN);
    for (uint32_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
        for (uint32_t into = 0; into < 64; into += 1 + into / 9) {
            uint64_t rsp = MEMORY_TOP - 0x10000 + into;

            scribble(&random, rsp, sizes[size]);
            write_copy(1, rsp, sizes[size], &random);
        }
    fixture_check(&f);
    assert_in_range(f.chunks, 5, 60); /* the largest copies fill one each */
    fixture_close(&f);
}

static void calls_and_returns(void **state)
{
    struct test_random random = {11};
    uint64_t rsp = MEMORY_TOP - 0x4000;

    (void)state;
    fixture_open(&f, HR_STACK_DWARF, 1u << 20);
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t bytes = 8192;

        rsp += 8 * test_random_below(&random, 17) - 8 * 8;
        if (rsp > MEMORY_TOP - 0x100 || rsp < MEMORY_TOP - MEMORY_BYTES)
            rsp = MEMORY_TOP - 0x4000;
        scribble(&random, rsp, 24);
        if (bytes > MEMORY_TOP - rsp)
            bytes = (uint32_t)(MEMORY_TOP - rsp);
        write_copy(1, rsp, bytes, &random);
        if (i % 100 == 99) { /* a sample without, and one of another thread's stack */
            *fixture_next(&f, 1) = (struct trace_slot_stack){0};
            fixture_write(&f);
            write_copy(2, MEMORY_TOP - MEMORY_BYTES, 8192, &random);
        }
    }
    fixture_check(&f);
    assert_in_range(f.stack_bytes / 3000, 1, 250); /* random registers alone are 100 */
    fixture_close(&f);
}

static void a_stack_that_stays_costs_four_bytes(void **state)
{
    struct test_random random = {1};

    (void)state;
    fixture_open(&f, HR_STACK_DWARF, TRACE_STACKS_CHUNK_BYTES_MIN);
    scribble(&random, MEMORY_TOP - 8192, 8192);
    for (uint32_t i = 0; i < 1000; i++) {
        struct test_random same = {2};

        write_copy(1, MEMORY_TOP - 8192, 8192, &same);
    }
    fixture_check(&f);
    assert_int_equal(f.chunks, 1);
    assert_in_range(f.stack_bytes, 8192, 8192 * 10 / 8 + 500 + 4 * 1000);
    fixture_close(&f);
}

static void runs_without_stacks_have_no_record(void **state)
{
    (void)state;
    fixture_open(&f, HR_STACK_DWARF, TRACE_STACKS_CHUNK_BYTES_MIN);
    for (uint32_t i = 0; i < 10; i++) {
        *fixture_next(&f, 1) = (struct trace_slot_stack){0};
        fixture_write(&f);
    }
    fixture_check(&f);
    assert_int_equal(f.stack_bytes, 0);
    fixture_close(&f);
}

static enum trace_status decode(const char *body, uint16_t bytes)
{
    const struct trace_record r = {
        .type = HR_REC_USER_STACKS, .bytes = bytes, .body = (const uint8_t *)body};
    enum trace_status status;

    trace_copies_decoder_begin(f.copies);
    trace_copies_decoder_record(f.copies, &r);
    status = trace_copies_decoder_next(f.copies);
    return status;
}

static void what_is_no_copy_is_refused(void **state)
{
    (void)state;
    fixture_open(&f, HR_STACK_DWARF, TRACE_STACKS_CHUNK_BYTES_MIN);
    assert_int_equal(decode("", 0), TRACE_BAD_RECORD);
    assert_int_equal(decode("\x00", 1), TRACE_OK);
    assert_false(f.copies->taken);
    assert_int_equal(decode("\x02\x00", 2), TRACE_BAD_RECORD); /* half of a register mask */
    assert_int_equal(decode("\x02\x00\x00", 3), TRACE_BAD_RECORD); /* no end of lines */
    assert_int_equal(decode("\x02\x00\x00\x00", 4), TRACE_OK);
    assert_true(f.copies->taken);
    assert_int_equal(decode("\x02\x00\x00\x01\x00\x00", 6), TRACE_BAD_RECORD); /* no such line */
    assert_int_equal(decode("\x42\x00\x00\x02\x01\x02\x00", 7), TRACE_BAD_RECORD); /* nor this */
    assert_int_equal(decode("\x42\x00\x00\x01\x01\x80", 6), TRACE_BAD_RECORD); /* half a word */
    assert_int_equal(decode("\x42\x00\x00\x01\x01\x0c\x00", 7), TRACE_OK);
    assert_int_equal(f.copies->stack_bytes, 64);
    assert_int_equal(f.copies->stack[0], 3);
    assert_int_equal(decode("\x83\x80\x02\x00\x00\x00", 6), TRACE_BAD_RECORD); /* 32769 bytes */
    assert_int_equal(decode("\x82\x80\x02\x00\x00\x00", 6), TRACE_OK);
    fixture_close(&f);
}

static void values_are_differences_known_ones_or_raw(void **state)
{
    (void)state;
    fixture_open(&f, HR_STACK_DWARF, TRACE_STACKS_CHUNK_BYTES_MIN);
    /* rax = 8 bytes, rdx = +1, rbx = rdx by its place, rsi: a place that is none */
    assert_int_equal(decode("\x02\x01\x00\x81\x10\x01\x02\x03\x04\x05\x06\x07\x88\x00", 14),
                     TRACE_OK);
    assert_int_equal(f.copies->registers[0], 0x8807060504030201);
    assert_int_equal(decode("\x02\x01\x00\x81\x10\x01\x02\x03\x04\x05\x06\x07", 12),
                     TRACE_BAD_RECORD);
    assert_int_equal(trace_copies_place(1), 632);
    assert_int_equal(decode("\x02\x0a\x00\x04\xf1\x09\x00", 7), TRACE_OK);
    assert_int_equal(f.copies->registers[1], 1);
    assert_int_equal(f.copies->registers[3], 1);
    assert_int_equal(decode("\x02\x10\x00\x83\x10\x00", 6), TRACE_BAD_RECORD);
    fixture_close(&f);
}

/* At the end of the address space lines wrap round to 0: whatever it means, it is bounded. */
static void a_copy_at_the_end_of_addresses(void **state)
{
    (void)state;
    fixture_open(&f, HR_STACK_DWARF, TRACE_STACKS_CHUNK_BYTES_MIN);
    assert_int_equal(decode("\x82\x02\x80\x00\x06\x06\x00\x00", 8), TRACE_BAD_RECORD);
    assert_int_equal(decode("\x82\x02\x80\x00\x06\x00", 6), TRACE_OK); /* rsp = -2, 256 bytes */
    assert_int_equal(f.copies->registers[7], UINT64_MAX - 1);
    assert_int_equal(f.copies->stack_bytes, 256);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_every_size_and_place),
        cmocka_unit_test(calls_and_returns),
        cmocka_unit_test(a_stack_that_stays_costs_four_bytes),
        cmocka_unit_test(runs_without_stacks_have_no_record),
        cmocka_unit_test(what_is_no_copy_is_refused),
        cmocka_unit_test(values_are_differences_known_ones_or_raw),
        cmocka_unit_test(a_copy_at_the_end_of_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
