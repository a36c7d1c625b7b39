/* Tests of host/summary*.c for triggers other than the timer: periods, rates, words, advice. */
#include <jansson.h>

#include "host/summary/summary.h"
#include "host/summary/summary_advice.h"
#include "host/summary/summary_memory.h"
#include "host/trace/trace_looks.h"
#include "lib/trace/trace_pages.h"
#include "tests/unit/host/fixture.h"
#include "tests/unit/host/summary_json.h"

#define BETWEEN 1000u /* ticks from one overflow to the next: a nanosecond each */

static const struct hr_meta_sampling by_period = {
    .mode = HR_MODE_OVERFLOW, .period_events = 500, .cpu_count = 1};
static const struct hr_meta_sampling by_frequency = {
    .mode = HR_MODE_OVERFLOW, .period_events = 500, .frequency_hz = 2000000, .cpu_count = 1};
static const struct hr_meta_calibration cheap = {.sample_ticks = 50, .rdpmc_ticks = 20};

static void add_samples(struct fixture *f, uint32_t count, uint64_t ticks)
{
    for (uint32_t i = 0; i < count; i++)
        fixture_sample(f, ticks, 0x401000);
}

static void add_period(struct fixture *f, uint64_t events)
{
    const struct hr_rec_period period = {.time = f->slot.time, .period = events};

    fixture_add(&f->data, HR_REC_PERIOD, &period, sizeof period, NULL);
}

/* Ends the trace, reads it back and frees the fixture. */
static void conclude(struct fixture *f, struct summary *s)
{
    fixture_end(f);
    assert_int_equal(summary_from_file(fixture_file(f), s), 0);
    fixture_free(f);
}

static void assert_words(const struct summary *s, const char *wanted, bool present)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    summary_print(out, s);
    fclose(out);
    if ((strstr(text, wanted) != NULL) != present)
        fail_msg("%s '%s' in:\n%s", present ? "no" : "unwanted", wanted, text);
    free(text);
}

static void fixed_periods_have_no_interval_to_miss(void **state)
{
    struct summary s;
    struct fixture f;

    (void)state;
    fixture_init_sampling(&f, by_period, cheap);
    fixture_begin_data(&f);
    add_samples(&f, 1000, BETWEEN);
    conclude(&f, &s);
    assert_int_equal(s.period.first, 500);
    assert_int_equal(s.period.last, 500);
    assert_int_equal(s.period.median, 500);
    assert_int_equal(s.period.changes, 0);
    assert_true(s.rate_hz == 1e9 / BETWEEN);
    assert_words(&s, "mode overflow, every 500 instructions\n", true);
    assert_words(&s, "between samples", true);
    assert_words(&s, "achieved interval", false);
    assert_words(&s, "20 ns    of one RDPMC      native", true);
    assert_words(&s, "Warning", false);
    assert_words(&s, "hr doctor --measure", false);
    s.info.share.skipped = 3;
    assert_words(&s, "Points were skipped: 'hr doctor --measure' says", true);
    s.selected = true;
    assert_words(&s, "hr doctor --measure", false);
    summary_free(&s);
}

static void periods_are_followed(void **state)
{
    struct summary s;
    struct fixture f;
    json_t *object, *period;

    (void)state;
    fixture_init_sampling(&f, by_frequency, cheap);
    fixture_begin_data(&f);
    add_samples(&f, 100, 2000); /* 200 us */
    add_period(&f, 300);
    add_samples(&f, 150, 1000);
    fixture_split(&f); /* the period goes on in the next chunk */
    add_samples(&f, 200, 1000); /* 350 us */
    add_period(&f, 150);
    add_samples(&f, 100, 500); /* 50 us */
    conclude(&f, &s);
    assert_int_equal(s.period.first, 500);
    assert_int_equal(s.period.last, 150);
    assert_int_equal(s.period.median, 300);
    assert_int_equal(s.period.changes, 2);
    assert_in_range((uint64_t)s.rate_hz, 916666, 916667); /* 550 in 600 us */
    assert_in_range((uint64_t)s.rate_last_half_hz, 1160000, 1170000); /* 350 in 300 us */
    assert_words(&s, "mode overflow, 2,000,000 samples/s wanted, 916,667 got\n", true);
    assert_words(&s, " 150  period              instructions at the end; median 300\n", true);
    object = summary_to_json(&s);
    assert_string_equal(json_string_value(json_object_get(object, "mode")), "overflow");
    assert_int_equal(json_integer_value(json_object_get(object, "frequency_hz")), 2000000);
    period = json_object_get(object, "period");
    assert_int_equal(json_integer_value(json_object_get(period, "first")), 500);
    assert_int_equal(json_integer_value(json_object_get(period, "last")), 150);
    assert_int_equal(json_integer_value(json_object_get(period, "changes")), 2);
    period = json_object_get(object, "rate_hz");
    assert_true(json_real_value(json_object_get(period, "mean")) == s.rate_hz);
    assert_true(json_real_value(json_object_get(period, "last_half")) == s.rate_last_half_hz);
    json_decref(object);
    summary_free(&s);
}

