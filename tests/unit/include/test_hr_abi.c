/* include/hr_abi.h: histogram buckets, adding up, merging threads. */
#include "tests/unit/test.h"

#include "include/hr_abi.h"
#include "include/hr_format.h"

/* The smallest value of a bucket, from docs/format.md's rule read backwards. */
static uint64_t bucket_start(uint32_t bucket)
{
    if (bucket < 8)
        return bucket;
    uint32_t exponent = 3 + (bucket - 8) / 4;
    return (4ull + (bucket - 8) % 4) << (exponent - 2);
}

static void test_buckets_at_their_edges(void **state)
{
    (void)state;
    assert_int_equal(HR_ABI_BUCKETS, HR_REGION_BUCKETS);
    for (uint32_t i = 0; i < HR_ABI_BUCKETS; i++) {
        uint64_t start = bucket_start(i);
        assert_int_equal(hr_abi_bucket(start), i);
        if (i)
            assert_int_equal(hr_abi_bucket(start - 1), i - 1);
    }
    assert_int_equal(hr_abi_bucket(UINT64_MAX), HR_ABI_BUCKETS - 1);
}

static void test_add(void **state)
{
    static struct hr_abi_aggregate a;

    (void)state;
    hr_abi_add(&a, 100);
    hr_abi_add(&a, 7);
    hr_abi_add(&a, 7);
    assert_int_equal(a.passes, 3);
    assert_int_equal(a.sum, 114);
    assert_int_equal(a.min, 7);
    assert_int_equal(a.max, 100);
    assert_int_equal(a.buckets[7], 2);
    assert_int_equal(a.buckets[hr_abi_bucket(100)], 1);
}

static void test_merge_is_adding_everything_to_one(void **state)
{
    static struct hr_abi_aggregate parts[3], merged, one;
    struct test_random random = {.state = 42};

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
        hr_abi_add(&parts[test_random_below(&random, 2)], value); /* the third stays empty */
        hr_abi_add(&one, value);
    }
    for (uint32_t i = 0; i < 3; i++)
        hr_abi_merge(&merged, &parts[2 - i]);
    assert_memory_equal(&merged, &one, sizeof one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_at_their_edges),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_merge_is_adding_everything_to_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
