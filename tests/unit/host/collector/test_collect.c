/* The collector: cuts of the stream at every byte, damage, disk full, and what the file holds then.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collector/collect.h"
#include "host/trace/trace_index.h"
#include "tests/unit/host/collect_fixture.h"

static char path[] = "/tmp/test_collect.XXXXXX";

static int prepare(void **state)
{
    (void)state;
    build_stream();
    return mkstemp(path) < 0;
}

static int remove_file(void **state)
{
    char former[sizeof path + 4];

    (void)state;
    snprintf(former, sizeof former, "%s.old", path);
    unlink(former);
    return unlink(path);
}

/* Sends bytes[0..count) through a socket in pieces and collects them. */
static void collect(struct collector *c, const uint8_t *bytes, size_t count, size_t piece)
{
    struct run_failure failure = {0};
    int pair[2];

    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(collect_open(c, path, false, NULL, &failure), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t sent = 0; sent < count; sent += piece) {
        size_t now = count - sent < piece ? count - sent : piece;

        assert_int_equal(write(pair[1], bytes + sent, now), now);
        assert_int_equal(collect_receive(c, pair[0]), now);
    }
    close(pair[1]);
    assert_int_equal(collect_receive(c, pair[0]), 0);
    close(pair[0]);
}

static size_t file_bytes(void)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

/* The file begins with the stream's first `count` bytes and has a good index of `chunks` chunks. */
static void check_file(size_t count, size_t chunks)
{
    uint8_t *bytes = malloc(STREAM_ROOM);
    struct trace_index index;
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, count, file), count);
    assert_memory_equal(bytes, stream, count);
    trace_index_init(&index);
    assert_int_equal(trace_index_load(&index, fileno(file)), 0);
    assert_int_equal(index.count, chunks);
    trace_index_free(&index);
    fclose(file);
    free(bytes);
}

static void keeps_every_byte_whatever_the_pieces(void **state)
{
    static const size_t pieces[] = {1, 7, 64, 4096, STREAM_ROOM};

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct collector c;

        collect(&c, stream, stream_bytes, pieces[i]);
        assert_null(c.bad);
        assert_true(c.has_end && c.has_exit);
        assert_int_equal(c.exit.code, 5);
        assert_int_equal(c.samples, CHUNKS * SAMPLES);
        assert_string_equal(c.unmeasured, "cycles");
        assert_int_equal(collect_reason(&c), HR_HOST_COMPLETE);
        assert_int_equal(collect_close(&c, HR_HOST_COMPLETE, ""), 0);
        check_file(stream_bytes, CHUNKS + 3);
    }
}

static void a_cut_stream_keeps_its_whole_chunks(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < stream_bytes; cut += 13) {
        struct collector c;
        size_t chunks = 0;

        while (chunk_ends[chunks] <= cut)
            chunks++;
        collect(&c, stream, cut, 500);
        assert_null(c.bad);
        assert_int_equal(collect_reason(&c), HR_HOST_GUEST_DIED);
        assert_int_equal(collect_close(&c, HR_HOST_GUEST_DIED, "cut"), 0);
        if (chunks < 2) /* a header alone does not take the place of a trace */
            assert_int_equal(file_bytes(), 0);
        else
            check_file(chunk_ends[chunks - 1], chunks); /* its chunks and HOST, less the header */
    }
}

static void damage_ends_the_file_before_it(void **state)
{
    (void)state;
    for (size_t place = 0; place < stream_bytes; place += 11) {
        struct collector c;
        size_t chunks = 0;

        while (chunk_ends[chunks] <= place)
            chunks++;
        stream[place] ^= 0x40;
        collect(&c, stream, stream_bytes, 1000);
        stream[place] ^= 0x40;
        /* A length in a damaged header may also ask for bytes that never come. */
        assert_true(c.bad != NULL || !c.has_end);
        assert_int_equal(collect_close(&c, HR_HOST_BAD_STREAM, "damage"), 0);
        if (chunks > 1)
            check_file(chunk_ends[chunks - 1], chunks);
    }
}

static void refuses_chunks_out_of_order(void **state)
{
    struct collector c;
    uint8_t *twisted = malloc(2 * STREAM_ROOM);
    size_t header = chunk_ends[0];
    size_t meta = chunk_ends[1] - header;

    (void)state;
    memcpy(twisted, stream, header);
    memcpy(twisted + header, stream + header + meta, stream_bytes - header - meta);
    collect(&c, twisted, stream_bytes - meta, STREAM_ROOM);
    assert_non_null(c.bad);
    collect_close(&c, HR_HOST_BAD_STREAM, "");
    memcpy(twisted, stream, stream_bytes);
    memcpy(twisted + stream_bytes, stream + header, meta);
    collect(&c, twisted, stream_bytes + meta, STREAM_ROOM);
    assert_true(c.has_end);
    assert_non_null(c.bad);
    collect_close(&c, HR_HOST_BAD_STREAM, "");
    free(twisted);
}

static void a_full_disk_is_reported(void **state)
{
    struct run_failure failure = {0};
    struct collector c;
    int pair[2];

    (void)state;
    assert_int_equal(collect_open(&c, "/dev/full", false, NULL, &failure), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(write(pair[1], stream, stream_bytes), stream_bytes);
    assert_int_equal(collect_receive(&c, pair[0]), stream_bytes);
    assert_int_equal(c.write_error, ENOSPC);
    assert_false(c.has_end); /* what is not in the file does not count */
    assert_int_equal(c.samples, 0);
    assert_int_equal(c.index.count, 0);
    assert_int_equal(collect_close(&c, HR_HOST_COMPLETE, ""), -ENOSPC);
    close(pair[0]);
    close(pair[1]);
    assert_int_equal(collect_open(&c, "/no/such/directory/x", false, NULL, &failure), -1);
    assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_every_byte_whatever_the_pieces),
        cmocka_unit_test(a_cut_stream_keeps_its_whole_chunks),
        cmocka_unit_test(damage_ends_the_file_before_it),
        cmocka_unit_test(refuses_chunks_out_of_order),
        cmocka_unit_test(a_full_disk_is_reported),
    };

    return cmocka_run_group_tests(tests, prepare, remove_file);
}