/* Sleep, loss and an asked-for pause: none of them is time in which samples were due. */
static void rates_leave_out_what_was_no_running_time(void **state)
{
    struct hr_rec_gap gap = {.reason = HR_GAP_SLEEP, .tid = 1};
    const struct hr_rec_lost lost = {.time_first = 1, .time_last = 2, .count = 17};
    struct summary s;
    struct fixture f;

    (void)state;
    fixture_init_sampling(&f, by_period, cheap);
    fixture_begin_data(&f);
    add_samples(&f, 100, BETWEEN);
    gap.time_first = f.slot.time + 400;
    gap.time_last = gap.time_first + 70000;
    fixture_add(&f.data, HR_REC_GAP, &gap, sizeof gap, NULL);
    gap.tid = 2; /* another thread's, inside the first one's: it counts once */
    gap.time_first += 100;
    gap.time_last -= 100;
    fixture_add(&f.data, HR_REC_GAP, &gap, sizeof gap, NULL);
    fixture_sample(&f, 70000 + BETWEEN, 0x401000);
    add_samples(&f, 100, BETWEEN);
    assert_int_equal(trace_writer_lost(&f.data, &lost), 0);
    fixture_sample(&f, 500000, 0x401000);
    add_samples(&f, 100, BETWEEN);
    f.slot.flags = HR_SAMPLE_RESUMED;
    fixture_sample(&f, 900000, 0x401000);
    f.slot.flags = HR_SAMPLE_POLLED;
    fixture_sample(&f, 10, 0x401000);
    f.slot.flags = 0;
    fixture_sample(&f, BETWEEN - 10, 0x401000);
    conclude(&f, &s);
    assert_true(s.rate_hz == 1e9 / BETWEEN);
    assert_int_equal(s.interval.max_ns, BETWEEN);
    assert_int_equal(s.interval.p50_ns, BETWEEN);
    assert_int_equal(s.polled, 1);
    assert_words(&s, "of the samples: the program asked for them", true);
    summary_free(&s);
}

static void a_period_of_nothing_is_damage(void **state)
{
    struct summary s;
    struct fixture f;

    (void)state;
    fixture_init_sampling(&f, by_period, cheap);
    fixture_begin_data(&f);
    add_samples(&f, 10, BETWEEN);
    add_period(&f, 0);
    conclude(&f, &s);
    assert_int_equal(s.damaged_chunks, 1);
    assert_false(s.complete);
    summary_free(&s);
}

static void interrupts_without_a_cause_are_named(void **state)
{
    const struct hr_rec_nmi first = {.samples = 10, .spurious = 3, .cpu = 1};
    const struct hr_rec_nmi second = {.samples = 20, .unknown = UINT64_MAX, .cpu = 2};
    struct summary s;
    struct fixture f;
    json_t *object, *nmi;

    (void)state;
    fixture_init_sampling(&f, by_period, cheap);
    fixture_begin_data(&f);
    add_samples(&f, 10, BETWEEN);
    fixture_begin_end(&f);
    fixture_add(&f.meta, HR_REC_NMI, &first, sizeof first, NULL);
    fixture_add(&f.meta, HR_REC_NMI, &second, sizeof second, NULL);
    fixture_add(&f.meta, HR_REC_NMI, &second, sizeof second, NULL);
    fixture_finish(&f);
    assert_int_equal(summary_from_file(fixture_file(&f), &s), 0);
    assert_int_equal(s.info.nmis.samples, 30);
    assert_int_equal(s.info.nmis.unknown, UINT64_MAX);
    assert_int_equal(s.info.nmis.repeated, 1);
    assert_words(&s, "3  spurious NMIs", true);
    assert_words(&s, "unknown NMIs", true);
    object = summary_to_json(&s);
    nmi = json_object_get(object, "nmi");
    assert_int_equal(json_integer_value(json_object_get(nmi, "samples")), 30);
    assert_int_equal(json_integer_value(json_object_get(nmi, "spurious")), 3);
    json_decref(object);
    summary_free(&s);
    fixture_free(&f);
}

