/* The stream of a run: what its headers may be, and frames in pieces of every size. */
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

#include "lib/boot/run_stream.h"
#include "lib/crc32c.h"

static const uint8_t id[16] = {1, 2, 3};

static void test_names(void **state)
{
    static const char *const good[] = {"a", "lab-1_b.c", "Z9", "_-"};
    static const char *const bad[] = {"",    ".",  ".a",   "a/b", "a b", "\xc3\xa4",
                                      "a\n", "..", "~a\\", "-rf", "-"};
    char name[RUN_STREAM_NAME_BYTES + 1];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(run_stream_name_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(run_stream_name_ok(bad[i]));
    memset(name, 'n', sizeof name);
    assert_false(run_stream_name_ok(name)); /* no NUL within its field */
    name[RUN_STREAM_NAME_BYTES - 1] = 0;
    assert_true(run_stream_name_ok(name));
}

static void test_hello(void **state)
{
    struct run_hello hello, changed;
    char longest[RUN_STREAM_NAME_BYTES + 1] = {0};

    (void)state;
    assert_int_equal(run_stream_hello(&hello, id, NULL, "lab", "run"), 0);
    assert_int_equal(run_stream_hello_check(&hello), RUN_WELCOME_OK);
    assert_string_equal(hello.token, "");
    memset(longest, 't', RUN_STREAM_NAME_BYTES);
    assert_int_equal(run_stream_hello(&hello, id, longest, "lab", "run"), -EINVAL);
    assert_int_equal(run_stream_hello(&hello, id, "t", "", "run"), -EINVAL);
    assert_int_equal(run_stream_hello(&hello, id, "t", "lab", "../run"), -EINVAL);
    assert_int_equal(run_stream_hello(&hello, id, longest + 1, "lab", "run"), 0);
    for (size_t i = 0; i < sizeof hello; i++) { /* no byte may be another */
        changed = hello;
        ((uint8_t *)&changed)[i] ^= 0x10;
        assert_int_not_equal(run_stream_hello_check(&changed), RUN_WELCOME_OK);
    }
    changed = hello;
    changed.version++;
    assert_int_equal(run_stream_hello_check(&changed), RUN_WELCOME_VERSION);
    changed = hello;
    memset(changed.token, 't', sizeof changed.token); /* no end */
    changed.crc = crc32c(0, &changed, offsetof(struct run_hello, crc));
    assert_int_equal(run_stream_hello_check(&changed), RUN_WELCOME_STREAM);
    changed = hello;
    strcpy(changed.run, "a/b");
    changed.crc = crc32c(0, &changed, offsetof(struct run_hello, crc));
    assert_int_equal(run_stream_hello_check(&changed), RUN_WELCOME_NAME);
}

static void test_token(void **state)
{
    char a[RUN_STREAM_NAME_BYTES] = "secret", b[RUN_STREAM_NAME_BYTES] = "secret";

    (void)state;
    assert_true(run_stream_token_equal(a, b));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] ^= 1;
        assert_false(run_stream_token_equal(a, b));
        b[i] ^= 1;
    }
}

static void test_answers(void **state)
{
    const uint64_t have[RUN_STREAM_PORTS] = {0, 1, 2, 3, 4, 5};
    struct run_welcome welcome;
    struct run_ack ack;

    (void)state;
    run_stream_welcome(&welcome, RUN_WELCOME_OK, have);
    assert_true(run_stream_welcome_ok(&welcome));
    assert_memory_equal(welcome.have, have, sizeof have);
    for (size_t i = 0; i < sizeof welcome; i++) {
        ((uint8_t *)&welcome)[i] ^= 4;
        assert_false(run_stream_welcome_ok(&welcome));
        ((uint8_t *)&welcome)[i] ^= 4;
    }
    run_stream_welcome(&welcome, RUN_WELCOME_BUSY, NULL);
    assert_true(run_stream_welcome_ok(&welcome) && welcome.have[1] == 0);
    run_stream_ack(&ack, RUN_WELCOME_OK, 100);
    assert_true(run_stream_ack_ok(&ack, 100));
    assert_false(run_stream_ack_ok(&ack, 99));
    ack.magic++;
    assert_false(run_stream_ack_ok(&ack, 100));
    for (uint32_t status = 0; status <= RUN_WELCOME_STREAM; status++)
        assert_non_null(run_stream_status_text(status));
    assert_string_equal(run_stream_status_text(1u << 31), run_stream_status_text(1000));
}

/* Three ports, frames of 0 to 700 bytes, the end. */
#define FRAMES 40
#define STREAM_ROOM 32768
static uint8_t stream[STREAM_ROOM];
static size_t stream_bytes;
static uint8_t content[RUN_STREAM_PORTS][STREAM_ROOM];
static uint64_t content_bytes[RUN_STREAM_PORTS];

