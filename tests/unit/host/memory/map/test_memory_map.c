/* Maps of memory: which objects are shown, how many rows they have, how much of each cell was
 * allocated. */
#include "host/memory/map/memory_map_parts.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#define BINS 10u
#define ROWS 8u
#define BYTES 1600u /* of the band: a row has 200 */
#define START 0x10000u
#define OBJECTS 300u

static struct trace_info info;
static struct memory_map map;

static void begin(uint32_t lives)
{
    trace_info_init(&info);
    info.clock.ticks_per_second = 1000000000;
    map =
        (struct memory_map){.of = MEMORY_MAP_ALLOCATIONS, .bins = BINS, .to_ns = 1000, .count = 1};
    map.wish.lives = lives;
    map.bands[0] = (struct memory_map_band){.start = START, .end = START + BYTES, .rows = ROWS};
    assert_int_equal(memory_map_lives_begin(&map), 0);
}

static void end(void)
{
    memory_map_free(&map);
    trace_info_free(&info);
}

static void add(uint64_t address, uint64_t bytes, uint64_t from, uint64_t to)
{
    const struct memory_object object = {.address = address, .bytes = bytes, .time = from};

    assert_int_equal(memory_map_lives_add(&map, 0, &info, &object, to), 0);
}

static double overlap(double from, double to, double low, double high)
{
    double a = from > low ? from : low, b = to < high ? to : high;

    return b > a ? b - a : 0;
}

/* Objects at random, within the band and beyond it, against what each cell has of each. */
static void test_shares_of_cells(void **state)
{
    double expected[BINS][ROWS] = {{0}};

    (void)state;
    begin(4);
    srand(7);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        uint64_t address = START - 300 + (uint64_t)rand() % (BYTES + 300), bytes = 1 + rand() % 40;
        uint64_t from = (uint64_t)rand() % 1200, to = from + (uint64_t)rand() % 300;

        bytes = i % 50 == 0 ? 5000 : bytes;
        to = i % 7 == 0 ? UINT64_MAX : to;
        add(address, bytes, from, to);
        for (uint32_t bin = 0; bin < BINS; bin++)
            for (uint32_t row = 0; row < ROWS; row++)
                expected[bin][row] += overlap((double)from, to < 1000 ? (double)to : 1000,
                                              100.0 * bin, 100.0 * (bin + 1)) /
                                      100 *
                                      overlap((double)address, (double)(address + bytes),
                                              START + 200.0 * row, START + 200.0 * (row + 1)) /
                                      200;
    }
    memory_map_lives_end(&map);
    for (uint32_t bin = 0; bin < BINS; bin++)
        for (uint32_t row = 0; row < ROWS; row++)
            assert_true(fabs(memory_map_live(&map.bands[0], bin, row) -
                             fmin(expected[bin][row], 1)) < 1e-6);
    assert_int_equal(map.bands[0].objects, OBJECTS);
    end();
}

/* The largest areas are kept, in the order of time, and the others are counted. */
static void test_largest_lives(void **state)
{
    static const uint64_t bytes[] = {5, 60, 7, 80, 9, 100, 11, 40, 1};

    (void)state;
    begin(3);
    for (uint32_t i = 0; i < 9; i++)
        add(START + 120 * i, bytes[i], 900 - 100 * i, 1000);
    add(START, 4, UINT64_MAX - 5, UINT64_MAX); /* after the map's time */
    add(UINT64_MAX - 3, 100, 1, 2); /* forged */
    memory_map_lives_end(&map);
    assert_int_equal(map.life_count, 3);
    assert_int_equal(map.lives_left_out, 6);
    assert_int_equal(map.lives[0].bytes, 40); /* for 800 ns */
    assert_int_equal(map.lives[1].bytes, 100); /* for 600 */
    assert_int_equal(map.lives[2].bytes, 80); /* for 400 */
    end();
}

static void offer(uint64_t key, uint64_t weight, uint64_t bytes)
{
    memory_map_offer(&map, &(struct memory_map_band){.first_key = key,
                                                     .weight = weight,
                                                     .start = START - key * 16,
                                                     .end = START - key * 16 + bytes});
}

static void test_bands_and_rows(void **state)
{
    (void)state;
    map = (struct memory_map){.of = MEMORY_MAP_ACCESSES, .weight = 1000, .bins = 1};
    map.wish = (struct memory_map_wish){.bands = 3, .rows = 100, .rows_least = 4};
    offer(1, 300, 8);
    offer(2, 1, 8); /* less than one in 500 */
    offer(3, 50, 8);
    offer(4, 500, 1 << 20);
    offer(5, 149, 3);
    offer(6, 900, 0); /* forged: it ends before it begins */
    assert_int_equal(map.count, 3);
    assert_int_equal(map.left_out, 3);
    memory_map_sort(&map);
    assert_int_equal(map.bands[0].first_key, 5);
    assert_int_equal(map.bands[1].first_key, 4);
    assert_int_equal(map.bands[2].first_key, 1);
    assert_int_equal(memory_map_rows(&map), 0);
    assert_int_equal(map.bands[0].rows, 3); /* a byte is never divided */
    assert_in_range(map.bands[1].rows, 60, 96);
    assert_int_equal(map.bands[2].rows, 8);
    assert_int_equal(memory_map_row_start(&map, &map.bands[2], 4), map.bands[2].start + 4);
    memory_map_free(&map);
}

/* Of pages rows begin at whole ones. */
static void test_starts_of_rows(void **state)
{
    const struct memory_map_band band = {
        .start = START, .end = START + 5 * MEMORY_PAGE_BYTES, .rows = 2};

    (void)state;
    map = (struct memory_map){.of = MEMORY_MAP_PAGES};
    assert_int_equal(memory_map_row_start(&map, &band, 1), START + 2 * MEMORY_PAGE_BYTES);
    assert_int_equal(memory_map_row_start(&map, &band, 2), band.end);
    map.of = MEMORY_MAP_ALLOCATIONS;
    assert_int_equal(memory_map_row_start(&map, &band, 1), START + 5 * MEMORY_PAGE_BYTES / 2);
}

static void test_rows_of_blocks(void **state)
{
    (void)state;
    map = (struct memory_map){.of = MEMORY_MAP_ACCESSES, .weight = 1000, .bins = 1};
    map.wish = (struct memory_map_wish){.bands = 8, .rows = 10, .rows_least = 1, .block_bytes = 64};
    offer(1, 300, 1000);
    offer(2, 300, UINT64_MAX / 2);
    assert_int_equal(memory_map_rows(&map), 0);
    assert_int_equal(map.bands[0].rows, 16);
    assert_int_equal(map.bands[1].rows, MEMORY_MAP_ROWS);
    memory_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_of_cells), cmocka_unit_test(test_largest_lives),
        cmocka_unit_test(test_bands_and_rows),  cmocka_unit_test(test_starts_of_rows),
        cmocka_unit_test(test_rows_of_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
