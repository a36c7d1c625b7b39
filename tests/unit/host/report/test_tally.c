/* Tests of host/report/tally.c: increments go to the later sample, nothing is lost, memory is
 * bounded.
 */
#include "host/report/tally.h"

#include <errno.h>

#include "tests/unit/test.h"

static const uint64_t *entry_of(const struct tally *tally, uint64_t ip, uint32_t node,
                                uint32_t group)
{
    const uint64_t *entry;

    for (uint32_t place = 0; (entry = tally_next(tally, &place)) != NULL; place++)
        if (entry[TALLY_IP] == ip && tally_node(entry) == node && tally_group(entry) == group)
            return entry;
    return NULL;
}

static void increments_go_to_the_later_sample(void **state)
{
    const struct trace_slot previous = {.ip = 0x5000, .counters = {100, 7}};
    const struct trace_slot slots[] = {
        {.ip = 0x1000, .counters = {110, 7}},
        {.ip = 0x2000, .counters = {140, 9}},
        {.ip = 0x1000, .counters = {141, 10}},
    };
    const struct trace_samples samples = {
        .previous = &previous, .slots = slots, .count = 3, .event_count = 2};
    struct tally t;

    (void)state;
    tally_init(&t, 1u << 20);
    assert_int_equal(tally_reserve(&t, 2, 3), 0);
    tally_add(&t, &samples, 0, 3, 5);
    assert_int_equal(t.used, 2);
    assert_int_equal(entry_of(&t, 0x1000, 0, 5)[TALLY_SAMPLES], 2);
    assert_int_equal(entry_of(&t, 0x1000, 0, 5)[TALLY_SUMS], 11);
    assert_int_equal(entry_of(&t, 0x1000, 0, 5)[TALLY_SUMS + 1], 1);
    assert_int_equal(entry_of(&t, 0x2000, 0, 5)[TALLY_SUMS], 30);
    tally_clear(&t);
    assert_int_equal(t.used, 0);
    /* in two pieces, of two groups: what the second one rose by is since the last of the first */
    tally_add(&t, &samples, 0, 1, 1);
    tally_add(&t, &samples, 1, 3, 2);
    assert_int_equal(entry_of(&t, 0x1000, 0, 1)[TALLY_SUMS], 10);
    assert_int_equal(entry_of(&t, 0x2000, 0, 2)[TALLY_SUMS], 30);
    assert_int_equal(entry_of(&t, 0x1000, 0, 2)[TALLY_SUMS], 1);
    tally_free(&t);
}

/* What was counted while sampling paused belongs to no place; the sample itself does. */
static void pauses_belong_nowhere(void **state)
{
    const struct trace_slot previous = {.counters = {100}};
    const struct trace_slot slots[] = {
        {.ip = 0x1000, .counters = {1100}, .flags = HR_SAMPLE_RESUMED},
        {.ip = 0x1000, .counters = {9100}, .flags = HR_SAMPLE_RESUMED},
    };
    const struct trace_samples samples = {
        .previous = &previous, .slots = slots, .count = 2, .event_count = 1};
    struct tally t;

    (void)state;
    tally_init(&t, 1u << 20);
    assert_int_equal(tally_reserve(&t, 1, 2), 0);
    tally_add(&t, &samples, 0, 2, 0);
    assert_int_equal(entry_of(&t, 0x1000, 0, 0)[TALLY_SAMPLES], 2);
    assert_int_equal(entry_of(&t, 0x1000, 0, 0)[TALLY_SUMS], 0);
    tally_free(&t);
}

static void stacks_are_told_apart(void **state)
{
    const struct trace_slot previous = {0};
    const struct trace_slot slots[] = {{.ip = 1}, {.ip = 1}, {.ip = 1}};
    const uint32_t nodes[] = {7, 9, 7};
    const struct trace_samples samples = {
        .previous = &previous, .slots = slots, .count = 3, .stacks = nodes};
    struct tally t;

    (void)state;
    tally_init(&t, 1u << 20);
    assert_int_equal(tally_reserve(&t, 0, 3), 0);
    tally_add(&t, &samples, 0, 3, 0);
    assert_int_equal(entry_of(&t, 1, 7, 0)[TALLY_SAMPLES], 2);
    assert_int_equal(entry_of(&t, 1, 9, 0)[TALLY_SAMPLES], 1);
    tally_free(&t);
}

