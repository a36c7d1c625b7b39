/* Accesses come back as they were written, and damage is refused. */
#include "tests/unit/test.h"

#include <stdint.h>
#include <string.h>

#include "lib/trace/trace_accesses.h"

static const struct hr_access accesses[] = {
    {.address = 0x7ffff7a01000, .source = 0x0a, .latency = 214, .events = 1, .registers = {0x246}},
    {.address = 0x601040, .source = 1ull << 63, .latency = UINT32_MAX, .events = 1u << 12},
    {.events = 3, .registers = {[17] = UINT64_MAX}},
    {.address = UINT64_MAX, .events = 2, .registers = {1, 2, 3}},
};

#define COUNT (sizeof accesses / sizeof accesses[0])

static uint32_t write_all(uint8_t *to, bool registers)
{
    struct trace_access_state state = {0};
    uint8_t *at = to;

    for (size_t i = 0; i < COUNT; i++) {
        uint8_t *end = trace_access_put(&state, at, &accesses[i], registers);

        assert_true(end - at <= (ptrdiff_t)TRACE_ACCESS_BYTES_MAX);
        at = end;
    }
    return (uint32_t)(at - to);
}

static void come_back_with(bool registers)
{
    uint8_t coded[COUNT * TRACE_ACCESS_BYTES_MAX];
    const uint8_t *at = coded, *stop = coded + write_all(coded, registers);
    struct trace_access_state state = {0};

    for (size_t i = 0; i < COUNT; i++) {
        struct hr_access got = {0}, wanted = accesses[i];

        if (!registers)
            memset(wanted.registers, 0, sizeof wanted.registers);
        at = trace_access_get(&state, at, stop, &got, registers);
        assert_non_null(at);
        assert_memory_equal(&got, &wanted, sizeof got);
    }
    assert_ptr_equal(at, stop);
}

static void come_back(void **state)
{
    (void)state;
    come_back_with(false);
    come_back_with(true);
}

static void cut_anywhere(void **state)
{
    uint8_t coded[COUNT * TRACE_ACCESS_BYTES_MAX];
    uint32_t bytes = write_all(coded, true);

    (void)state;
    for (uint32_t cut = 0; cut < bytes; cut++) {
        struct trace_access_state reading = {0};
        const uint8_t *at = coded;
        struct hr_access got;
        size_t read = 0;

        while ((at = trace_access_get(&reading, at, coded + cut, &got, true)) != NULL)
            read++;
        assert_true(read < COUNT);
    }
}

static void refuses(void **state)
{
    static const uint8_t no_event[] = {1, 0, 0, 0}, far_event[] = {0x80, 0x80, 0x80, 0x02},
                         long_latency[] = {3, 2, 1, 0x80, 0x80, 0x80, 0x80, 0x10};
    struct trace_access_state reading = {0};
    struct hr_access got;

    (void)state;
    assert_null(trace_access_get(&reading, no_event, no_event + sizeof no_event, &got, false));
    assert_null(trace_access_get(&reading, far_event, far_event + sizeof far_event, &got, false));
    assert_null(
        trace_access_get(&reading, long_latency, long_latency + sizeof long_latency, &got, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_back),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
