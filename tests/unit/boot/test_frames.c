/* boot/uefi/frames.c: streams out of a buffer of many ranges, whole, cut and damaged. */
#include "boot/uefi/frames.c"

#include <stdlib.h>

#include "tests/unit/test.h"

#define BUFFER_BYTES 100000

/* A buffer of several blocks, each of exactly its size, so that ASan sees any read past one. */
struct fixture {
    struct boot_memory_range ranges[BOOT_MEMORY_RANGES_MAX];
    uint32_t count;
    uint8_t flat[BUFFER_BYTES];
    uint64_t used;
    uint64_t offsets[RUN_STREAM_PORTS];
};
static struct fixture fixture;
static struct frames frames;

static uint8_t byte_of(enum run_stream_port port, uint64_t offset)
{
    return (uint8_t)(port * 31 + offset * 7 + offset / 256);
}

static void add_frame(enum run_stream_port port, uint32_t bytes)
{
    struct run_frame frame;

    run_stream_frame(&frame, port, fixture.offsets[port], bytes);
    memcpy(fixture.flat + fixture.used, &frame, sizeof frame);
    fixture.used += sizeof frame;
    for (uint32_t i = 0; i < bytes; i++)
        fixture.flat[fixture.used++] = byte_of(port, fixture.offsets[port]++);
}

static void begin(void)
{
    memset(&fixture, 0, sizeof fixture);
}

/* Cuts what was added into ranges of the given sizes, the last one again and again. */
static void place(const uint64_t *sizes, size_t count)
{
    uint64_t at = 0;

    fixture.count = 0;
    fixture.ranges[fixture.count++] = (struct boot_memory_range){16, 1 << 20, BOOT_MEMORY_RAM, 0};
    for (size_t i = 0; at < fixture.used; i++) {
        uint64_t bytes = sizes[i < count ? i : count - 1];
        uint8_t *block = malloc(bytes);

        assert_non_null(block);
        assert_true(fixture.count < BOOT_MEMORY_RANGES_MAX);
        for (uint64_t k = 0; k < bytes; k++)
            block[k] = at + k < fixture.used ? fixture.flat[at + k] : 0xee;
        at += bytes;
        fixture.ranges[fixture.count++] =
            (struct boot_memory_range){(uintptr_t)block, bytes, BOOT_MEMORY_BUFFER, 0};
    }
}

static void release(void)
{
    for (uint32_t i = 1; i < fixture.count; i++)
        free((void *)(uintptr_t)fixture.ranges[i].base);
}

static void check(uint64_t bytes)
{
    frames_check(&frames, fixture.ranges, fixture.count, bytes);
}

/* The stream comes out as it went in, `bytes` of it. */
static void assert_stream(enum run_stream_port port, uint64_t bytes)
{
    struct frames_walk walk;
    struct frames_piece piece;
    uint64_t at = 0;

    assert_true(frames.ports[port] == bytes);
    frames_walk(&walk, &frames);
    while (frames_next(&walk, port, &piece)) {
        assert_true(piece.count > 0);
        for (uint64_t i = 0; i < piece.count; i++)
            assert_int_equal(piece.bytes[i], byte_of(port, at++));
    }
    assert_true(at == bytes);
}

static void add_some(void)
{
    begin();
    add_frame(RUN_STREAM_LOG, 100);
    add_frame(RUN_STREAM_TRACE, 5000);
    add_frame(RUN_STREAM_STDOUT, 0);
    add_frame(RUN_STREAM_STDOUT, 1);
    add_frame(RUN_STREAM_TRACE, 777);
    add_frame(RUN_STREAM_LOG, 23);
    add_frame(RUN_STREAM_FILES, 3000);
}

static void reads_streams(void **state)
{
    static const uint64_t sizes[][3] = {
        {BUFFER_BYTES}, {24, 1, 9000}, {5, 19, 4096}, {23, 2, 160}, {100, 100, 1000}};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        add_some();
        place(sizes[i], sizes[i][1] ? 3 : 1);
        check(fixture.used);
        assert_null(frames.damage);
        assert_true(frames.bytes == fixture.used);
        assert_stream(RUN_STREAM_LOG, 123);
        assert_stream(RUN_STREAM_TRACE, 5777);
        assert_stream(RUN_STREAM_STDOUT, 1);
        assert_stream(RUN_STREAM_STDERR, 0);
        assert_stream(RUN_STREAM_FILES, 3000);
        release();
    }
}

