/* Tests of host/trace/trace_index.c: what is written loads again, anything else is refused. */
#include "host/trace/trace_index.h"

#include <errno.h>
#include <fcntl.h>

#include "tests/unit/host/fixture.h"

#define CHUNK_BYTES 100u /* of the pretended chunks: 64 of header, 36 of payload */

/* Appends an index of `count` chunks behind as many bytes of pretended chunks. */
static int write_indexed(struct fixture *f, size_t count)
{
    uint64_t bytes = sizeof(struct hr_file_header) + count * CHUNK_BYTES;
    struct trace_index index;
    uint64_t written;
    int fd;

    f->count = sizeof(struct hr_file_header);
    fixture_file(f);
    fd = open(f->path, O_RDWR);
    assert_true(fd >= 0);
    trace_index_init(&index);
    for (size_t i = 0; i < count; i++) {
        const struct hr_chunk_header header = {
            .type = i == 0 ? HR_CHUNK_META : HR_CHUNK_DATA,
            .cpu = (uint16_t)(i % 3),
            .sequence = (uint32_t)i,
            .payload_bytes = CHUNK_BYTES - sizeof header,
            .time_first = i * 10,
            .time_last = i * 10 + 9,
            .sample_count = 5,
            .lost_count = i % 2,
        };
        assert_int_equal(
            trace_index_add(&index, &header, sizeof(struct hr_file_header) + i * CHUNK_BYTES), 0);
    }
    assert_int_equal(lseek(fd, (off_t)bytes, SEEK_SET), (off_t)bytes);
    assert_int_equal(trace_index_append(&index, fd, bytes, &written), 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), (off_t)(bytes + written));
    trace_index_free(&index);
    return fd;
}

static void written_index_loads(void **state)
{
    static const size_t counts[] = {0, 1, 1365, 1366, 21000, 60000};
    struct trace_index index;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        int fd = write_indexed(&f, counts[n]);

        assert_int_equal(trace_index_load(&index, fd), 0);
        assert_int_equal(index.count, counts[n]);
        for (size_t i = 0; i < index.count; i++) {
            assert_int_equal(index.entries[i].sequence, i);
            assert_int_equal(index.entries[i].cpu, i % 3);
            assert_int_equal(index.entries[i].time_last, i * 10 + 9);
            assert_int_equal(index.entries[i].lost_count, i % 2);
        }
        trace_index_free(&index);
        close(fd);
    }
    fixture_free(&f);
}

static void find_gives_the_first_chunk_at_a_time(void **state)
{
    struct trace_index index;
    struct fixture f;
    int fd;

    (void)state;
    fixture_init(&f);
    fd = write_indexed(&f, 100);
    assert_int_equal(trace_index_load(&index, fd), 0);
    trace_index_free(&index);
    close(fd);
    fixture_free(&f);
}

static void missing_index_is_no_data(void **state)
{
    struct trace_index index;
    struct fixture f;
    int fd;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 100);
    fixture_end(&f);
    fd = open(fixture_file(&f), O_RDONLY);
    assert_int_equal(trace_index_load(&index, fd), -ENODATA);
    close(fd);
    fixture_free(&f);
}

/* Whatever byte of the index part changes, the index is refused or says the same. */
static void damaged_index_is_refused(void **state)
{
    struct trace_index index;
    struct fixture f;
    off_t end, first = (off_t)(sizeof(struct hr_file_header) + 40 * CHUNK_BYTES);
    int fd, refused = 0;

    (void)state;
    fixture_init(&f);
    fd = write_indexed(&f, 40);
    end = lseek(fd, 0, SEEK_END);
    for (off_t at = first; at < end; at++) {
        uint8_t byte, changed;
        int result;

        assert_int_equal(pread(fd, &byte, 1, at), 1);
        changed = byte ^ 0x41;
        assert_int_equal(pwrite(fd, &changed, 1, at), 1);
        result = trace_index_load(&index, fd);
        assert_true(result == -EBADMSG || result == -ENODATA);
        refused++;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_int_equal(refused, end - first);
    assert_int_equal(trace_index_load(&index, fd), 0);
    trace_index_free(&index);
    assert_int_equal(ftruncate(fd, end - 1), 0);
    assert_int_equal(trace_index_load(&index, fd), -ENODATA);
    close(fd);
    fixture_free(&f);
}

/* A flood of tiny chunks costs a bounded amount of memory. */
static void full_index_refuses_more(void **state)
{
    const struct hr_chunk_header header = {.type = HR_CHUNK_DATA};
    struct trace_index index;

    (void)state;
    trace_index_init(&index);
    for (uint32_t i = 0; i < TRACE_INDEX_ENTRIES_MAX; i++)
        if (trace_index_add(&index, &header, i) != 0)
            fail();
    assert_int_equal(trace_index_add(&index, &header, 0), -E2BIG);
    assert_int_equal(index.count, TRACE_INDEX_ENTRIES_MAX);
    trace_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_index_loads),
        cmocka_unit_test(find_gives_the_first_chunk_at_a_time),
        cmocka_unit_test(missing_index_is_no_data),
        cmocka_unit_test(damaged_index_is_refused),
        cmocka_unit_test(full_index_refuses_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
