/* Tests of host/summary*.c: figures of known traces, as numbers, as JSON and in words. */
#include "host/summary/summary.h"

#include <jansson.h>

#include "host/report/report_regions.h"
#include "lib/crc32c.h"
#include "tests/unit/host/fixture.h"
#include "tests/unit/host/summary_json.h"

static void summarise(struct fixture *f, struct summary *summary)
{
    assert_int_equal(summary_from_file(fixture_file(f), summary), 0);
}

static void plain_run(void **state)
{
    struct summary s;
    struct fixture f;
    bool whole;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 1000);
    fixture_sample(&f, 170, 0x401000);
    fixture_end(&f);
    summarise(&f, &s);
    assert_int_equal(s.samples, 1001);
    assert_int_equal(s.interval.count, 1000);
    assert_int_equal(s.interval.p50_ns, 100);
    assert_int_equal(s.interval.p99_ns, 100);
    assert_int_equal(s.interval.max_ns, 170);
    assert_int_equal(s.cost.p50_ns, 7);
    assert_int_equal(s.duration_ns, 1000 * 100 + 170 + 50);
    assert_int_equal(s.bytes, f.count);
    assert_true(s.complete);
    assert_int_equal(summary_exit_status(&s), 3);
    assert_int_equal(summary_event_total(&s, 0, &whole), 1000 * 100 + 170 + 50);
    assert_true(whole);
    summary_free(&s);
    fixture_free(&f);
}

/* A pause, a switch and a loss each take one interval out of the statistics. */
static void pauses_are_no_intervals(void **state)
{
    const struct hr_rec_gap gap = {.reason = HR_GAP_SLEEP, .tid = 1};
    const struct hr_rec_switch switched = {.from_tid = 1, .to_tid = 2};
    const struct hr_rec_lost lost = {.time_first = 1, .time_last = 2, .count = 17};
    struct summary s;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 10);
    fixture_add(&f.data, HR_REC_GAP, &gap, sizeof gap, NULL);
    fixture_sample(&f, 90000, 0x401000);
    fixture_samples(&f, 10);
    fixture_add(&f.data, HR_REC_SWITCH, &switched, sizeof switched, NULL);
    fixture_sample(&f, 5000, 0x401000);
    fixture_samples(&f, 10);
    assert_int_equal(trace_writer_lost(&f.data, &lost), 0);
    fixture_split(&f); /* the loss counts across chunks */
    fixture_sample(&f, 1800, 0x401000);
    fixture_samples(&f, 10);
    fixture_end(&f);
    summarise(&f, &s);
    assert_int_equal(s.samples, 43);
    assert_int_equal(s.interval.count, 39); /* 42 pairs, 3 of them with a pause */
    assert_int_equal(s.interval.max_ns, 100);
    assert_int_equal(s.lost, 17);
    summary_free(&s);
    fixture_free(&f);
}

/* Chunks follow each other without a pause: the interval between them counts. */
static void intervals_span_chunks_but_not_damage(void **state)
{
    struct summary s;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 20);
    fixture_split(&f);
    fixture_samples(&f, 20);
    fixture_split(&f);
    fixture_samples(&f, 20);
    fixture_end(&f);
    summarise(&f, &s);
    assert_int_equal(s.interval.count, 59);
    summary_free(&s);
    f.bytes[f.offsets[2] + sizeof(struct hr_chunk_header)] ^= 1;
    summarise(&f, &s);
    assert_int_equal(s.samples, 40);
    assert_int_equal(s.interval.count, 38);
    assert_int_equal(s.interval.max_ns, 100);
    assert_int_equal(s.damaged_chunks, 1);
    assert_int_equal(s.gone, 20);
    assert_false(s.complete);
    summary_free(&s);
    fixture_free(&f);
}

/* A clock that goes back makes no interval, least of all one of five hundred years. */
static void earlier_samples_make_no_interval(void **state)
{
    struct summary s;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 10);
    f.slot.time -= 500;
    fixture_sample(&f, FIXTURE_INTERVAL, 0x401000);
    fixture_samples(&f, 9);
    fixture_end(&f);
    summarise(&f, &s);
    assert_int_equal(s.samples, 20);
    assert_int_equal(s.interval.count, 18);
    assert_int_equal(s.interval.max_ns, FIXTURE_INTERVAL);
    summary_free(&s);
    fixture_free(&f);
}

