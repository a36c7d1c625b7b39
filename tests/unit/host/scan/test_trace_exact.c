/* The walk hands exact counts to those who want them, and believes no record that does not decode.
 */
#include "host/scan/trace_scan.h"

#include "tests/unit/host/fixture.h"

static struct fixture f;
static uint64_t rows[8][4]; /* tid, ip, weight, rise of the second event */
static uint32_t row_count;

static int take(void *context, const struct trace_samples *samples)
{
    const struct trace_slot *previous = samples->previous;

    (void)context;
    assert_non_null(samples->weights);
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *slot = &samples->slots[n];
        const uint64_t row[4] = {slot->tid, slot->ip, trace_samples_weight(samples, n),
                                 slot->counters[1] - previous->counters[1]};

        assert_int_equal(slot->counters[0] - previous->counters[0], row[2]);
        assert_true(row_count < 8);
        memcpy(rows[row_count++], row, sizeof row);
        previous = slot;
    }
    return 0;
}

/* A trace with one record of counts; `count` addresses, of which `bytes` of code follow. */
static void make(uint32_t mode, uint32_t events, uint32_t count, const void *code, uint32_t bytes)
{
    const struct hr_host_exact exact = {.instructions = 8, .event_count = events};
    const struct hr_host_exact_counts counts = {.tid = 7, .count = count};

    fixture_init_sampling(&f, (struct hr_meta_sampling){.mode = mode, .cpu_count = 1},
                          (struct hr_meta_calibration){0});
    fixture_begin_data(&f);
    fixture_begin_end(&f);
    fixture_chunk(&f, &f.meta);
    trace_writer_begin(&f.meta, HR_CHUNK_HOST);
    fixture_add(&f.meta, HR_HOST_EXACT, &exact, sizeof exact, NULL);
    assert_int_equal(trace_writer_record(&f.meta, HR_HOST_EXACT_COUNTS, TRACE_NO_TIME, &counts,
                                         sizeof counts, code, bytes),
                     0);
    fixture_chunk(&f, &f.meta);
    fixture_file(&f);
}

static uint64_t damages(bool wants, uint32_t thread)
{
    const struct trace_visitor visitor = {.exact = wants, .samples = take};
    struct trace_scan scan;
    uint64_t damage;

    row_count = 0;
    assert_int_equal(trace_scan_open(&scan, f.path), 0);
    if (thread != 0) {
        scan.selection.threads = malloc(sizeof thread);
        assert_non_null(scan.selection.threads);
        scan.selection.threads[0] = thread;
        scan.selection.thread_count = 1;
    }
    assert_int_equal(trace_scan_run(&scan, &visitor), 0);
    damage = scan.audit.damage_count;
    trace_scan_close(&scan);
    return damage;
}

static void hands_them_out(void **state)
{
    static const uint8_t code[] = {0x81, 0x20, 1, 5, 3, 3, 3, 0x80, 1};

    (void)state;
    make(HR_MODE_EXACT, 3, 2, code, sizeof code);
    assert_int_equal(damages(true, 0), 0);
    assert_int_equal(row_count, 2);
    assert_memory_equal(rows[0], ((const uint64_t[]){7, 0x1001, 5, 0}), sizeof rows[0]);
    assert_memory_equal(rows[1], ((const uint64_t[]){7, 0x1004, 3, 128}), sizeof rows[1]);
    assert_int_equal(damages(false, 0), 0);
    assert_int_equal(row_count, 0);
    assert_int_equal(damages(true, 8), 0);
    assert_int_equal(row_count, 0);
    assert_int_equal(damages(true, 7), 0);
    assert_int_equal(row_count, 2);
    fixture_free(&f);
}

static void refuse(uint32_t mode, uint32_t events, uint32_t count, const void *code, uint32_t bytes)
{
    make(mode, events, count, code, bytes);
    assert_int_equal(damages(true, 0), 1);
    assert_int_equal(damages(false, 0), 1);
    fixture_free(&f);
}

static void refuses_what_does_not_decode(void **state)
{
    static const uint8_t good[] = {1, 1, 5};
    static const uint8_t no_instructions[] = {1, 2, 5}, unknown_event[] = {1, 9, 5, 5};
    static const uint8_t zero[] = {1, 1, 0}, more[] = {1, 1, 5, 1};
    static const uint8_t long_number[] = {1,    1,    0xff, 0xff, 0xff, 0xff,
                                          0xff, 0xff, 0xff, 0xff, 0xff, 2};

    (void)state;
    refuse(HR_MODE_EXACT, 3, 2, good, sizeof good); /* one address too few */
    refuse(HR_MODE_EXACT, 3, UINT32_MAX, good, sizeof good);
    for (uint32_t bytes = 0; bytes < sizeof good; bytes++)
        refuse(HR_MODE_EXACT, 3, 1, good, bytes);
    refuse(HR_MODE_EXACT, 3, 1, more, sizeof more);
    refuse(HR_MODE_EXACT, 3, 1, no_instructions, sizeof no_instructions);
    refuse(HR_MODE_EXACT, 3, 1, unknown_event, sizeof unknown_event);
    refuse(HR_MODE_EXACT, 3, 1, zero, sizeof zero);
    refuse(HR_MODE_EXACT, 3, 1, long_number, sizeof long_number);
    refuse(HR_MODE_EXACT, 0, 1, good, sizeof good);
    refuse(HR_MODE_EXACT, 1, 1, good, sizeof good); /* fewer than the samples' */
    refuse(HR_MODE_EXACT, HR_EXACT_EVENTS_MAX + 1, 1, good, sizeof good);
    refuse(HR_MODE_OFF, 3, 1, good, sizeof good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hands_them_out),
                                       cmocka_unit_test(refuses_what_does_not_decode)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