/* Different addresses without end: the table asks to be emptied within its budget. */
static void budget_holds(void **state)
{
    const size_t budget = 1u << 20;
    struct trace_slot previous = {0};
    struct trace_slot slots[100];
    const struct trace_samples samples = {
        .previous = &previous, .slots = slots, .count = 100, .event_count = 5};
    uint64_t all = 0, ip = 0;
    struct tally t;
    int full = 0;

    (void)state;
    tally_init(&t, budget);
    for (int run = 0; run < 1000; run++) {
        int error;

        for (uint32_t i = 0; i < 100; i++)
            slots[i] = (struct trace_slot){.ip = ip++};
        error = tally_reserve(&t, 5, 100);
        if (error != 0) {
            assert_int_equal(error, -ENOSPC);
            for (uint32_t place = 0; tally_next(&t, &place) != NULL; place++)
                all += tally_next(&t, &place)[TALLY_SAMPLES];
            tally_clear(&t);
            full++;
            assert_int_equal(tally_reserve(&t, 5, 100), 0);
        }
        assert_true(((size_t)8 * sizeof(uint64_t) << t.bits) <= budget);
        tally_add(&t, &samples, 0, 100, 0);
    }
    for (uint32_t place = 0; tally_next(&t, &place) != NULL; place++)
        all += tally_next(&t, &place)[TALLY_SAMPLES];
    assert_true(full > 3);
    assert_int_equal(all, 100000);
    tally_free(&t);
}

/* Sums are taken as samples are, but not where samples would have made the table grow. */
static void sums_are_taken(void **state)
{
    static uint64_t many[5000][TALLY_SUMS + 1];
    const uint64_t sums[][TALLY_SUMS + 1] = {{1, 0, 5, 50}, {2, 7ull << 32, 6, 60}};
    struct trace_slot previous = {0}, slot = {.ip = 1, .counters = {3}};
    const struct trace_samples samples = {
        .previous = &previous, .slots = &slot, .count = 1, .event_count = 1};
    struct tally t;

    (void)state;
    tally_init(&t, 8u << 20);
    assert_int_equal(tally_take(&t, 1, sums[0], 2, 1), -EAGAIN); /* no table yet */
    assert_int_equal(tally_reserve(&t, 1, 1), 0);
    tally_add(&t, &samples, 0, 1, 0);
    assert_int_equal(tally_take(&t, 2, sums[0], 1, 1), -EAGAIN); /* another number of events */
    assert_int_equal(tally_take(&t, 1, sums[0], 2, 1), 0);
    assert_int_equal(t.used, 2);
    assert_int_equal(entry_of(&t, 1, 0, 0)[TALLY_SAMPLES], 6);
    assert_int_equal(entry_of(&t, 1, 0, 0)[TALLY_SUMS], 53);
    assert_int_equal(entry_of(&t, 2, 7, 0)[TALLY_SUMS], 60);
    for (uint32_t i = 0; i < 5000; i++)
        many[i][TALLY_IP] = many[i][TALLY_SAMPLES] = 100 + i;
    assert_int_equal(tally_take(&t, 1, many[0], 5000, 1), -EAGAIN);
    assert_int_equal(tally_take(&t, 1, sums[0], 2, (1u << t.bits) / 4 * 3 - 1), -EAGAIN);
    assert_int_equal(t.used, 2);
    assert_int_equal(tally_reserve(&t, 1, 6000), 0);
    assert_int_equal(tally_take(&t, 1, many[0], 5000, 1), 0);
    assert_int_equal(t.used, 5002);
    assert_int_equal(entry_of(&t, 5099, 0, 0)[TALLY_SAMPLES], 5099);
    tally_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments_go_to_the_later_sample),
        cmocka_unit_test(pauses_belong_nowhere),
        cmocka_unit_test(stacks_are_told_apart),
        cmocka_unit_test(budget_holds),
        cmocka_unit_test(sums_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
