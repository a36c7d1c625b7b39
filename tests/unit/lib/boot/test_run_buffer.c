/* lib/boot/run_buffer.c: frames in pieces of odd sizes, straddling, full; read back as a reader
 * would.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/boot/run_buffer.h"
#include "lib/boot/run_stream.h"

#define PORT_BYTES_MAX (1u << 16)

/* Pieces of the given sizes in one allocation each, so that ASan sees every byte beyond. */
static struct run_buffer *make(const uint64_t *sizes, size_t count)
{
    struct run_buffer *buffer = calloc(1, sizeof *buffer);

    assert_non_null(buffer);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(run_buffer_add(buffer, malloc(sizes[i]), sizes[i]), 0);
    return buffer;
}

static void destroy(struct run_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->piece_count; i++)
        free(buffer->pieces[i].bytes);
    free(buffer);
}

/* What is in it, as one piece. */
static uint8_t *joined(const struct run_buffer *buffer)
{
    uint8_t *bytes = malloc(buffer->used + 1);
    uint64_t at = 0;

    for (uint32_t i = 0; i < buffer->piece_count && at < buffer->used; i++) {
        uint64_t part = buffer->pieces[i].count;

        part = part < buffer->used - at ? part : buffer->used - at;
        memcpy(bytes + at, buffer->pieces[i].bytes, part);
        at += part;
    }
    assert_int_equal(at, buffer->used);
    return bytes;
}

/* The stream of one port: how many bytes; every frame is checked, none is cut. */
static uint64_t extract(const struct run_buffer *buffer, enum run_stream_port port, uint8_t *out)
{
    struct run_parser parser = {0};
    struct run_piece piece;
    uint8_t *all = joined(buffer);
    uint64_t at = 0, got = 0;

    while (at < buffer->used) {
        at += run_parser_next(&parser, all + at, buffer->used - at, &piece);
        assert_int_not_equal(piece.kind, RUN_PIECE_BAD);
        if (piece.kind != RUN_PIECE_DATA || piece.port != port)
            continue;
        assert_int_equal(piece.offset, got);
        memcpy(out + got, piece.bytes, piece.count);
        got += piece.count;
    }
    assert_int_equal(parser.left, 0);
    assert_int_equal(parser.used, 0);
    free(all);
    return got;
}

static void nothing_fits_without_pieces(void **state)
{
    struct run_buffer buffer = {0};

    (void)state;
    assert_int_equal(run_buffer_put(&buffer, RUN_STREAM_TRACE, "x", 1), -ENOSPC);
    assert_int_equal(run_buffer_put(&buffer, RUN_STREAM_TRACE, "", 0), 0);
    assert_int_equal(buffer.used, 0);
}

static void headers_and_data_straddle(void **state)
{
    static const uint64_t sizes[] = {1, 7, 0, 16, 3, 64, 9};
    struct run_buffer *buffer = make(sizes, sizeof sizes / sizeof sizes[0]);
    uint8_t out[100];

    (void)state;
    assert_int_equal(buffer->capacity, 100);
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_STDOUT, "hello", 5), 0);
    assert_int_equal(buffer->used, 29);
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_LOG, "a log", 5), 0);
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_STDOUT, "world", 6), 0);
    assert_int_equal(extract(buffer, RUN_STREAM_STDOUT, out), 11);
    assert_string_equal((const char *)out, "helloworld");
    assert_int_equal(extract(buffer, RUN_STREAM_LOG, out), 5);
    assert_memory_equal(out, "a log", 5);
    destroy(buffer);
}

static void full_to_the_last_byte(void **state)
{
    static const uint64_t sizes[] = {30, 20};
    struct run_buffer *buffer = make(sizes, 2);
    uint8_t bytes[64] = "0123456789012345678901234567890", out[64];

    (void)state;
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_TRACE, bytes, 27), -ENOSPC);
    assert_int_equal(buffer->used, 0);
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_TRACE, bytes, 26), 0);
    assert_int_equal(buffer->used, buffer->capacity);
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_TRACE, bytes, 1), -ENOSPC);
    assert_int_equal(extract(buffer, RUN_STREAM_TRACE, out), 26);
    assert_memory_equal(out, bytes, 26);
    destroy(buffer);
}

