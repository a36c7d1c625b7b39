/* Bins: sums and extremes, widths that double, hostile times. */
#include "host/view/data/view_bins.h"
#include "tests/unit/host/view/data/columns_reader.h"
#include "tests/unit/test.h"
#include <math.h>

static struct trace_slot previous[3]; /* of each CPU */

static void add(struct view_bins *bins, uint16_t cpu, uint64_t time, uint64_t first,
                uint64_t second, uint8_t flags)
{
    const struct hr_chunk_header chunk = {.cpu = cpu};
    struct trace_slot slot = {.time = time, .flags = flags};
    struct trace_slot *before = &previous[cpu % 3];
    const struct trace_samples samples = {
        .chunk = &chunk, .previous = before, .slots = &slot, .count = 1, .event_count = 2};

    slot.counters[0] = before->counters[0] + first;
    slot.counters[1] = before->counters[1] + second;
    assert_int_equal(view_bins_add(bins, &samples, 0), 0);
    *before = slot;
}

static void pack(const struct view_bins *bins, struct columns_reader *reader)
{
    struct view_columns columns;

    view_columns_init(&columns);
    view_bins_pack(bins, &columns);
    columns_reader_open(reader, &columns);
}

static uint64_t at(const struct columns_reader *reader, const char *name, size_t n)
{
    size_t count = 0;
    uint64_t *values = columns_reader_get(reader, name, &count), value;

    assert_true(n < count);
    value = values[n];
    free(values);
    return value;
}

static int setup(void **state)
{
    static struct view_bins bins;

    memset(previous, 0, sizeof previous);
    *state = &bins;
    return view_bins_init(&bins, 2, 0, 1000);
}

static int teardown(void **state)
{
    view_bins_free(*state);
    return 0;
}

static double rate_of(uint64_t code)
{
    return exp2((double)code / 256 - 64);
}

static void test_sums_and_extremes(void **state)
{
    struct view_bins *bins = *state;
    struct columns_reader reader;

    assert_int_equal(bins->shift, 10);
    add(bins, 0, 100, 200, 20, 0); /* 2 and 0.2 a tick, 0.1 of the base event */
    add(bins, 0, 200, 100, 50, 0); /* 1 and 0.5, 0.5 */
    add(bins, 0, 300, 50, 10, HR_SAMPLE_RESUMED); /* belongs nowhere */
    add(bins, 0, 1500, 1200, 0, 0);
    pack(bins, &reader);
    assert_int_equal(at(&reader, "0.samples", 0), 3);
    assert_int_equal(at(&reader, "0.ticks", 0), 200);
    assert_int_equal(at(&reader, "0.sum.0", 0), 300);
    assert_int_equal(at(&reader, "0.sum.1", 0), 70);
    assert_int_equal(at(&reader, "0.sum.0", 1), 1200);
    assert_float_equal(rate_of(at(&reader, "0.rate_min.0", 0)), 1, 0.01);
    assert_float_equal(rate_of(at(&reader, "0.rate_max.0", 0)), 2, 0.02);
    assert_float_equal(rate_of(at(&reader, "0.ratio_min.1", 0)), 0.1, 0.001);
    assert_float_equal(rate_of(at(&reader, "0.ratio_max.1", 0)), 0.5, 0.005);
    assert_int_equal(at(&reader, "0.rate_min.1", 1), 1); /* zero */
    assert_null(columns_reader_get(&reader, "0.ratio_min.0", NULL)); /* of itself */
    columns_reader_close(&reader);
}

static void test_width_doubles_and_nothing_is_lost(void **state)
{
    struct view_bins *bins = *state;
    struct columns_reader reader;
    uint32_t all = 0;

    for (uint64_t i = 1; i <= 3000000; i++)
        add(bins, i % 3, i * 1000, 10, i % 7, 0);
    for (uint32_t i = 0; i < bins->cpu_count; i++)
        all += bins->cpus[i].used;
    assert_true(all <= bins->bins_max);
    assert_true(all > bins->bins_max / 4);
    pack(bins, &reader);
    assert_int_equal(columns_reader_sum(&reader, "0.samples") +
                         columns_reader_sum(&reader, "1.samples") +
                         columns_reader_sum(&reader, "2.samples"),
                     3000000);
    assert_int_equal(columns_reader_sum(&reader, "1.sum.0"), 10000000);
    assert_float_equal(json_real_value(json_object_get(reader.json, "bin_ticks")),
                       ldexp(1, (int)bins->shift), 0);
    columns_reader_close(&reader);
}

static void test_hostile_times(void **state)
{
    static const uint64_t times[] = {
        5,          UINT64_MAX,     7,          1ull << 63, 1ull << 40,
        UINT64_MAX, UINT64_MAX / 3, 1ull << 33, 0,          UINT32_MAX};
    struct view_bins *bins = *state;
    struct columns_reader reader;
    uint64_t samples = 0;

    for (uint32_t i = 0; i < 3000; i++)
        add(bins, (uint16_t)(i % 600), times[i % 10], UINT64_MAX / 2, i, 0);
    assert_int_equal(bins->cpu_count, VIEW_BINS_CPUS_MAX);
    pack(bins, &reader);
    for (uint32_t i = 0; i < bins->cpu_count; i++) {
        char name[32];

        snprintf(name, sizeof name, "%u.samples", bins->cpus[i].cpu);
        samples += columns_reader_sum(&reader, name);
    }
    assert_int_equal(samples + bins->ignored, 3000);
    columns_reader_close(&reader);
}

static void assert_same_pack(const struct view_bins *a, const struct view_bins *b)
{
    struct view_columns columns[2];

    view_columns_init(&columns[0]);
    view_columns_init(&columns[1]);
    view_bins_pack(a, &columns[0]);
    view_bins_pack(b, &columns[1]);
    assert_true(columns_equal(&columns[0], &columns[1]));
}

static void add_many(struct view_bins *bins, uint64_t n, uint16_t cpu)
{
    for (uint64_t i = 0; i < 50; i++)
        add(bins, cpu, n * 500000 + 77 + (n != 264 ? i * 10000 : i * i * i * i * i * i * i),
            n + i % 13, i % 7, 0);
}

/* Parts of which each begins with a width that the whole has had, between samples of all times; and
 * more CPUs than there is room for. */
static void test_parts(void **state)
{
    struct view_bins *bins = *state, whole, part;
    unsigned shift;

    assert_int_equal(view_bins_init(&whole, 2, 0, 1000), 0);
    assert_int_equal(view_bins_init(&part, 2, 0, 1), 0);
    shift = whole.shift;
    for (uint64_t n = 0; n < 530; n++) {
        uint16_t cpu = (uint16_t)(n % 2 == 0 ? 0 : n);
        struct trace_slot before = previous[cpu % 3];

        view_bins_begin(&part, cpu, shift, n * 500000 + 77);
        shift = whole.shift;
        if (n == 264) {
            add_many(&whole, n, cpu);
        } else {
            add_many(&part, n, cpu);
            assert_int_equal(view_bins_merge(&whole, &part), 0);
        }
        previous[cpu % 3] = before;
        add_many(bins, n, cpu);
    }
    assert_same_pack(bins, &whole);
    assert_int_equal(bins->ignored, whole.ignored);
    assert_true(bins->ignored != 0);
    view_bins_free(&whole);
    view_bins_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_and_extremes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_width_doubles_and_nothing_is_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