static int build(void **state)
{
    struct test_random random = {42};
    struct run_frame frame;

    (void)state;
    for (int i = 0; i < FRAMES; i++) {
        enum run_stream_port port = RUN_STREAM_TRACE + (unsigned int)test_random_below(&random, 3);
        uint32_t bytes = i % 7 == 3 ? 0 : (uint32_t)test_random_below(&random, 700);
        uint8_t *to = content[port] + content_bytes[port];

        run_stream_frame(&frame, port, content_bytes[port], bytes);
        for (uint32_t b = 0; b < bytes; b++)
            to[b] = (uint8_t)test_random_next(&random);
        memcpy(stream + stream_bytes, &frame, sizeof frame);
        memcpy(stream + stream_bytes + sizeof frame, to, bytes);
        stream_bytes += sizeof frame + bytes;
        content_bytes[port] += bytes;
    }
    run_stream_frame(&frame, RUN_STREAM_END, 0, 0);
    memcpy(stream + stream_bytes, &frame, sizeof frame);
    stream_bytes += sizeof frame;
    return 0;
}

static void test_pieces(void **state)
{
    (void)state;
    for (size_t size = 1; size <= stream_bytes; size += size < 64 ? 1 : size / 3) {
        struct run_parser parser = {0};
        struct run_piece piece;
        uint64_t have[RUN_STREAM_PORTS] = {0};
        int ends = 0;

        for (size_t at = 0; at < stream_bytes; at += size) {
            size_t count = stream_bytes - at < size ? stream_bytes - at : size;
            size_t taken = 0;

            do {
                taken += run_parser_next(&parser, stream + at + taken, count - taken, &piece);
                assert_int_not_equal(piece.kind, RUN_PIECE_BAD);
                ends += piece.kind == RUN_PIECE_END;
                if (piece.kind != RUN_PIECE_DATA)
                    continue;
                assert_int_equal(piece.offset, have[piece.port]);
                assert_memory_equal(piece.bytes, content[piece.port] + piece.offset, piece.count);
                have[piece.port] += piece.count;
            } while (piece.kind != RUN_PIECE_MORE);
            assert_int_equal(taken, count);
        }
        assert_memory_equal(have, content_bytes, sizeof have);
        assert_int_equal(ends, 1);
    }
}

static void test_no_frames(void **state)
{
    static const struct run_frame wrong[] = {
        {.magic = RUN_FRAME_MAGIC + 1, .port = 1},
        {.magic = RUN_FRAME_MAGIC, .port = RUN_STREAM_PORTS},
        {.magic = RUN_FRAME_MAGIC, .port = 1, .bytes = RUN_FRAME_BYTES_MAX + 1},
        {.magic = RUN_FRAME_MAGIC, .port = 1, .reserved = 1},
        {.magic = RUN_FRAME_MAGIC, .port = 1, .bytes = 2, .offset = UINT64_MAX - 1},
        {.magic = RUN_FRAME_MAGIC, .port = RUN_STREAM_END, .bytes = 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct run_frame frame = wrong[i];
        struct run_parser parser = {0};
        struct run_piece piece;

        frame.header_crc = crc32c(0, &frame, sizeof frame);
        assert_false(run_stream_frame_ok(&frame));
        run_parser_next(&parser, &frame, sizeof frame, &piece);
        assert_int_equal(piece.kind, RUN_PIECE_BAD);
        run_stream_frame(&frame, RUN_STREAM_LOG, 0, 0); /* nothing mends it */
        assert_int_equal(run_parser_next(&parser, &frame, sizeof frame, &piece), 0);
        assert_int_equal(piece.kind, RUN_PIECE_BAD);
    }
}

static void test_changed_bytes(void **state)
{
    struct run_frame frame;

    (void)state;
    run_stream_frame(&frame, RUN_STREAM_FILES, 1ull << 40, RUN_FRAME_BYTES_MAX);
    assert_true(run_stream_frame_ok(&frame));
    for (size_t i = 0; i < sizeof frame; i++) {
        ((uint8_t *)&frame)[i] ^= 1;
        assert_false(run_stream_frame_ok(&frame));
        ((uint8_t *)&frame)[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_hello),
        cmocka_unit_test(test_token),         cmocka_unit_test(test_answers),
        cmocka_unit_test(test_pieces),        cmocka_unit_test(test_no_frames),
        cmocka_unit_test(test_changed_bytes),
    };

    return cmocka_run_group_tests(tests, build, NULL);
}
