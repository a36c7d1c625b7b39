/* The collector under load: whole blocks reach the file, and a failed write keeps counts and file
 * in agreement wherever it strikes.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collector/collect.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_writer.h"

#define CHUNKS 80
#define CHUNK_CAPACITY 40000u
#define STREAM_ROOM ((CHUNKS + 2) * CHUNK_CAPACITY)
#define BLOCK_BYTES (256u << 10)

static uint8_t *stream;
static size_t stream_bytes;
static uint64_t stream_samples;
static char path[] = "/tmp/test_collect_blocks.XXXXXX";

static void append(const void *bytes, size_t count)
{
    assert_true(stream_bytes + count <= STREAM_ROOM);
    memcpy(stream + stream_bytes, bytes, count);
    stream_bytes += count;
}

/* Fills chunks with samples that do not compress. */
static void append_data(struct test_random *random)
{
    static uint8_t buffer[CHUNK_CAPACITY];
    static struct trace_slot slot;
    struct trace_writer w;

    trace_writer_init(&w, buffer, sizeof buffer, 0, 1);
    for (int i = 0; i < CHUNKS; i++) {
        trace_writer_begin(&w, HR_CHUNK_DATA);
        do {
            slot.time += 1 + test_random_below(random, 100000);
            slot.ip = test_random_next(random);
            slot.counters[0] += test_random_below(random, 1u << 20);
        } while (trace_writer_sample(&w, &slot) == 0);
        append(w.buffer, trace_writer_finish(&w));
    }
    stream_samples = w.samples;
}

static int build_stream(void **state)
{
    static uint8_t buffer[TRACE_CHUNK_BYTES_MIN];
    const struct hr_meta_sampling sampling = {.event_count = 1};
    struct test_random random = {99};
    struct hr_file_header header;
    struct trace_writer m;

    (void)state;
    stream = malloc(STREAM_ROOM);
    assert_non_null(stream);
    trace_file_header(&header);
    append(&header, sizeof header);
    trace_writer_init(&m, buffer, sizeof buffer, HR_CPU_NONE, 1);
    trace_writer_begin(&m, HR_CHUNK_META);
    assert_int_equal(trace_writer_record(&m, HR_META_SAMPLING, TRACE_NO_TIME, &sampling,
                                         sizeof sampling, NULL, 0),
                     0);
    append(m.buffer, trace_writer_finish(&m));
    append_data(&random);
    signal(SIGXFSZ, SIG_IGN);
    return mkstemp(path) < 0;
}

static int clean_up(void **state)
{
    char former[sizeof path + 4];

    (void)state;
    free(stream);
    snprintf(former, sizeof former, "%s.old", path);
    unlink(former);
    return unlink(path);
}

static size_t file_bytes(void)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

/* Keeps the socket as full as it gets; returns how often the file ended at a block's end. */
static unsigned collect_under_load(struct collector *c)
{
    struct run_failure failure = {0};
    unsigned aligned = 0;
    size_t sent = 0;
    int pair[2], room = 1 << 20;

    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(collect_open(c, path, false, NULL, &failure), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    while (c->received_bytes < stream_bytes) {
        ssize_t now = send(pair[1], stream + sent, stream_bytes - sent, MSG_DONTWAIT);

        sent += now > 0 ? (size_t)now : 0;
        assert_true(collect_receive(c, pair[0]) > 0);
        aligned += file_bytes() > 0 && file_bytes() % BLOCK_BYTES == 0;
    }
    close(pair[1]);
    assert_int_equal(collect_receive(c, pair[0]), 0);
    close(pair[0]);
    return aligned;
}

/* The file's first `count` bytes are the stream's. */
static void check_prefix(size_t count)
{
    uint8_t *bytes = malloc(count + 1);
    FILE *file = fopen(path, "r");

    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, count, file), count);
    assert_memory_equal(bytes, stream, count);
    fclose(file);
    free(bytes);
}

static void writes_blocks_while_more_is_waiting(void **state)
{
    struct collector c;

    (void)state;
    assert_true(collect_under_load(&c) >= 3);
    assert_int_equal(file_bytes(), stream_bytes); /* the stream is idle: nothing is held back */
    assert_int_equal(c.samples, stream_samples);
    assert_int_equal(collect_close(&c, HR_HOST_GUEST_DIED, ""), 0);
    check_prefix(stream_bytes);
}

/* Samples of the whole chunks among the stream's first `bytes` bytes, and where the last one ends.
 */
static uint64_t samples_within(size_t bytes, size_t *end)
{
    uint64_t samples = 0;
    uint32_t at = 0;
    struct hr_chunk_header header;

    assert_int_equal(trace_check_file(stream, stream_bytes, &at), TRACE_OK);
    for (*end = at; *end + sizeof header <= bytes; *end += sizeof header + header.payload_bytes) {
        memcpy(&header, stream + *end, sizeof header);
        if (*end + sizeof header + header.payload_bytes > bytes)
            break;
        samples += header.sample_count;
    }
    return samples;
}

static void a_full_disk_leaves_whole_chunks_and_their_counts(void **state)
{
    static const size_t limits[] = {100, 50000, BLOCK_BYTES, BLOCK_BYTES + 1, 1000000, 2222222};
    struct rlimit before;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct rlimit full = {limits[i], before.rlim_max};
        struct collector c;
        size_t end;

        assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
        collect_under_load(&c);
        assert_int_equal(c.write_error, EFBIG);
        uint64_t samples = samples_within(limits[i], &end);
        assert_int_equal(c.samples, samples);
        end = samples != 0 ? end : 0; /* what holds no sample does not take the name */
        assert_int_equal(file_bytes(), end);
        assert_false(c.has_end);
        assert_int_not_equal(collect_close(&c, HR_HOST_GUEST_DIED, ""), 0);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        check_prefix(end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_blocks_while_more_is_waiting),
        cmocka_unit_test(a_full_disk_leaves_whole_chunks_and_their_counts),
    };
    return cmocka_run_group_tests_name("collect_blocks", tests, build_stream, clean_up);
}