static void truncated_run_falls_back(void **state)
{
    struct summary s;
    struct fixture f;
    bool whole;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 50);
    fixture_end(&f);
    f.count = f.offsets[f.chunk_count - 2]; /* before END */
    summarise(&f, &s);
    assert_int_equal(summary_exit_status(&s), -1);
    assert_int_equal(summary_event_total(&s, 1, &whole), 50 * 2 * 100);
    assert_false(whole);
    assert_int_equal(s.duration_ns, 50 * 100);
    assert_false(s.complete);
    summary_free(&s);
    fixture_free(&f);
}

static json_int_t integer_at(json_t *object, const char *outer, const char *inner)
{
    json_t *value = json_object_get(object, outer);

    if (inner != NULL)
        value = json_object_get(value, inner);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void json_has_the_stable_keys(void **state)
{
    static const char args[] = "program.args\0./p \x1b[31m\xff";
    struct summary s;
    struct fixture f;
    json_t *object, *event;

    (void)state;
    fixture_init(&f);
    assert_int_equal(
        trace_writer_record(&f.meta, HR_META_INFO, TRACE_NO_TIME, args, sizeof args, NULL, 0), 0);
    fixture_begin_data(&f);
    fixture_samples(&f, 100);
    fixture_end(&f);
    summarise(&f, &s);
    object = summary_to_json(&s);
    assert_int_equal(integer_at(object, "samples", NULL), 100);
    assert_int_equal(integer_at(object, "lost", NULL), 0);
    assert_int_equal(integer_at(object, "duration_ns", NULL), 10050);
    assert_int_equal(integer_at(object, "interval_ns", "requested"), 100);
    assert_int_equal(integer_at(object, "interval_ns", "p50"), 100);
    assert_int_equal(integer_at(object, "interval_ns", "p99"), 100);
    assert_int_equal(integer_at(object, "interval_ns", "max"), 100);
    assert_int_equal(integer_at(object, "bytes", NULL), f.count);
    assert_int_equal(integer_at(object, "exit_status", NULL), 3);
    assert_int_equal(integer_at(object, "cost", "sample_ns"), 40);
    assert_int_equal(integer_at(object, "cost", "rdpmc_ns"), 0);
    assert_true(json_is_true(json_object_get(object, "emulated")));
    assert_true(json_is_true(json_object_get(object, "complete")));
    assert_true(json_is_true(json_object_get(object, "instructions_exact")));
    assert_string_equal(json_string_value(json_object_get(object, "mode")), "timer");
    assert_string_equal(json_string_value(json_object_get(object, "arguments")),
                        "./p \\x1b[31m\\xff");
    event = json_array_get(json_object_get(object, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "name")), "instructions:u");
    assert_string_equal(json_string_value(json_object_get(event, "source")), "icount");
    assert_int_equal(json_integer_value(json_object_get(event, "total")), 10050);
    json_decref(object);
    summary_free(&s);
    fixture_free(&f);
}

static void words_name_sources_and_faults(void **state)
{
    const struct hr_rec_fault fault = {
        .ip = 0x401234, .address = 0x10, .vector = 14, .signal = 11, .tid = 1};
    struct summary s;
    struct fixture f;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 100);
    fixture_add(&f.data, HR_REC_FAULT, &fault, sizeof fault, NULL);
    fixture_end(&f);
    summarise(&f, &s);
    s.info.exit.kind = HR_EXIT_SIGNAL;
    s.info.exit.code = 11;
    assert_int_equal(summary_exit_status(&s), 139);
    summary_print(out, &s);
    fclose(out);
    assert_non_null(strstr(text, "exact, from virtual time"));
    assert_non_null(strstr(text, "not a measurement"));
    assert_non_null(strstr(text, "killed by SIGSEGV"));
    assert_non_null(strstr(text, "ip 0x401234"));
    assert_non_null(strstr(text, "address 0x10"));
    assert_non_null(strstr(text, "Next: hr report /tmp/microtome-test-"));
    free(text);
    summary_free(&s);
    fixture_free(&f);
}

/* Gives a chunk the checksums of what it holds now. */
static void seal(uint8_t *chunk)
{
    struct hr_chunk_header header;

    memcpy(&header, chunk, sizeof header);
    header.payload_crc = crc32c(0, chunk + sizeof header, header.payload_bytes);
    header.header_crc = crc32c(0, &header, offsetof(struct hr_chunk_header, header_crc));
    memcpy(chunk, &header, sizeof header);
}

