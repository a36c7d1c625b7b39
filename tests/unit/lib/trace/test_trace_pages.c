/* Runs of touched pages come back as they were written, and damage is refused. */
#include "tests/unit/test.h"

#include <stdint.h>
#include <string.h>

#include "lib/trace/trace_pages.h"

static const struct trace_pages_run runs[] = {
    {0x400000, 1, 0},
    {0x401000, 5, TRACE_PAGES_WRITTEN},
    {0x600000, 512, TRACE_PAGES_LARGE},
    {0x7ffff7a00000, 1ull << 20, TRACE_PAGES_LARGE | TRACE_PAGES_WRITTEN},
};

#define COUNT (sizeof runs / sizeof runs[0])

static uint32_t write_all(uint8_t *to)
{
    uint64_t end = 0;
    uint32_t bytes = 0;

    for (size_t i = 0; i < COUNT; i++) {
        uint32_t more = trace_pages_put(to + bytes, end, &runs[i], i == 0);

        assert_true(more <= TRACE_PAGES_RUN_MAX);
        bytes += more;
        end = runs[i].address + runs[i].pages * TRACE_PAGE_BYTES;
    }
    return bytes;
}

static void come_back(void **state)
{
    uint8_t coded[COUNT * TRACE_PAGES_RUN_MAX];
    struct trace_pages_reader reader;
    struct trace_pages_run run;
    uint32_t bytes = write_all(coded);

    (void)state;
    trace_pages_open(&reader, runs[0].address, coded, bytes);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(trace_pages_next(&reader, &run), 1);
        assert_true(run.address == runs[i].address);
        assert_true(run.pages == runs[i].pages);
        assert_int_equal(run.flags, runs[i].flags);
    }
    assert_int_equal(trace_pages_next(&reader, &run), 0);
}

/* Whatever the bytes are, the reader ends within them, with runs that are in order. */
static void cut_anywhere(void **state)
{
    uint8_t coded[COUNT * TRACE_PAGES_RUN_MAX];
    uint32_t bytes = write_all(coded);

    (void)state;
    for (uint32_t cut = 0; cut <= bytes; cut++) {
        struct trace_pages_reader reader;
        struct trace_pages_run run;
        uint64_t end = runs[0].address;
        size_t count = 0;
        int next;

        trace_pages_open(&reader, runs[0].address, coded, cut);
        while ((next = trace_pages_next(&reader, &run)) > 0) {
            assert_true(run.address >= end);
            end = run.address + run.pages * TRACE_PAGE_BYTES;
            count++;
        }
        assert_true(next == 0 || count < COUNT);
        assert_int_equal(trace_pages_next(&reader, &run), 0); /* after damage it is at the end */
    }
}

static void refuses(void **state)
{
    static const struct {
        uint8_t bytes[12];
        uint32_t count;
    } bad[] = {
        {{0}, 1}, /* an empty run */
        {{3}, 1}, /* likewise, with flags */
        {{0x80}, 1}, /* cut */
        {{4, 0x80}, 2}, /* the gap is cut */
        {{4, 1}, 2}, /* a gap without a run */
        {{4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 4},
         12}, /* a gap of 2^64 */
        {{0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 10}, /* 2^62 pages */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct trace_pages_reader reader;
        struct trace_pages_run run;
        int next;

        trace_pages_open(&reader, 0x1000, bad[i].bytes, bad[i].count);
        while ((next = trace_pages_next(&reader, &run)) > 0)
            ;
        assert_int_equal(next, -1);
    }
}

static void refuses_addresses_within_a_page(void **state)
{
    static const uint8_t one = 4;
    struct trace_pages_reader reader;
    struct trace_pages_run run;

    (void)state;
    trace_pages_open(&reader, 0x1008, &one, 1);
    assert_int_equal(trace_pages_next(&reader, &run), -1);
    assert_int_equal(trace_pages_next(&reader, &run), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_back),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_addresses_within_a_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
