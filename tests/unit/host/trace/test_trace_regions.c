/* Tests of host/trace/trace_regions.c: buckets, percentiles, records that come twice, hostile ones.
 */
#include "host/trace/trace_regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/hr_abi.h"
#include "tests/unit/test.h"

struct body { /* of a record, as it lies in a payload */
    struct hr_rec_region region;
    uint8_t tail[HR_REGION_BUCKETS * 8 + 64];
    size_t bytes;
};

/* A region in which `passes` values from `from` on were counted, `step` apart. */
static struct body make(const char *name, uint16_t event, uint64_t passes, uint64_t from,
                        uint64_t step)
{
    uint64_t buckets[HR_REGION_BUCKETS] = {0};
    struct body b = {.region = {.passes = passes,
                                .min = from,
                                .max = from + (passes - 1) * step,
                                .event = event,
                                .name_bytes = (uint16_t)strlen(name),
                                .threads = 2}};

    for (uint64_t i = 0; i < passes; i++) {
        buckets[hr_abi_bucket(from + i * step)]++;
        b.region.sum += from + i * step;
    }
    b.region.bucket_count = (uint16_t)(hr_abi_bucket(b.region.max) + 1);
    memcpy(b.tail, buckets, b.region.bucket_count * 8u);
    memcpy(b.tail + b.region.bucket_count * 8u, name, b.region.name_bytes);
    b.bytes = sizeof b.region + b.region.bucket_count * 8u + b.region.name_bytes;
    return b;
}

/* Copies the body to memory of its exact length, so that ASan sees a read behind it. */
static enum trace_status take(struct trace_regions *regions, const struct body *b)
{
    uint8_t *bytes = malloc(b->bytes);
    struct trace_record record = {
        .type = HR_REC_REGION, .bytes = (uint16_t)b->bytes, .body = bytes};
    enum trace_status status;
    int error = 0;

    assert_non_null(bytes);
    memcpy(bytes, b, b->bytes);
    status = trace_regions_take(regions, &record, &error);
    assert_int_equal(error, 0);
    free(bytes);
    return status;
}

/* Every bucket begins where docs/format.md says, and the next one where it ends. */
static void buckets_are_those_of_the_format(void **state)
{
    (void)state;
    for (uint64_t v = 0; v < 8; v++)
        assert_int_equal(hr_abi_bucket(v), v);
    assert_int_equal(hr_abi_bucket(8), 8); /* e = 3: 8 + 0 + ((8 >> 1) & 3) */
    assert_int_equal(hr_abi_bucket(9), 8);
    assert_int_equal(hr_abi_bucket(10), 9);
    assert_int_equal(hr_abi_bucket(15), 11);
    assert_int_equal(hr_abi_bucket(1000), 35); /* e = 9: 8 + 24 + 3 */
    assert_int_equal(hr_abi_bucket(UINT64_MAX), HR_REGION_BUCKETS - 1);
    for (uint32_t i = 1; i < HR_REGION_BUCKETS; i++) {
        uint64_t start = trace_region_bucket_start(i);

        assert_int_equal(hr_abi_bucket(start), i);
        assert_int_equal(hr_abi_bucket(start - 1), i - 1);
    }
}

static void figures_are_kept_by_event(void **state)
{
    struct body time = make("parse", HR_REGION_TICKS, 1000, 2000, 2);
    struct body event = make("parse", 1, 1000, 3, 0);
    struct body other = make("hash", HR_REGION_TICKS, 1, 77, 0);
    struct trace_regions regions = {0};
    const struct trace_region_figures *f;

    (void)state;
    assert_int_equal(take(&regions, &time), TRACE_OK);
    assert_int_equal(take(&regions, &event), TRACE_OK);
    assert_int_equal(take(&regions, &other), TRACE_OK);
    assert_int_equal(regions.count, 2);
    assert_string_equal(regions.all[0].name, "parse");
    assert_string_equal(regions.all[1].name, "hash");
    assert_int_equal(regions.all[0].threads, 2);
    assert_int_equal(trace_region_passes(&regions.all[0]), 1000);
    f = &regions.all[0].figures[TRACE_REGION_TIME];
    assert_int_equal(f->sum, 2999000);
    assert_int_equal(f->min, 2000);
    assert_int_equal(f->max, 3998);
    assert_in_range(trace_region_percentile(f, 0.50), 2960, 3040);
    assert_in_range(trace_region_percentile(f, 0.99), 3940, 3998);
    f = &regions.all[0].figures[1];
    assert_int_equal(trace_region_percentile(f, 0.50), 3);
    assert_int_equal(trace_region_percentile(f, 0.99), 3);
    assert_int_equal(regions.all[0].figures[0].records, 0);
    assert_int_equal(regions.contradictions + regions.repeated + regions.ignored, 0);
    trace_regions_free(&regions);
}