/* One of each record of the program's own measuring, among samples of an adapted period. */
static void add_program_records(struct fixture *f)
{
    const struct hr_rec_period period = {.time = f->slot.time, .period = 77};
    const struct hr_rec_gap gap = {.reason = HR_GAP_WAIT, .tid = 1};
    const struct hr_rec_mark mark = {.time = f->slot.time, .tid = 1};

    fixture_add(&f->data, HR_REC_PERIOD, &period, sizeof period, NULL);
    fixture_add(&f->data, HR_REC_GAP, &gap, sizeof gap, NULL);
    fixture_add(&f->data, HR_REC_MARK, &mark, sizeof mark, "here");
    f->slot.flags = HR_SAMPLE_RESUMED;
    fixture_samples(f, 2);
    f->slot.flags = HR_SAMPLE_POLLED;
    fixture_samples(f, 2);
    f->slot.flags = 0;
    fixture_samples(f, 2);
}

static void add_program_totals(struct fixture *f)
{
    const struct hr_rec_nmi nmi = {.samples = 5, .spurious = 1, .unknown = 1};
    const struct {
        struct hr_rec_region region;
        uint64_t buckets[20];
    } record = {{.passes = 2,
                 .sum = 20,
                 .min = 1,
                 .max = 19,
                 .bucket_count = 20,
                 .name_bytes = 4,
                 .threads = 1},
                {[1] = 1, [12] = 1}};

    fixture_add(&f->meta, HR_REC_REGION, &record, sizeof record, "name");
    fixture_add(&f->meta, HR_REC_NMI, &nmi, sizeof nmi, NULL);
}

/* Forged contents with good checksums: every figure is computed and printed in bounds (ASan). */
static void forged_contents_are_survived(void **state)
{
    const struct hr_meta_sampling sampling = {.mode = HR_MODE_OVERFLOW,
                                              .period_events = 100,
                                              .frequency_hz = 1000,
                                              .flags = HR_SAMPLING_EMULATED,
                                              .cpu_count = 1};
    const struct hr_meta_calibration calibration = {40, 7, 3, 100, 5};
    struct test_random random = {2024};
    struct fixture f;
    uint8_t *original;
    size_t damaged = 0;

    (void)state;
    fixture_init_sampling(&f, sampling, calibration);
    fixture_begin_data(&f);
    fixture_samples(&f, 1500);
    add_program_records(&f);
    fixture_begin_end(&f);
    add_program_totals(&f);
    fixture_finish(&f);
    original = malloc(f.count);
    assert_non_null(original);
    memcpy(original, f.bytes, f.count);
    for (int round = 0; round < 600; round++) {
        size_t chunk = test_random_below(&random, f.chunk_count);
        size_t start = f.offsets[chunk];
        size_t end = chunk + 1 < f.chunk_count ? f.offsets[chunk + 1] : f.count;
        struct summary s;
        FILE *out = fopen("/dev/null", "w");

        for (uint64_t n = 1 + test_random_below(&random, 6); n > 0; n--)
            f.bytes[start + 64 + test_random_below(&random, end - start - 64)] =
                (uint8_t)test_random_next(&random);
        if (round % 5 == 0) /* the header's fields too, but for magic, type and length */
            f.bytes[start + 6 + test_random_below(&random, 6)] = (uint8_t)test_random_next(&random);
        seal(f.bytes + start);
        summarise(&f, &s);
        damaged += s.damaged_chunks;
        summary_print(out, &s);
        assert_int_equal(summary_print_json(out, &s), 0);
        report_regions_print(out, &s.info, round % 2 ? TRACE_REGION_TIME : 0,
                             &(struct metrics_choice){.count = 0}, 0);
        summary_free(&s);
        fclose(out);
        memcpy(f.bytes, original, f.count);
    }
    assert_true(damaged > 50); /* contradictions are noticed although the checksums are good */
    free(original);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_run),
        cmocka_unit_test(pauses_are_no_intervals),
        cmocka_unit_test(intervals_span_chunks_but_not_damage),
        cmocka_unit_test(earlier_samples_make_no_interval),
        cmocka_unit_test(truncated_run_falls_back),
        cmocka_unit_test(json_has_the_stable_keys),
        cmocka_unit_test(words_name_sources_and_faults),
        cmocka_unit_test(forged_contents_are_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
