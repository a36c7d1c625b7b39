/* boot/uefi/plan.c: who gets which of the firmware's memory. */
#include "boot/uefi/plan.c"

#include "tests/unit/test.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct plan plan;

static uint64_t sum_of(uint32_t kind)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < plan.range_count; i++)
        sum += plan.ranges[i].kind == kind ? plan.ranges[i].bytes : 0;
    return sum;
}

/* Every range is within one that was free, and none overlaps another. */
static void assert_sound(const struct plan_free *free, size_t count)
{
    assert_true(plan.range_count <= BOOT_MEMORY_RANGES_MAX);
    for (uint32_t i = 0; i < plan.range_count; i++) {
        const struct boot_memory_range *r = &plan.ranges[i];
        bool found = false;

        assert_true(r->bytes > 0 && r->bytes % 4096 == 0 && r->base % 4096 == 0);
        for (size_t k = 0; k < count; k++)
            found = found ||
                    (r->base >= free[k].base && r->base + r->bytes <= free[k].base + free[k].bytes);
        assert_true(found);
        for (uint32_t k = 0; k < i; k++)
            assert_true(r->base + r->bytes <= plan.ranges[k].base ||
                        plan.ranges[k].base + plan.ranges[k].bytes <= r->base);
    }
    assert_true(sum_of(BOOT_MEMORY_RAM) == plan.memory_bytes);
    assert_true(sum_of(BOOT_MEMORY_BUFFER) == plan.buffer_bytes);
}

static bool make(const struct plan_free *free, size_t count, uint64_t memory, uint64_t buffer)
{
    static struct plan_free copy[PLAN_FREE_MAX];
    bool good;

    memcpy(copy, free, count * sizeof *free);
    good = plan_make(&plan, copy, count, (struct plan_wish){memory, buffer});
    if (good)
        assert_sound(free, count);
    return good;
}

static const struct plan_free pc[] = {
    /* 8 GiB: below and above the hole for devices */
    {1 * MIB, 7 * MIB},
    {16 * MIB, 1500 * MIB},
    {1600 * MIB, 512 * 1024}, /* too small to matter */
    {4096 * MIB, 6 * GIB},
};

static void gives_low_memory_to_the_program(void **state)
{
    (void)state;
    assert_true(make(pc, 4, GIB, BOOT_CONF_ALL));
    assert_int_equal(plan.ranges[0].kind, BOOT_MEMORY_RAM);
    assert_true(plan.ranges[0].base == 16 * MIB && plan.ranges[0].bytes == GIB);
    assert_true(plan.ranges[1].base == 4 * GIB && plan.ranges[1].bytes == 6 * GIB);
    assert_true(plan.ranges[2].base == 16 * MIB + GIB);
    assert_true(plan.free_bytes == 6 * GIB + 1507 * MIB);
    assert_true(plan.reserve_bytes == plan.free_bytes / 16 / 4096 * 4096);
    assert_true(plan.buffer_bytes == plan.free_bytes - plan.reserve_bytes - GIB);
    assert_true(make(pc, 4, 2 * GIB, BOOT_CONF_ALL)); /* and what else it needs from above */
    assert_true(plan.ranges[0].base == 16 * MIB && plan.ranges[1].base == MIB);
    /* some memory below 4 GiB stays the firmware's */
    assert_true(plan.ranges[0].bytes == 1500 * MIB - PLAN_RESERVE_MIN);
    assert_true(plan.ranges[2].base == 4 * GIB &&
                plan.ranges[2].bytes == 2 * GIB - 1507 * MIB + PLAN_RESERVE_MIN);
    assert_true(plan.ranges[3].kind == BOOT_MEMORY_BUFFER);
}

static void takes_as_much_as_was_asked_for(void **state)
{
    (void)state;
    assert_true(make(pc, 4, 6500 * MIB, 64 * MIB));
    assert_true(plan.memory_bytes == 6500 * MIB && plan.buffer_bytes == 64 * MIB);
    assert_int_equal(plan.range_count, 4);
    assert_true(make(pc, 4, 33 * MIB + 1, MIB + 1));
    assert_true(plan.memory_bytes == 33 * MIB + 4096 && plan.buffer_bytes == MIB + 4096);
    assert_true(make(pc, 4, BOOT_CONF_ALL, 64 * MIB));
    assert_true(plan.memory_bytes == plan.free_bytes - plan.reserve_bytes - 64 * MIB);
    assert_true(make(pc, 4, BOOT_CONF_ALL, BOOT_CONF_ALL));
    assert_true(plan.memory_bytes - plan.buffer_bytes <= 4096 ||
                plan.buffer_bytes - plan.memory_bytes <= 4096);
}