static void instructed_samples_are_the_programs(void **state)
{
    const struct hr_meta_sampling sampling = {
        .mode = HR_MODE_INSTRUCTED, .flags = HR_SAMPLING_PAUSED, .cpu_count = 1};
    struct summary s;
    struct fixture f;
    json_t *object;

    (void)state;
    fixture_init_sampling(&f, sampling, (struct hr_meta_calibration){.sample_ticks = 900});
    fixture_begin_data(&f);
    f.slot.flags = HR_SAMPLE_POLLED;
    add_samples(&f, 10, BETWEEN);
    conclude(&f, &s);
    assert_int_equal(s.polled, 10);
    assert_int_equal(s.interval.count, 9);
    assert_words(&s, "mode instructed: the program's own calls, from the program's hr_start() on",
                 true);
    assert_words(&s, "cost of a sample", false);
    assert_words(&s, "Warning", false);
    object = summary_to_json(&s);
    assert_true(json_is_null(json_object_get(object, "period")));
    assert_true(json_is_null(json_object_get(object, "rate_hz")));
    assert_true(json_is_null(json_object_get(object, "nmi")));
    assert_true(json_is_true(json_object_get(object, "paused")));
    json_decref(object);
    summary_free(&s);
}

/* Runs with a sample of `cost_ns` every 1000 ns; the advice, "" for none. */
static const char *advice_of(struct hr_meta_sampling sampling, uint64_t cost_ns)
{
    static struct summary_advice advice;
    struct summary s;
    struct fixture f;

    sampling.cpu_count = 1;
    fixture_init_sampling(&f, sampling, (struct hr_meta_calibration){.sample_ticks = cost_ns});
    fixture_begin_data(&f);
    add_samples(&f, 500, BETWEEN);
    conclude(&f, &s);
    if (!summary_advise(&s, &advice))
        advice.option[0] = 0;
    assert_words(&s, "Warning: sampling takes", advice.option[0] != 0);
    summary_free(&s);
    return advice.option;
}

static void dear_sampling_is_warned_of(void **state)
{
    const struct hr_meta_sampling timer = {.mode = HR_MODE_TIMER, .interval_ticks = BETWEEN};
    const struct hr_meta_sampling ipi = {.mode = HR_MODE_IPI, .interval_ticks = BETWEEN};
    const struct hr_meta_sampling shared = {
        .mode = HR_MODE_TIMER, .interval_ticks = BETWEEN, .flags = HR_SAMPLING_SHARED};

    (void)state;
    assert_string_equal(advice_of(timer, 100), "");
    assert_string_equal(advice_of(timer, 101), "-i 2us");
    assert_string_equal(advice_of(timer, 450), "-i 5us");
    assert_string_equal(advice_of(timer, 5000), "-i 50us"); /* more than the interval itself */
    assert_string_equal(advice_of(timer, 90000), "-i 1ms");
    assert_string_equal(advice_of(ipi, 450), "-i 5us");
    assert_string_equal(advice_of(shared, 5000), "");
    assert_string_equal(advice_of(by_period, 100), "");
    assert_string_equal(advice_of(by_period, 200), "-c 2000"); /* 500 * 9 * 200 / 800 = 1125 */
    assert_string_equal(advice_of(by_frequency, 200), "-F 500000");
    assert_string_equal(advice_of(by_frequency, 300), "-F 200000");
}

static void a_trapped_rdpmc_is_told(void **state)
{
    const struct hr_meta_sampling timer = {
        .mode = HR_MODE_TIMER, .interval_ticks = 1000000, .cpu_count = 1};
    const struct hr_meta_calibration dear = {
        .sample_ticks = 9000, .rdpmc_ticks = 1200, .late_ticks = 2100};
    struct summary s;
    struct fixture f;
    json_t *object, *cost;

    (void)state;
    fixture_init_sampling(&f, timer, dear);
    fixture_begin_data(&f);
    add_samples(&f, 10, 1000000);
    conclude(&f, &s);
    assert_words(&s, "1.200 us    of one RDPMC      trapped by the hypervisor (each read exits)",
                 true);
    assert_words(&s, "2.100 us  timer lateness", true);
    object = summary_to_json(&s);
    cost = json_object_get(object, "cost");
    assert_int_equal(json_integer_value(json_object_get(cost, "late_ns")), 2100);
    assert_int_equal(json_integer_value(json_object_get(cost, "rdpmc_ns")), 1200);
    json_decref(object);
    summary_free(&s);
}