static void ends_at_damage(void **state)
{
    const uint64_t sizes[] = {1000};
    uint64_t good;

    (void)state;
    add_some();
    good = fixture.used;
    fixture.offsets[RUN_STREAM_TRACE] += 5; /* a gap */
    add_frame(RUN_STREAM_TRACE, 50);
    place(sizes, 1);
    check(fixture.used);
    assert_string_equal(frames.damage, "a part of a stream is missing");
    assert_true(frames.bytes == good);
    assert_stream(RUN_STREAM_TRACE, 5777);
    release();

    add_some();
    good = fixture.used;
    add_frame(RUN_STREAM_TRACE, 50);
    fixture.flat[good + 9] ^= 1;
    place(sizes, 1);
    check(fixture.used);
    assert_string_equal(frames.damage, "there is a bad frame");
    assert_true(frames.bytes == good);
    assert_stream(RUN_STREAM_FILES, 3000);
    release();
}

static void ends_at_the_end(void **state)
{
    const uint64_t sizes[] = {1000, 3000};

    (void)state;
    add_some();
    place(sizes, 2);
    check(fixture.used - 1); /* the last frame is not all there: what is, is taken */
    assert_string_equal(frames.damage, "the last frame is cut");
    assert_stream(RUN_STREAM_FILES, 2999);
    check(0);
    assert_null(frames.damage);
    assert_stream(RUN_STREAM_TRACE, 0);
    check(UINT64_MAX); /* what lies behind the last frame is none */
    assert_non_null(frames.damage);
    assert_true(frames.bytes == fixture.used);
    assert_stream(RUN_STREAM_FILES, 3000);
    release();

    add_some();
    add_frame(RUN_STREAM_END, 0);
    place(sizes, 2);
    check(fixture.used);
    assert_null(frames.damage);
    assert_stream(RUN_STREAM_FILES, 3000);
    release();
}

static void add_text(enum run_stream_port port, const char *text)
{
    uint32_t bytes = (uint32_t)strlen(text);

    add_frame(port, bytes);
    memcpy(fixture.flat + fixture.used - bytes, text, bytes);
}

static const char *last_line(const char *start, size_t room)
{
    static char out[600];

    memset(out, '#', sizeof out);
    frames_last_line(&frames, RUN_STREAM_LOG, start, out, room);
    return out;
}

static void finds_the_last_line(void **state)
{
    const uint64_t sizes[] = {30, 11, 100};
    char long_line[600];

    (void)state;
    memset(long_line, 'n', sizeof long_line);
    long_line[sizeof long_line - 1] = '\0';
    begin();
    add_text(RUN_STREAM_LOG, "notice: first\nand an");
    add_text(RUN_STREAM_STDOUT, "notice: of the program\n");
    add_text(RUN_STREAM_LOG, "other line\nnot");
    add_text(RUN_STREAM_LOG, "ice: the last\nsome more\n\nnotic");
    place(sizes, 3);
    check(fixture.used);
    assert_null(frames.damage);
    assert_string_equal(last_line("notice: ", 100), "the last");
    assert_string_equal(last_line("notice: ", 4), "the");
    assert_string_equal(last_line("and ", 100), "another line");
    assert_string_equal(last_line("not", 100), "ic");
    assert_string_equal(last_line("nobody", 100), "");
    release();

    begin();
    add_text(RUN_STREAM_LOG, long_line);
    place(sizes, 3);
    check(fixture.used);
    assert_int_equal(strlen(last_line("nn", 600)), 510);
    release();
}

static void survives_anything(void **state)
{
    struct test_random random = {99};
    const uint64_t sizes[] = {700, 1, 2000};

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct frames_walk walk;
        struct frames_piece piece;
        uint64_t sum = 0;

        add_some();
        for (uint64_t flips = test_random_below(&random, 4); flips > 0; flips--)
            fixture.flat[test_random_below(&random, fixture.used)] ^=
                (uint8_t)(1u << test_random_below(&random, 8));
        place(sizes, 3);
        check(test_random_below(&random, fixture.used + 100));
        frames_walk(&walk, &frames);
        while (frames_next(&walk, RUN_STREAM_TRACE, &piece))
            sum += piece.count;
        assert_true(sum == frames.ports[RUN_STREAM_TRACE]);
        release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_streams),     cmocka_unit_test(ends_at_damage),
        cmocka_unit_test(ends_at_the_end),   cmocka_unit_test(finds_the_last_line),
        cmocka_unit_test(survives_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
