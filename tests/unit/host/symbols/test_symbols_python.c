/* host/symbols/symbols_python.c: location tables as CPython writes them, and cut off anywhere. */
#include "host/symbols/symbols_python.h"
#include "tests/unit/test.h"

/* What CPython 3.11.2 made of a function that begins in line 7:
 *
 *     def hot(n):
 *         total = 0
 *         for i in range(n):
 *             total += i * i
 *         return total
 *
 * By its co_positions() line 7 begins at offset 0, line 8 at 2, line 9 at 6, line 10 at 40, line 11
 * at 58. */
static const uint8_t hot[] = {
    0x80, 0x00, 0xd8, 0x0c, 0x0d, 0x80, 0x45, 0xdd, 0x0d, 0x12, 0x90, 0x31, 0x89, 0x58, 0x8c, 0x58,
    0xf0, 0x00, 0x01, 0x05, 0x17, 0xf0, 0x00, 0x01, 0x05, 0x17, 0x88, 0x01, 0xd8, 0x08, 0x0d, 0x90,
    0x11, 0x90, 0x51, 0x91, 0x15, 0x89, 0x0e, 0x88, 0x05, 0x88, 0x05, 0xd8, 0x0b, 0x10, 0x80, 0x4c};

static void lines_are_those_of_cpython(void **state)
{
    static const uint32_t lines[][2] = {{0, 7},   {2, 8},   {4, 8},   {6, 9},   {24, 9}, {38, 9},
                                        {40, 10}, {56, 10}, {58, 11}, {60, 11}, {62, 0}, {1000, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(symbols_python_line(hot, sizeof hot, 7, lines[i][0]), lines[i][1]);
}

static void forms_of_entries(void **state)
{
    static const uint8_t table[] = {
        0xe8, 0x46, 0x01, /* no columns: 2^6 * 1 + 6 = 70, zigzag: +35 */
        0xe8, 0x47, 0x01, /* 71: -35 */
        0xf8, /* no line */
        0xf1, 0x02, 0x00, 0x01, 0x42, 0x01, /* long, two instructions: +1 */
        0xe0, 0x01, 0x02, /* code 12: +2 */
        0x80, 0x00, /* short */
    };
    static const uint32_t lines[] = {45, 10, 0, 11, 11, 13, 13, 0};

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(symbols_python_line(table, sizeof table, 10, 2 * i), lines[i]);
}

static void cut_tables_give_no_lines_behind_the_cut(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof hot; bytes++) {
        uint32_t line = symbols_python_line(hot, bytes, 7, 58);

        assert_true(line == 0 || line == 11);
        assert_true(symbols_python_line(hot, bytes, 7, 0) == (bytes > 0 ? 7 : 0));
    }
    assert_int_equal(symbols_python_line((const uint8_t *)"\x01\x02", 2, 7, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_cpython),
        cmocka_unit_test(forms_of_entries),
        cmocka_unit_test(cut_tables_give_no_lines_behind_the_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