static void regions_are_in_the_json(void **state)
{
    struct {
        struct hr_rec_region region;
        uint64_t buckets[9];
        char name[4];
    } record = {.region = {.passes = 3,
                           .sum = 17,
                           .min = 4,
                           .max = 8,
                           .event = HR_REGION_TICKS,
                           .bucket_count = 9,
                           .name_bytes = 4,
                           .threads = 2},
                .buckets = {[4] = 1, [5] = 1, [8] = 1},
                .name = {'h', 'a', 's', 'h'}};
    const uint32_t bytes = sizeof record.region + sizeof record.buckets + sizeof record.name;
    struct summary s;
    struct fixture f;
    json_t *object, *region, *event;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    fixture_samples(&f, 10);
    fixture_begin_end(&f);
    fixture_add(&f.meta, HR_REC_REGION, &record, bytes, NULL);
    record.region.event = 1;
    fixture_add(&f.meta, HR_REC_REGION, &record, bytes, NULL);
    fixture_finish(&f);
    assert_int_equal(summary_from_file(fixture_file(&f), &s), 0);
    assert_true(s.complete);
    object = summary_to_json(&s);
    assert_int_equal(json_array_size(json_object_get(object, "regions")), 1);
    region = json_array_get(json_object_get(object, "regions"), 0);
    assert_string_equal(json_string_value(json_object_get(region, "name")), "hash");
    assert_int_equal(json_integer_value(json_object_get(region, "passes")), 3);
    assert_int_equal(json_integer_value(json_object_get(region, "threads")), 2);
    event = json_object_get(region, "ticks");
    assert_int_equal(json_integer_value(json_object_get(event, "sum")), 17);
    assert_int_equal(json_integer_value(json_object_get(event, "p50")), 5);
    assert_int_equal(json_integer_value(json_object_get(event, "p99")), 8);
    event = json_array_get(json_object_get(region, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "name")), "cycles:u");
    assert_int_equal(json_integer_value(json_object_get(event, "min")), 4);
    assert_int_equal(json_integer_value(json_object_get(event, "max")), 8);
    assert_true(json_real_value(json_object_get(event, "mean")) > 5.66);
    json_decref(object);
    assert_words(&s, "Regions: 1; hr report --regions", true);
    summary_free(&s);
    fixture_free(&f);
}

static void interval_is_what_was_asked_for(void **state)
{
    struct trace_info info = {.clock = {.ticks_per_second = 2596126000},
                              .sampling = {.interval_ticks = 25961}}; /* of 25961.26 */

    (void)state;
    assert_int_equal(trace_info_interval_ns(&info), 10000);
    info.sampling.interval_ticks = 0;
    assert_int_equal(trace_info_interval_ns(&info), 0);
    info.clock.ticks_per_second = 1;
    info.sampling.interval_ticks = UINT64_MAX;
    assert_int_equal(trace_info_interval_ns(&info), UINT64_MAX);
}

/* A record of one run of pages in the first look. */
static void take_pages(struct summary_memory *memory, uint64_t pages)
{
    struct trace_text text = {.key = "pages.interval_ns", .value = "1000"};
    const struct trace_info info = {
        .clock = {.ticks_per_second = 1000000000}, .texts = &text, .text_count = 1};
    const struct trace_pages_run run = {.pages = pages};
    const struct hr_rec_pages head = {.time = 900, .pid = HR_FIRST_PID};
    uint8_t body[sizeof head + TRACE_PAGES_RUN_MAX];
    struct selection selection;
    struct trace_record record = {.type = HR_REC_PAGES, .body = body};

    memcpy(body, &head, sizeof head);
    record.bytes = (uint16_t)(sizeof head + trace_pages_put(body + sizeof head, 0, &run, true));
    selection_init(&selection);
    assert_int_equal(summary_memory_record(memory, &info, &selection, &record), 0);
    selection_free(&selection);
}

static void pages_beyond_the_bound_do_not_count(void **state)
{
    struct summary_memory memory = {0};

    (void)state;
    take_pages(&memory, 5);
    take_pages(&memory, TRACE_LOOKS_PAGES_MAX + 1);
    take_pages(&memory, 2);
    assert_int_equal(memory.look_count, 1);
    assert_int_equal(memory.looks[0], 7);
    summary_memory_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_periods_have_no_interval_to_miss),
        cmocka_unit_test(periods_are_followed),
        cmocka_unit_test(rates_leave_out_what_was_no_running_time),
        cmocka_unit_test(a_period_of_nothing_is_damage),
        cmocka_unit_test(interrupts_without_a_cause_are_named),
        cmocka_unit_test(instructed_samples_are_the_programs),
        cmocka_unit_test(dear_sampling_is_warned_of),
        cmocka_unit_test(a_trapped_rdpmc_is_told),
        cmocka_unit_test(regions_are_in_the_json),
        cmocka_unit_test(interval_is_what_was_asked_for),
        cmocka_unit_test(pages_beyond_the_bound_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
