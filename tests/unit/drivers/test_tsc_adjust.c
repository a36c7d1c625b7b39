/* drivers/clock/tsc_adjust.c: what is read, written and put back. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/clock/tsc_adjust.c"

static struct cpuid_result leaf_0, leaf_1, leaf_7;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    assert_int_equal(subleaf, 0);
    return leaf == 0 ? leaf_0 : leaf == 1 ? leaf_1 : leaf_7;
}

static struct tsc_adjust read_one(uint64_t value)
{
    struct tsc_adjust own;

    fake.count = fake.write_count = 0;
    fake_add(0x3b, value, 0);
    tsc_adjust_read(&own);
    return own;
}

static int begin(void **state)
{
    (void)state;
    leaf_0 = (struct cpuid_result){.eax = 7};
    leaf_1 = (struct cpuid_result){0};
    leaf_7 = (struct cpuid_result){.ebx = 2};
    memset(&fake, 0, sizeof fake);
    return 0;
}

static void a_cpu_that_is_apart_follows_and_goes_back(void **state)
{
    const struct tsc_adjust reference = read_one(100);
    struct tsc_adjust own = read_one((uint64_t)-50);

    (void)state;
    assert_true(own.known);
    tsc_adjust_follow(&own, &reference);
    assert_true(own.apart && own.corrected);
    assert_int_equal(tsc_adjust_distance(&own, &reference), 150);
    tsc_adjust_restore(&own);
    tsc_adjust_restore(&own);
    fake_expect_writes((const uint64_t[][2]){{0x3b, 100}, {0x3b, (uint64_t)-50}, {0, 0}});
}

static void equal_cpus_are_left_alone(void **state)
{
    const struct tsc_adjust reference = read_one(100);
    struct tsc_adjust own = read_one(100);

    (void)state;
    tsc_adjust_follow(&own, &reference);
    assert_false(own.apart);
    tsc_adjust_restore(&own);
    assert_int_equal(fake.write_count, 0);
}

static void a_register_that_cannot_be_written_is_told(void **state)
{
    const struct tsc_adjust reference = read_one(100);
    struct tsc_adjust own = read_one(7);

    (void)state;
    fake_find(0x3b)->reserved = 100;
    tsc_adjust_follow(&own, &reference);
    assert_true(own.apart);
    assert_false(own.corrected);
    assert_int_equal(tsc_adjust_distance(&own, &reference), 93);
}

static void nothing_is_known_without_the_register(void **state)
{
    struct tsc_adjust own;

    (void)state;
    tsc_adjust_read(&own); /* it faults */
    assert_false(own.known);
    leaf_7.ebx = 0;
    own = read_one(1);
    assert_false(own.known);
    tsc_adjust_follow(&own, &own);
    leaf_7.ebx = 2;
    leaf_0.eax = 6;
    own = read_one(1);
    assert_false(own.known);
    leaf_0.eax = 7;
    leaf_1.ecx = 1u << 31;
    own = read_one(1);
    assert_false(own.known);
    assert_int_equal(fake.write_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_cpu_that_is_apart_follows_and_goes_back, begin),
        cmocka_unit_test_setup(equal_cpus_are_left_alone, begin),
        cmocka_unit_test_setup(a_register_that_cannot_be_written_is_told, begin),
        cmocka_unit_test_setup(nothing_is_known_without_the_register, begin),
    };
    return cmocka_run_group_tests_name("tsc_adjust", tests, NULL, NULL);
}
