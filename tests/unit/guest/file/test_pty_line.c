/* The line discipline: what comes of typing, and how much of it. */
#include "guest/file/pty_line.c"
#include "guest/file/pty_line_output.c"

#include "tests/unit/test.h"

static struct pty_line line;

static void start(void)
{
    memset(&line, 0, sizeof line);
    pty_line_start(&line);
}

static uint32_t type_text(const char *text, uint32_t count)
{
    uint32_t signal = 0;

    for (uint32_t i = 0; i < count && !signal; i++)
        signal = pty_line_type(&line, (uint8_t)text[i]);
    return signal;
}

#define TYPE(text) type_text(text, sizeof text - 1)

static void reads(const char *wanted)
{
    uint8_t got[PTY_LINE_BYTES];
    uint32_t count = pty_line_take(&line, got, sizeof got);

    assert_int_equal(count, strlen(wanted));
    assert_memory_equal(got, wanted, count);
}

static void shows(const char *wanted)
{
    uint8_t got[PTY_LINE_BYTES];
    uint32_t count = pty_line_output(&line, got, sizeof got);

    assert_int_equal(count, strlen(wanted));
    assert_memory_equal(got, wanted, count);
}

static void edits(void **)
{
    start();
    assert_int_equal(TYPE("ab\177c\rnext"), 0);
    reads("ac\n");
    assert_false(pty_line_readable(&line));
    shows("ab\b \bc\r\nnext");
    assert_int_equal(TYPE("\025one two \027\004"), 0);
    reads("one ");
    shows("\b \b\b \b\b \b\b \bone two \b \b\b \b\b \b\b \b");
    TYPE("\004");
    assert_true(pty_line_readable(&line));
    reads("");
    assert_false(pty_line_readable(&line));
    TYPE("x\tyz\177\177\177\177\177\n");
    reads("\n");
    shows("x\tyz\b \b\b \b\b\b\b\b \b\r\n");
}

static void sends_signals(void **)
{
    start();
    assert_int_equal(TYPE("lost\003"), SIGINT);
    assert_int_equal(TYPE("\034"), SIGQUIT);
    assert_int_equal(TYPE("\032"), SIGTSTP);
    assert_int_equal(TYPE("\026\003\n"), 0);
    reads("\003\n");
    shows("lost^C^\\^Z^\b^C\r\n");
    line.settings.c_lflag &= ~(uint32_t)ISIG;
    assert_int_equal(TYPE("\003"), 0);
}

static void stops_output(void **)
{
    start();
    assert_true(pty_line_put(&line, 'a'));
    TYPE("\023");
    assert_false(pty_line_put(&line, 'b'));
    TYPE("\021");
    assert_true(pty_line_put(&line, '\n'));
    shows("a\r\n");
}

/* Neither queue overflows; a line that is too long keeps room for its end. */
static void is_full(void **)
{
    uint8_t got[PTY_LINE_BYTES];
    uint32_t put = 0;

    start();
    for (uint32_t i = 0; i < 3 * PTY_LINE_BYTES; i++) {
        assert_true(pty_line_accepts(&line));
        TYPE("x");
    }
    TYPE("\n");
    assert_false(pty_line_accepts(&line));
    assert_int_equal(pty_line_ready(&line), PTY_LINE_BYTES);
    assert_int_equal(pty_line_take(&line, got, 100), 100);
    assert_int_equal(pty_line_take(&line, got, sizeof got), PTY_LINE_BYTES - 100);
    assert_int_equal(got[PTY_LINE_BYTES - 101], '\n');
    (void)pty_line_output(&line, got, sizeof got);
    while (pty_line_put(&line, '\n'))
        put++;
    assert_int_equal(put, PTY_LINE_BYTES / 2);
}

/* Random bytes in random modes: all that is taken was typed, and nothing is lost in raw mode. */
static void is_random(void **)
{
    struct test_random random = {1};
    uint8_t got[PTY_LINE_BYTES];
    uint32_t typed = 0, taken = 0;

    start();
    for (int i = 0; i < 200000; i++) {
        uint32_t what = test_random_below(&random, 300);
        struct termios t = line.settings;

        if (what == 256) {
            t.c_lflag ^= (uint32_t)test_random_next(&random);
            t.c_iflag ^= (uint32_t)test_random_next(&random);
            t.c_oflag ^= (uint32_t)test_random_next(&random);
            pty_line_set(&line, &t, test_random_below(&random, 2));
        } else if (what > 256) {
            (void)pty_line_take(&line, got, what);
            (void)pty_line_output(&line, got, what);
            (void)pty_line_put(&line, (uint8_t)what);
        } else if (pty_line_accepts(&line)) {
            (void)pty_line_type(&line, (uint8_t)what);
        }
        assert_true(line.in.used <= PTY_LINE_BYTES && line.out.used <= PTY_LINE_BYTES);
        assert_true(line.edited <= line.in.used && pty_line_ready(&line) <= line.in.used);
    }
    start();
    line.settings.c_lflag = line.settings.c_iflag = 0;
    while (pty_line_accepts(&line)) {
        (void)pty_line_type(&line, (uint8_t)typed++);
        if (test_random_below(&random, 3) == 0 && typed < 100000)
            taken += pty_line_take(&line, got, 7);
    }
    while (pty_line_readable(&line))
        taken += pty_line_take(&line, got, 7);
    assert_int_equal(taken, typed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits),   cmocka_unit_test(sends_signals), cmocka_unit_test(stops_output),
        cmocka_unit_test(is_full), cmocka_unit_test(is_random),
    };

    return cmocka_run_group_tests_name("pty_line", tests, NULL, NULL);
}
