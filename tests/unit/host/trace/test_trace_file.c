/* Tests of host/trace/trace_file.c, trace_audit.c and trace_scan.c: damage is found, bounded and
 * named.
 */
#include "host/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "host/scan/trace_scan.h"
#include "tests/unit/host/fixture.h"

#define SAMPLES 5000u

struct seen {
    uint64_t samples;
    uint64_t time_last;
};

static int count_samples(void *context, const struct trace_samples *samples)
{
    struct seen *seen = context;

    seen->samples += samples->count;
    seen->time_last = samples->slots[samples->count - 1].time;
    return 0;
}

/* Reads the fixture's bytes; the caller closes the scan. */
static struct seen scan_fixture(struct fixture *f, struct trace_scan *scan)
{
    struct seen seen = {0, 0};
    struct trace_visitor visitor = {.context = &seen, .samples = count_samples};

    assert_int_equal(trace_scan_open(scan, fixture_file(f)), 0);
    assert_int_equal(trace_scan_run(scan, &visitor), 0);
    return seen;
}

static void build(struct fixture *f)
{
    fixture_init(f);
    fixture_begin_data(f);
    fixture_samples(f, SAMPLES);
    fixture_end(f);
    assert_true(f->chunk_count >= 6);
}

static struct hr_chunk_header header_of(const struct fixture *f, size_t chunk)
{
    struct hr_chunk_header header;

    memcpy(&header, f->bytes + f->offsets[chunk], sizeof header);
    return header;
}

/* Adds the index to the fixture's file. */
static void append_index(const struct fixture *f)
{
    int fd = open(f->path, O_WRONLY | O_APPEND);
    struct trace_index index;

    assert_true(fd >= 0);
    trace_index_init(&index);
    for (size_t i = 0; i < f->chunk_count; i++) {
        struct hr_chunk_header header = header_of(f, i);

        assert_int_equal(trace_index_add(&index, &header, f->offsets[i]), 0);
    }
    assert_int_equal(trace_index_append(&index, fd, f->count, NULL), 0);
    trace_index_free(&index);
    close(fd);
}

static void whole_trace_is_complete(void **state)
{
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;

    (void)state;
    build(&f);
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(seen.time_last, f.slot.time);
    assert_true(trace_audit_complete(&scan.audit));
    assert_true(scan.audit.has_host);
    assert_int_equal(scan.audit.chunks, f.chunk_count);
    assert_int_equal(scan.audit.gone, 0);
    assert_int_equal(scan.info.event_count, 2);
    assert_string_equal(scan.info.events[1].name, "cycles:u");
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void flipped_payload_loses_one_chunk(void **state)
{
    struct hr_chunk_header header;
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;

    (void)state;
    build(&f);
    header = header_of(&f, 2);
    f.bytes[f.offsets[2] + sizeof header + 9] ^= 1;
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES - header.sample_count);
    assert_int_equal(scan.audit.damage_count, 1);
    assert_int_equal(scan.audit.damage[0].offset, f.offsets[2]);
    assert_int_equal(scan.audit.damage[0].bytes, f.offsets[3] - f.offsets[2]);
    assert_int_equal(scan.audit.damage[0].status, TRACE_BAD_CHECKSUM);
    assert_true(scan.audit.damage[0].has_header);
    assert_int_equal(scan.audit.damage[0].sequence, 1);
    assert_int_equal(scan.audit.damage[0].samples, header.sample_count);
    assert_int_equal(scan.audit.missing_spans, 0); /* damaged, not also missing */
    assert_int_equal(scan.audit.gone, header.sample_count);
    assert_false(trace_audit_complete(&scan.audit));
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void flipped_header_is_found_missing(void **state)
{
    struct hr_chunk_header header;
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;

    (void)state;
    build(&f);
    header = header_of(&f, 2);
    f.bytes[f.offsets[2] + 8] ^= 1;
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES - header.sample_count);
    assert_int_equal(scan.audit.damage_count, 1);
    assert_false(scan.audit.damage[0].has_header);
    assert_int_equal(scan.audit.damage[0].bytes, f.offsets[3] - f.offsets[2]);
    assert_int_equal(scan.audit.missing_spans, 1);
    assert_int_equal(scan.audit.missing[0].cpu, 0);
    assert_int_equal(scan.audit.missing[0].first, 1);
    assert_int_equal(scan.audit.missing[0].last, 1);
    assert_int_equal(scan.audit.missing[0].time_after, header_of(&f, 1).time_last);
    assert_int_equal(scan.audit.missing[0].time_before, header_of(&f, 3).time_first);
    trace_scan_close(&scan);
    fixture_free(&f);
}

