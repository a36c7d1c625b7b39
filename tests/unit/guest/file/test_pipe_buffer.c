/* The ring of bytes in a pipe, against a plain queue. */
#include "guest/file/pipe_buffer.c"

#include "tests/unit/test.h"

#define SIZE 64u
#define LARGE 256u

static uint8_t queue[LARGE * 4];
static size_t queued;

static void put(struct pipe_buffer *b, struct test_random *random, uint32_t bytes)
{
    uint8_t *at;
    uint32_t part;

    while (bytes && (part = pipe_buffer_free(b, &at))) {
        part = part < bytes ? part : bytes;
        for (uint32_t i = 0; i < part; i++)
            at[i] = queue[queued++] = (uint8_t)test_random_next(random);
        pipe_buffer_add(b, part);
        bytes -= part;
    }
}

static void take(struct pipe_buffer *b, uint32_t bytes)
{
    const uint8_t *at;
    uint32_t part;

    while (bytes && (part = pipe_buffer_filled(b, 0, &at))) {
        part = part < bytes ? part : bytes;
        assert_memory_equal(at, queue, part);
        memmove(queue, queue + part, queued -= part);
        pipe_buffer_drop(b, part);
        bytes -= part;
    }
}

static void look(const struct pipe_buffer *b)
{
    uint32_t done = 0;

    assert_int_equal(b->used, queued);
    while (done < b->used) {
        const uint8_t *at;
        uint32_t part = pipe_buffer_filled(b, done, &at);

        assert_true(part > 0 && at >= b->bytes && at + part <= b->bytes + b->size);
        assert_memory_equal(at, queue + done, part);
        done += part;
    }
    assert_int_equal(done, queued);
}

static void same_as_a_queue(void **state)
{
    static uint8_t memory[2][LARGE];
    struct test_random random = {7};
    struct pipe_buffer b = {.bytes = memory[0], .size = SIZE};

    (void)state;
    queued = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t bytes = (uint32_t)test_random_below(&random, SIZE + 10);

        switch (test_random_below(&random, 9)) {
        case 0:
            if (b.used <= SIZE) /* to the other memory, larger or smaller */
                pipe_buffer_move(&b, b.bytes == memory[0] ? memory[1] : memory[0],
                                 test_random_below(&random, 2) ? SIZE : LARGE);
            break;
        case 1:
        case 2:
        case 3:
            take(&b, bytes);
            break;
        default:
            put(&b, &random, bytes);
        }
        look(&b);
    }
}

static void full_and_empty(void **state)
{
    uint8_t memory[SIZE], *free;
    const uint8_t *at;
    struct pipe_buffer b = {.bytes = memory, .size = SIZE};

    (void)state;
    assert_int_equal(pipe_buffer_filled(&b, 0, &at), 0);
    assert_int_equal(pipe_buffer_free(&b, &free), SIZE);
    pipe_buffer_add(&b, SIZE);
    assert_int_equal(pipe_buffer_free(&b, &free), 0);
    pipe_buffer_drop(&b, 10);
    assert_int_equal(pipe_buffer_room(&b), 10);
    assert_ptr_equal((pipe_buffer_free(&b, &free), free), memory);
    pipe_buffer_drop(&b, SIZE - 10);
    assert_int_equal(pipe_buffer_free(&b, &free), SIZE); /* together again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_a_queue),
        cmocka_unit_test(full_and_empty),
    };

    return cmocka_run_group_tests_name("pipe_buffer", tests, NULL, NULL);
}
