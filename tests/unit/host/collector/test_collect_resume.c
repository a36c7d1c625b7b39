/* A collector that goes on with what another has left, wherever that was killed. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collector/collect.h"
#include "host/trace/trace_index.h"
#include "tests/unit/host/collect_fixture.h"

#define INDEX_MAX 1000

static char path[] = "/tmp/test_collect_resume.XXXXXX";

static int prepare(void **state)
{
    (void)state;
    build_stream();
    return mkstemp(path) < 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* The file holds these bytes and nothing else. */
static void put(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Where the last whole chunk of the stream's first `count` bytes ends. */
static size_t whole(size_t count)
{
    size_t end = 0;

    for (size_t i = 0; i < CHUNKS + 3 && chunk_ends[i] <= count; i++)
        end = chunk_ends[i];
    return end;
}

/* Sends the rest; the trace is then complete with a good index. */
static void complete(struct collector *c)
{
    uint8_t *bytes = malloc(stream_bytes);
    struct trace_index index;
    FILE *file;

    collect_take(c, stream + c->offset, stream_bytes - c->offset);
    collect_flush(c);
    assert_null(c->bad);
    assert_int_equal(c->write_error, 0);
    assert_int_equal(c->offset, stream_bytes);
    assert_int_equal(c->samples, CHUNKS * SAMPLES);
    assert_true(c->has_exit && c->exit.code == 5);
    assert_string_equal(c->unmeasured, "cycles");
    assert_int_equal(collect_close(c, HR_HOST_COMPLETE, ""), 0);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, stream_bytes, file), stream_bytes);
    assert_memory_equal(bytes, stream, stream_bytes);
    assert_int_equal(trace_index_load(&index, fileno(file)), 0);
    assert_int_equal(index.count, CHUNKS + 3); /* META, DATA, END, HOST */
    trace_index_free(&index);
    fclose(file);
    free(bytes);
}

static void goes_on_wherever_the_file_ends(void **state)
{
    struct collector c;

    (void)state;
    for (size_t cut = 0; cut <= stream_bytes; cut += cut < 200 ? 1 : 17) {
        put(stream, cut);
        assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
        assert_int_equal(c.offset, whole(cut));
        complete(&c);
    }
}

static void goes_on_after_it_was_closed(void **state)
{
    struct collector c;

    (void)state;
    for (size_t cut = 0; cut <= stream_bytes; cut += 97) {
        put(stream, 0);
        assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
        collect_take(&c, stream, cut);
        assert_int_equal(collect_whole_bytes(&c), whole(cut));
        assert_int_equal(collect_close(&c, HR_HOST_INTERRUPTED, "signal 2"), 0);
        assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
        assert_int_equal(c.offset, whole(cut)); /* without HOST and the index */
        assert_int_equal(collect_suspend(&c), 0);
        assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
        assert_int_equal(c.offset, whole(cut));
        complete(&c);
    }
}

static void a_damaged_tail_is_cut_off(void **state)
{
    uint8_t *damaged = malloc(stream_bytes + 100);
    struct collector c;

    (void)state;
    for (size_t i = 1; i < CHUNKS + 3; i++) {
        memcpy(damaged, stream, chunk_ends[i]);
        damaged[chunk_ends[i] - 1] ^= 1; /* the last byte of the last payload */
        put(damaged, chunk_ends[i]);
        assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
        assert_int_equal(c.offset, chunk_ends[i - 1]);
        complete(&c);
    }
    memcpy(damaged, stream, stream_bytes);
    memset(damaged + stream_bytes, 0, 100);
    put(damaged, stream_bytes + 100);
    assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
    assert_true(c.has_end);
    complete(&c);
    put("no trace at all, and longer than a header of a file is: 64 bytes, that is", 73);
    assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
    assert_int_equal(c.offset, 0);
    complete(&c);
    free(damaged);
}

static void what_is_no_trace_stays_with_the_caller(void **state)
{
    struct collector c;

    (void)state;
    put(stream, 0);
    assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
    collect_take(&c, stream, chunk_ends[2] + 10);
    collect_take(&c, "and now for something else: more than the header of a chunk has", 63);
    assert_non_null(c.bad);
    assert_int_equal(collect_whole_bytes(&c), chunk_ends[2]);
    assert_int_equal(c.used - c.verified, 73);
    collect_flush(&c);
    assert_int_equal(c.offset, chunk_ends[2]);
    assert_int_equal(c.used, 73);
    assert_int_equal(collect_suspend(&c), 0);
}

static void a_short_index_is_none(void **state)
{
    struct trace_index index;
    struct collector c;
    int fd;

    (void)state;
    put(stream, chunk_ends[3]);
    assert_int_equal(collect_resume(&c, path, 3, NULL), 0);
    collect_take(&c, stream + c.offset, stream_bytes - c.offset);
    assert_true(c.index_full);
    assert_int_equal(collect_close(&c, HR_HOST_COMPLETE, ""), 0);
    fd = open(path, O_RDONLY);
    assert_int_equal(trace_index_load(&index, fd), -ENODATA);
    close(fd);
}

/* What all collectors may take together is given back, and taken no more than once. */
static void collectors_share_the_room_for_indexes(void **state)
{
    atomic_size_t left = 100;
    struct collector c;

    (void)state;
    put(stream, 0);
    assert_int_equal(collect_resume(&c, path, INDEX_MAX, &left), 0);
    collect_take(&c, stream, stream_bytes);
    assert_true(c.index_full); /* too little for anybody */
    assert_int_equal(collect_close(&c, HR_HOST_COMPLETE, ""), 0);
    assert_int_equal(atomic_load(&left), 100);
    atomic_store(&left, 5000);
    put(stream, 0);
    assert_int_equal(collect_resume(&c, path, INDEX_MAX, &left), 0);
    collect_take(&c, stream, stream_bytes);
    assert_false(c.index_full);
    assert_true(atomic_load(&left) < 5000);
    assert_int_equal(collect_close(&c, HR_HOST_COMPLETE, ""), 0);
    assert_int_equal(atomic_load(&left), 5000);
}

static void two_do_not_write_one_file(void **state)
{
    struct collector c, second;

    (void)state;
    put(stream, 0);
    assert_int_equal(collect_resume(&c, path, INDEX_MAX, NULL), 0);
    assert_int_equal(collect_resume(&second, path, INDEX_MAX, NULL), -EWOULDBLOCK);
    assert_int_equal(collect_suspend(&c), 0);
    assert_int_equal(collect_resume(&second, "/no/such/directory/x", INDEX_MAX, NULL), -ENOENT);
    assert_int_equal(collect_resume(&second, "/dev/null", INDEX_MAX, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_wherever_the_file_ends),
        cmocka_unit_test(goes_on_after_it_was_closed),
        cmocka_unit_test(a_damaged_tail_is_cut_off),
        cmocka_unit_test(what_is_no_trace_stays_with_the_caller),
        cmocka_unit_test(a_short_index_is_none),
        cmocka_unit_test(collectors_share_the_room_for_indexes),
        cmocka_unit_test(two_do_not_write_one_file),
    };

    return cmocka_run_group_tests(tests, prepare, remove_file);
}