/* What so many bytes of a port need with their frames. */
static uint64_t framed_bytes(uint64_t count)
{
    return count +
           (count + RUN_FRAME_BYTES_MAX - 1) / RUN_FRAME_BYTES_MAX * sizeof(struct run_frame);
}

static void long_ones_take_several_frames(void **state)
{
    const uint64_t count = 2ull * RUN_FRAME_BYTES_MAX + 5, size = framed_bytes(count);
    struct run_buffer *buffer = make(&size, 1);
    uint8_t *bytes = malloc(count), *out = malloc(count);

    (void)state;
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 12));
    assert_int_equal(size, count + 3 * sizeof(struct run_frame));
    assert_int_equal(run_buffer_put(buffer, RUN_STREAM_FILES, bytes, count), 0);
    assert_int_equal(buffer->used, size);
    assert_int_equal(extract(buffer, RUN_STREAM_FILES, out), count);
    assert_memory_equal(out, bytes, count);
    free(bytes);
    free(out);
    destroy(buffer);
}

/* The most that fits does, and one more byte does not. */
static void fits_is_exact(void **state)
{
    static const uint64_t whole = sizeof(struct run_frame) + RUN_FRAME_BYTES_MAX;
    const uint64_t rooms[] = {0,          1,
                              23,         24,
                              25,         1000,
                              whole - 1,  whole,
                              whole + 1,  whole + 24,
                              whole + 25, 3 * whole - 1,
                              3 * whole,  3 * whole + 100};

    (void)state;
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        uint64_t fits = run_buffer_fits(rooms[i]);

        assert_true(framed_bytes(fits) <= rooms[i]);
        assert_true(framed_bytes(fits + 1) > rooms[i]);
    }
}

static void too_many_pieces(void **state)
{
    struct run_buffer buffer = {0};
    uint8_t byte;

    (void)state;
    for (int i = 0; i < RUN_BUFFER_PIECES_MAX; i++)
        assert_int_equal(run_buffer_add(&buffer, &byte, 1), 0);
    assert_int_equal(run_buffer_add(&buffer, &byte, 1), -ENOSPC);
    assert_int_equal(buffer.capacity, RUN_BUFFER_PIECES_MAX);
}

/* Random pieces and writes: what was put is what comes out, up to what did not fit. */
static void random_pieces(void **state)
{
    static uint8_t wanted[RUN_STREAM_PORTS][PORT_BYTES_MAX], out[PORT_BYTES_MAX];

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct test_random r = {seed};
        uint64_t sizes[8], used[RUN_STREAM_PORTS] = {0};
        int status = 0;

        for (int i = 0; i < 8; i++)
            sizes[i] = test_random_below(&r, 3) ? test_random_below(&r, 2000) : 1;
        struct run_buffer *buffer = make(sizes, 8);
        while (status == 0) {
            enum run_stream_port port = 1 + test_random_below(&r, RUN_STREAM_PORTS - 1);
            uint64_t count = 1 + test_random_below(&r, 300);

            for (uint64_t i = 0; i < count; i++)
                wanted[port][used[port] + i] = (uint8_t)test_random_next(&r);
            status = run_buffer_put(buffer, port, wanted[port] + used[port], count);
            if (status == 0)
                used[port] += count;
        }
        assert_int_equal(status, -ENOSPC);
        for (int port = 1; port < RUN_STREAM_PORTS; port++) {
            assert_int_equal(extract(buffer, port, out), used[port]);
            assert_memory_equal(out, wanted[port], used[port]);
        }
        destroy(buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_fits_without_pieces),
        cmocka_unit_test(headers_and_data_straddle),
        cmocka_unit_test(full_to_the_last_byte),
        cmocka_unit_test(long_ones_take_several_frames),
        cmocka_unit_test(fits_is_exact),
        cmocka_unit_test(too_many_pieces),
        cmocka_unit_test(random_pieces),
    };

    return cmocka_run_group_tests_name("run_buffer", tests, NULL, NULL);
}