/* Bytes that vanish from a chunk's middle: its length leads astray, the search must not. */
static void bytes_cut_out_lose_one_chunk(void **state)
{
    struct hr_chunk_header header;
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;
    size_t at;

    (void)state;
    build(&f);
    header = header_of(&f, 2);
    at = f.offsets[2] + sizeof header + 100;
    memmove(f.bytes + at, f.bytes + at + 50, f.count - at - 50);
    f.count -= 50;
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES - header.sample_count);
    assert_int_equal(scan.audit.damage_count, 1);
    assert_int_equal(scan.audit.damage[0].bytes, f.offsets[3] - f.offsets[2] - 50);
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void garbage_between_chunks_is_skipped(void **state)
{
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;
    size_t at;

    (void)state;
    build(&f);
    at = f.offsets[3];
    memmove(f.bytes + at + 77, f.bytes + at, f.count - at);
    memcpy(f.bytes + at, f.bytes + f.offsets[1], 40); /* half of a true header */
    memset(f.bytes + at + 40, 'H', 37);
    f.count += 77;
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(scan.audit.damage_count, 1);
    assert_int_equal(scan.audit.damage[0].bytes, 77);
    assert_int_equal(scan.audit.missing_spans, 0);
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void dropped_chunk_is_missing(void **state)
{
    struct trace_scan scan;
    struct fixture f;
    size_t bytes;

    (void)state;
    build(&f);
    bytes = f.offsets[4] - f.offsets[2];
    memmove(f.bytes + f.offsets[2], f.bytes + f.offsets[4], f.count - f.offsets[4]);
    f.count -= bytes;
    scan_fixture(&f, &scan);
    assert_int_equal(scan.audit.damage_count, 0);
    assert_int_equal(scan.audit.missing_spans, 1);
    assert_int_equal(scan.audit.missing_chunks, 2);
    assert_int_equal(scan.audit.missing[0].first, 1);
    assert_int_equal(scan.audit.missing[0].last, 2);
    trace_scan_close(&scan);
    fixture_free(&f);
}

/* However much is cut off, what is whole is read and the rest is named. */
static void truncation_keeps_whole_chunks(void **state)
{
    struct fixture f;
    size_t whole;

    (void)state;
    build(&f);
    whole = f.count;
    for (size_t count = whole - 1; count > sizeof(struct hr_file_header);
         count -= count > 997 ? 997 : 1) {
        uint64_t expected = 0;
        struct trace_scan scan;
        struct seen seen;
        bool edge = false;

        f.count = count;
        for (size_t i = 0; i < f.chunk_count; i++) {
            struct hr_chunk_header header = header_of(&f, i);
            size_t end = f.offsets[i] + sizeof header + header.payload_bytes;

            expected += end <= count ? header.sample_count : 0;
            edge |= end == count;
        }
        seen = scan_fixture(&f, &scan);
        assert_int_equal(seen.samples, expected);
        assert_int_equal(scan.audit.damage_count, edge ? 0 : 1);
        if (count < f.offsets[f.chunk_count - 1])
            assert_false(trace_audit_complete(&scan.audit));
        trace_scan_close(&scan);
    }
    fixture_free(&f);
}

static void missing_tail_is_known_from_the_end_chunk(void **state)
{
    struct trace_scan scan;
    struct fixture f;
    size_t last, end;

    (void)state;
    build(&f);
    last = f.chunk_count - 3; /* the last DATA chunk, before END and HOST */
    end = f.offsets[last + 1];
    memmove(f.bytes + f.offsets[last], f.bytes + end, f.count - end);
    f.count -= end - f.offsets[last];
    scan_fixture(&f, &scan);
    assert_int_equal(scan.audit.damage_count, 0);
    assert_int_equal(scan.audit.missing_spans, 1);
    assert_true(scan.audit.gone > 0);
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void damaged_file_header_is_damage(void **state)
{
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;

    (void)state;
    build(&f);
    f.bytes[20] ^= 1;
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(scan.audit.damage_count, 1);
    assert_int_equal(scan.audit.damage[0].bytes, sizeof(struct hr_file_header));
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void lost_meta_leaves_samples_readable(void **state)
{
    struct trace_scan scan;
    struct fixture f;
    struct seen seen;

    (void)state;
    build(&f);
    f.bytes[f.offsets[0] + sizeof(struct hr_chunk_header)] ^= 1;
    seen = scan_fixture(&f, &scan);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(scan.info.event_count, 2);
    assert_false(scan.info.has_clock);
    trace_scan_close(&scan);
    fixture_free(&f);
}

static void what_is_no_trace_is_refused(void **state)
{
    struct trace_file file;
    struct fixture f;

    (void)state;
    build(&f);
    f.bytes[0] ^= 1;
    assert_int_equal(trace_file_open(&file, fixture_file(&f)), -EBADMSG);
    f.count = 0;
    assert_int_equal(trace_file_open(&file, fixture_file(&f)), -ENODATA);
    unlink(f.path);
    assert_int_equal(trace_file_open(&file, f.path), -ENOENT);
    assert_int_equal(mkfifo(f.path, 0600), 0);
    assert_int_equal(trace_file_open(&file, f.path), -ESPIPE);
    assert_int_equal(trace_file_open(&file, "/tmp"), -EISDIR);
    fixture_free(&f);
}

/* A span of time gives its samples, both ends included, the same with an index and without. */
static void a_span_gives_its_samples(void **state)
{
    const uint64_t from = 3000 * FIXTURE_INTERVAL, to = 3100 * FIXTURE_INTERVAL;
    struct fixture f;

    (void)state;
    build(&f);
    for (int indexed = 0; indexed < 2; indexed++) {
        struct seen seen = {0, 0};
        struct trace_visitor visitor = {.context = &seen, .samples = count_samples};
        struct trace_scan scan;

        fixture_file(&f);
        if (indexed)
            append_index(&f);
        assert_int_equal(trace_scan_open(&scan, f.path), 0);
        scan.selection.from_ns = from;
        scan.selection.to_ns = to;
        assert_int_equal(trace_scan_run(&scan, &visitor), 0);
        assert_int_equal(seen.samples, 101);
        assert_true(scan.partial);
        assert_int_equal(scan.audit.damage_count, 0);
        trace_scan_close(&scan);
    }
    fixture_free(&f);
}

/* Random damage of every kind: readers end, stay in bounds (ASan) and never invent samples. */
static void random_damage_is_survived(void **state)
{
    struct test_random random = {99};
    struct fixture f;
    uint8_t *original;

    (void)state;
    build(&f);
    original = malloc(f.count);
    assert_non_null(original);
    memcpy(original, f.bytes, f.count);
    for (int round = 0; round < 400; round++) {
        struct trace_scan scan;
        struct seen seen;

        for (uint64_t n = 1 + test_random_below(&random, 12); n > 0; n--)
            f.bytes[64 + test_random_below(&random, f.count - 64)] =
                (uint8_t)test_random_next(&random);
        seen = scan_fixture(&f, &scan);
        assert_true(seen.samples <= SAMPLES);
        assert_int_equal(seen.samples, scan.audit.samples);
        trace_scan_close(&scan);
        memcpy(f.bytes, original, f.count);
    }
    free(original);
    fixture_free(&f);
}

/* What a search at the file's end found holds there alone: a second walk meets earlier damage. */
static void second_walk_over_a_file_that_grew_finds_the_same(void **state)
{
    struct seen first = {0, 0}, second = {0, 0};
    struct trace_visitor visitor = {.context = &first, .samples = count_samples};
    struct trace_scan scan;
    struct fixture f;
    const char *path;

    (void)state;
    build(&f);
    f.bytes[f.offsets[2] + 8] ^= 1;
    path = fixture_file(&f);
    assert_int_equal(truncate(path, (off_t)f.offsets[f.chunk_count - 1] + 10), 0);
    assert_int_equal(trace_scan_open(&scan, path), 0);
    scan.file.growing = true;
    assert_int_equal(trace_scan_run(&scan, &visitor), 0);
    assert_true(first.samples != 0);
    assert_int_equal(trace_scan_rewind(&scan), 0);
    visitor.context = &second;
    assert_int_equal(trace_scan_run(&scan, &visitor), 0);
    assert_int_equal(second.samples, first.samples);
    trace_scan_close(&scan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trace_is_complete),
        cmocka_unit_test(flipped_payload_loses_one_chunk),
        cmocka_unit_test(flipped_header_is_found_missing),
        cmocka_unit_test(bytes_cut_out_lose_one_chunk),
        cmocka_unit_test(garbage_between_chunks_is_skipped),
        cmocka_unit_test(dropped_chunk_is_missing),
        cmocka_unit_test(truncation_keeps_whole_chunks),
        cmocka_unit_test(missing_tail_is_known_from_the_end_chunk),
        cmocka_unit_test(damaged_file_header_is_damage),
        cmocka_unit_test(lost_meta_leaves_samples_readable),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(a_span_gives_its_samples),
        cmocka_unit_test(random_damage_is_survived),
        cmocka_unit_test(second_walk_over_a_file_that_grew_finds_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