static void percentiles_stay_between_least_and_largest(void **state)
{
    static const double shares[] = {0, 0.01, 0.5, 0.99, 1};
    struct body one = make("one", 0, 7, 1000003, 0);
    struct body wide = make("wide", 0, 2, 5, UINT64_MAX - 5);
    struct trace_regions regions = {0};
    uint64_t last = 0;

    (void)state;
    assert_int_equal(take(&regions, &one), TRACE_OK);
    assert_int_equal(take(&regions, &wide), TRACE_OK);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        uint64_t value = trace_region_percentile(&regions.all[1].figures[0], shares[i]);

        assert_int_equal(trace_region_percentile(&regions.all[0].figures[0], shares[i]), 1000003);
        assert_true(value >= last);
        last = value;
    }
    assert_int_equal(trace_region_percentile(&regions.all[1].figures[0], 0.5), 5);
    assert_int_equal(last, UINT64_MAX);
    trace_regions_free(&regions);
}

static void records_that_come_twice_are_added_up(void **state)
{
    struct body low = make("r", 0, 10, 10, 1);
    struct body high = make("r", 0, 30, 1000, 1);
    struct trace_regions regions = {0};
    const struct trace_region_figures *f;

    (void)state;
    assert_int_equal(take(&regions, &high), TRACE_OK);
    assert_int_equal(take(&regions, &low), TRACE_OK);
    assert_int_equal(regions.count, 1);
    assert_int_equal(regions.repeated, 1);
    assert_int_equal(regions.contradictions, 0);
    f = &regions.all[0].figures[0];
    assert_int_equal(f->passes, 40);
    assert_int_equal(f->min, 10);
    assert_int_equal(f->max, 1029);
    assert_in_range(trace_region_percentile(f, 0.2), 10, 19);
    assert_in_range(trace_region_percentile(f, 0.5), 896, 1029);
    high.region.passes = UINT64_MAX;
    high.region.sum = UINT64_MAX;
    assert_int_equal(take(&regions, &high), TRACE_OK);
    assert_int_equal(f->passes, UINT64_MAX); /* saturates */
    assert_int_equal(regions.contradictions, 1);
    trace_regions_free(&regions);
}

static void wrong_lengths_are_refused(void **state)
{
    const struct body good = make("name", 0, 10, 10, 1);
    struct trace_regions regions = {0};
    struct body b;

    (void)state;
    for (size_t bytes = 0; bytes < good.bytes; bytes++) {
        b = good;
        b.bytes = bytes;
        assert_int_equal(take(&regions, &b), TRACE_BAD_RECORD);
    }
    b = good;
    b.region.bucket_count = HR_REGION_BUCKETS + 1;
    b.bytes = sizeof b.region + sizeof b.tail;
    assert_int_equal(take(&regions, &b), TRACE_BAD_RECORD);
    b = good;
    b.region.event = HR_EVENTS_MAX;
    assert_int_equal(take(&regions, &b), TRACE_BAD_RECORD);
    b = good;
    b.region.name_bytes = UINT16_MAX;
    assert_int_equal(take(&regions, &b), TRACE_BAD_RECORD);
    b = good;
    b.tail[good.region.bucket_count * 8u + 1] = 0; /* a name ends where its length says */
    assert_int_equal(take(&regions, &b), TRACE_BAD_RECORD);
    assert_int_equal(regions.count, 0);
    trace_regions_free(&regions);
}

static void contradictions_are_counted(void **state)
{
    struct body passes = make("a", 0, 10, 10, 1), least = passes, empty = passes;
    struct trace_regions regions = {0};

    (void)state;
    passes.region.passes++;
    least.region.min = 20;
    empty.region = (struct hr_rec_region){.sum = 1, .event = 1, .name_bytes = 0};
    empty.bytes = sizeof empty.region;
    assert_int_equal(take(&regions, &passes), TRACE_OK);
    assert_int_equal(take(&regions, &least), TRACE_OK);
    assert_int_equal(take(&regions, &empty), TRACE_OK);
    assert_int_equal(regions.contradictions, 3);
    trace_regions_free(&regions);
}

static void more_regions_than_fit_are_counted(void **state)
{
    struct trace_regions regions = {0};
    char name[16];

    (void)state;
    for (uint32_t i = 0; i < TRACE_REGIONS_MAX + 5; i++) {
        struct body b;

        snprintf(name, sizeof name, "r%u", i);
        b = make(name, 0, 1, i, 0);
        assert_int_equal(take(&regions, &b), TRACE_OK);
    }
    assert_int_equal(regions.count, TRACE_REGIONS_MAX);
    assert_int_equal(regions.ignored, 5);
    trace_regions_free(&regions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_those_of_the_format),
        cmocka_unit_test(figures_are_kept_by_event),
        cmocka_unit_test(percentiles_stay_between_least_and_largest),
        cmocka_unit_test(records_that_come_twice_are_added_up),
        cmocka_unit_test(wrong_lengths_are_refused),
        cmocka_unit_test(contradictions_are_counted),
        cmocka_unit_test(more_regions_than_fit_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
