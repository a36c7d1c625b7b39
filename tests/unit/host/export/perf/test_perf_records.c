/* Tests of host/export/perf/perf_records.c, numbers.c and rounds.c. */
#include "host/export/perf/perf_records.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/export/common/numbers.h"
#include "host/export/perf/rounds.h"
#include "host/trace/trace_index.h"
#include "tests/unit/test.h"

#define THREADS 65536u

static struct output out;
static struct trace_scan scan;
static struct perf_records records;
static uint64_t words[2048];

static void begin(void)
{
    output_init(&out, memfd_create("out", 0));
    assert_true(out.fd >= 0);
    records = (struct perf_records){.team = row_team_new(&out, &scan, NULL, NULL)};
    assert_non_null(records.team);
}

/* What was written, in words: how many. */
static size_t written(void)
{
    ssize_t bytes;

    row_team_free(records.team);
    assert_int_equal(output_flush(&out), 0);
    memset(words, 0xaa, sizeof words);
    bytes = pread(out.fd, words, sizeof words, 0);
    close(out.fd);
    assert_int_equal(bytes, records.bytes);
    assert_int_equal(words[0] >> 48, bytes); /* the header's length */
    return (size_t)bytes / 8;
}

static const struct perf_place place = {.pid = 1000, .tid = 1001, .cpu = 3, .ns = 5000, .id = 40};

/* The last words: pid and tid, time, CPU, identifier. */
static void trailer_is(size_t count, uint32_t pid, uint32_t tid)
{
    assert_int_equal(words[count - 4], pid | (uint64_t)tid << 32);
    assert_int_equal(words[count - 3], 5000);
    assert_int_equal(words[count - 2], 3);
    assert_int_equal(words[count - 1], 40);
}

static void test_sample(void **state)
{
    static const uint64_t values[] = {7, 1234};
    const struct perf_sample sample = {
        .place = place, .ip = 0x401000, .members = 2, .values = values};

    (void)state;
    begin();
    perf_records_sample(&records, &sample);
    assert_int_equal(written(), 12);
    assert_int_equal(words[0] & 0xffffffffffff,
                     PERF_RECORD_SAMPLE | (uint64_t)PERF_RECORD_MISC_USER << 32);
    assert_int_equal(words[1], 40);
    assert_int_equal(words[2], 0x401000);
    assert_int_equal(words[3], 1000 | 1001ull << 32);
    assert_int_equal(words[4], 5000);
    assert_int_equal(words[5], 3);
    assert_int_equal(words[6], 1);
    assert_int_equal(words[7], 2);
    assert_int_equal(words[8], 7);
    assert_int_equal(words[9], 40);
    assert_int_equal(words[10], 1234);
    assert_int_equal(words[11], 41);
    assert_int_equal(records.latest_ns, 5000);
}

static void test_chain(void **state)
{
    static const uint64_t values[] = {1};
    struct stacks stacks;
    struct perf_sample sample = {
        .place = place, .ip = 0xffffffff80000010, .kernel = true, .members = 1, .values = values};

    (void)state;
    assert_int_equal(stacks_init(&stacks), 0);
    sample.stacks = &stacks;
    sample.stack = stacks_child(&stacks, stacks_child(&stacks, HR_STACK_WHOLE, 0x401101), 0x401201);
    begin();
    perf_records_sample(&records, &sample);
    assert_int_equal(written(), 8 + 2 + 1 + 5);
    assert_int_equal(words[0] >> 32 & 0xffff, PERF_RECORD_MISC_KERNEL);
    assert_int_equal(words[10], 5);
    assert_int_equal(words[11], (uint64_t)PERF_CONTEXT_KERNEL);
    assert_int_equal(words[12], 0xffffffff80000010);
    assert_int_equal(words[13], (uint64_t)PERF_CONTEXT_USER);
    assert_int_equal(words[14], 0x401200); /* within the calls */
    assert_int_equal(words[15], 0x401100);
    stacks_free(&stacks);
}

static void test_deep_chain(void **state)
{
    static const uint64_t values[1 + HR_EVENTS_MAX];
    struct stacks stacks;
    struct perf_sample sample = {.place = place, .members = 1 + HR_EVENTS_MAX, .values = values};

    (void)state;
    assert_int_equal(stacks_init(&stacks), 0);
    sample.stacks = &stacks;
    sample.stack = HR_STACK_WHOLE;
    for (uint64_t i = 1; i < 3000; i++) /* each frame in the other ring: the longest there can be */
        sample.stack = stacks_child(&stacks, sample.stack, i | (i & 1) << 63);
    begin();
    perf_records_sample(&records, &sample);
    row_team_free(records.team);
    assert_int_equal(output_flush(&out), 0);
    assert_int_equal(records.bytes, 8 * (8 + 28 + 3 + 2 * PERF_RECORDS_FRAMES_MAX));
    close(out.fd);
    stacks_free(&stacks);
}