static void takes_half_of_a_small_machine(void **state)
{
    const struct plan_free small[] = {{16 * MIB, 964 * MIB}};

    (void)state;
    assert_true(make(pc, 4, BOOT_CONF_USUAL, BOOT_CONF_ALL));
    assert_true(plan.memory_bytes == GIB);
    assert_true(make(small, 1, BOOT_CONF_USUAL, BOOT_CONF_ALL));
    assert_true(plan.memory_bytes == 450 * MIB && plan.buffer_bytes == 450 * MIB);
    assert_true(make(small, 1, BOOT_CONF_USUAL, 200 * MIB));
    assert_true(plan.memory_bytes == 700 * MIB && plan.buffer_bytes == 200 * MIB);
}

static void says_when_there_is_too_little(void **state)
{
    const struct plan_free small[] = {{16 * MIB, 100 * MIB}};

    (void)state;
    assert_false(make(pc, 4, 8 * GIB, BOOT_CONF_ALL));
    assert_true(plan.free_bytes == 6 * GIB + 1507 * MIB);
    assert_false(make(pc, 4, GIB, 7 * GIB));
    assert_false(make(pc, 4, BOOT_CONF_ALL - 1, BOOT_CONF_ALL - 1));
    assert_false(make(pc, 4, BOOT_CONF_ALL, 100 * GIB));
    assert_false(make(pc, 0, 32 * MIB, MIB));
    assert_false(make(small, 1, 64 * MIB, BOOT_CONF_ALL));
    assert_true(plan.reserve_bytes == 64 * MIB);
    assert_false(make(small, 1, 36 * MIB, BOOT_CONF_ALL)); /* nothing is left for the buffer */
    assert_true(make(small, 1, 35 * MIB, BOOT_CONF_ALL));
    assert_true(plan.buffer_bytes == MIB);
    assert_false(make(small, 1, BOOT_CONF_ALL, BOOT_CONF_ALL));
}

static void keeps_to_the_number_of_ranges(void **state)
{
    static struct plan_free many[PLAN_FREE_MAX];

    (void)state;
    for (size_t i = 0; i < PLAN_FREE_MAX; i++)
        many[i] = (struct plan_free){i * 8 * MIB, (1 + i % 7) * MIB};
    assert_true(make(many, PLAN_FREE_MAX, BOOT_CONF_ALL, BOOT_CONF_ALL));
    assert_true(plan.free_bytes == 63 * 7 * MIB);
    assert_true(make(many, PLAN_FREE_MAX, 90 * MIB, BOOT_CONF_ALL));
    assert_false(make(many, PLAN_FREE_MAX, 500 * MIB, MIB));
}

static void is_sound_for_anything(void **state)
{
    struct test_random random = {4711};
    static struct plan_free free[100];

    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t count = test_random_below(&random, 100);
        uint64_t at = MIB, memory = (32 + test_random_below(&random, 4096)) * MIB;
        uint64_t buffer =
            test_random_below(&random, 3) ? BOOT_CONF_ALL : test_random_below(&random, 1024) * MIB;

        for (size_t i = 0; i < count; i++) {
            uint64_t scale = test_random_below(&random, 18);

            at += test_random_below(&random, 1000) * 4096;
            free[i] =
                (struct plan_free){at, (1 + test_random_below(&random, 1ull << scale)) * 4096};
            at += free[i].bytes;
        }
        if (make(free, count, memory, buffer))
            assert_true(plan.memory_bytes == memory);
        else
            assert_true(buffer < MIB || memory + MIB > plan.free_bytes - plan.reserve_bytes ||
                        (buffer != BOOT_CONF_ALL &&
                         memory + buffer > plan.free_bytes - plan.reserve_bytes) ||
                        plan.free_bytes < plan.reserve_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_low_memory_to_the_program),
        cmocka_unit_test(takes_as_much_as_was_asked_for),
        cmocka_unit_test(takes_half_of_a_small_machine),
        cmocka_unit_test(says_when_there_is_too_little),
        cmocka_unit_test(keeps_to_the_number_of_ranges),
        cmocka_unit_test(is_sound_for_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