static void test_map(void **state)
{
    struct trace_map map = {.meta = {.start = 0x401000,
                                     .end = 0x402000,
                                     .file_offset = 0x1000,
                                     .flags = HR_MAP_EXEC,
                                     .build_id_bytes = 20}};
    char path[9000];
    size_t count;

    (void)state;
    memset(map.build_id, 0x5a, 20);
    begin();
    perf_records_map(&records, &place, &map, "/bin/prog");
    count = written();
    assert_int_equal(count, 9 + 2 + 4);
    assert_int_equal(words[2], 0x401000);
    assert_int_equal(words[3], 0x1000);
    assert_int_equal(words[4], 0x1000);
    assert_int_equal(words[5], 0x5a5a5a5a00000014);
    assert_string_equal((const char *)&words[9], "/bin/prog");

    map.meta.flags |= HR_MAP_KERNEL;
    begin();
    perf_records_map(&records, &place, &map, "/k");
    written();
    assert_int_equal(words[0] >> 32 & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
    assert_int_equal(words[1], 0xffffffff);

    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    begin();
    perf_records_map(&records, &place, &map, path);
    assert_int_equal(written(), 9 + 512 + 4); /* cut */
}

static void test_others(void **state)
{
    size_t count;

    (void)state;
    begin();
    perf_records_name(&records, &place, "a name that is too long", false);
    count = written();
    assert_string_equal((const char *)&words[2], "a name that is ");
    trailer_is(count, 1000, 1001);
    begin();
    perf_records_begin(&records, &place, 1000, 1000);
    trailer_is(written(), 1000, 1001);
    assert_int_equal(words[0] & 0xffffffff, PERF_RECORD_FORK);
    assert_int_equal(words[2], 1001 | 1000ull << 32);
    begin();
    perf_records_lost(&records, &place, 77);
    trailer_is(written(), 1000, 1001);
    assert_int_equal(words[1], 40);
    assert_int_equal(words[2], 77);
    begin();
    perf_records_switch(&records, &place, 0, 0, true, true);
    trailer_is(written(), 1000, 1001);
    assert_int_equal(words[0] >> 32 & 0xffff,
                     PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    assert_int_equal(words[1], 0);
    begin();
    perf_records_round(&records);
    assert_int_equal(written(), 1);
}

static void test_threads(void **state)
{
    struct numbers threads;

    (void)state;
    assert_int_equal(numbers_init(&threads, THREADS), 0);
    assert_true(numbers_add(&threads, 1000));
    assert_false(numbers_add(&threads, 1000));
    for (uint32_t i = 1; i <= THREADS * 3; i++)
        numbers_add(&threads, i * 0x10000 + 5);
    assert_true(numbers_full(&threads));
    assert_false(numbers_add(&threads, 1000));
    assert_false(numbers_add(&threads, 1));
    numbers_free(&threads);
}

/* Chunks of two CPUs whose times overlap. */
static void test_rounds(void **state)
{
    static const uint64_t times[] = {100, 500, 300, 900, 800};
    struct trace_index index;
    struct rounds rounds;
    uint64_t at = 64;
    int fd = memfd_create("index", 0);

    (void)state;
    trace_index_init(&index);
    for (uint32_t i = 0; i < 5; i++) {
        struct hr_chunk_header header = {.type = HR_CHUNK_DATA,
                                         .payload_bytes = 36,
                                         .time_first = times[i],
                                         .time_last = times[i]};

        assert_int_equal(trace_index_add(&index, &header, at), 0);
        at += 100;
    }
    assert_int_equal(ftruncate(fd, (off_t)at), 0);
    assert_int_equal(lseek(fd, (off_t)at, SEEK_SET), at);
    assert_int_equal(trace_index_append(&index, fd, at, NULL), 0);
    trace_index_free(&index);
    assert_int_equal(rounds_init(&rounds, fd), 0);
    assert_int_equal(rounds_earliest(&rounds, 64), 100);
    assert_int_equal(rounds_earliest(&rounds, 164), 300);
    assert_int_equal(rounds_earliest(&rounds, 200), 300);
    assert_int_equal(rounds_earliest(&rounds, 364), 800);
    assert_int_equal(rounds_earliest(&rounds, 464), 800);
    assert_int_equal(rounds_earliest(&rounds, 1000), 0);
    rounds_free(&rounds);
    assert_int_equal(ftruncate(fd, 300), 0);
    assert_int_equal(rounds_init(&rounds, fd), 0);
    assert_int_equal(rounds_earliest(&rounds, 0), 0);
    rounds_free(&rounds);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),     cmocka_unit_test(test_chain),
        cmocka_unit_test(test_deep_chain), cmocka_unit_test(test_map),
        cmocka_unit_test(test_others),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
