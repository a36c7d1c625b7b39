/* result.conf. */
#include <string.h>

#include "host/usb/usb_result.h"
#include "tests/unit/test.h"

static struct usb_result result;
static char error[USB_RESULT_ERROR_BYTES];

static int parse(const char *text)
{
    return usb_result_parse(text, strlen(text), &result, error);
}

static void a_result_is_read(void **state)
{
    (void)state;
    assert_int_equal(parse("version = 1\nrun = hello\nmachine = lab-7\nend = done\n"
                           "exit-kind = signal\nexit-code = 11\nsamples = 18446744073709551615\n"
                           "lost-samples = 7\nseconds = 12.034500\nfile = stdout 5 0123abcd\n"
                           "file = hr.bin 4293918720 FFFFFFFF\nfile = hr.bin.1 77 12345678\n"
                           "a-key-of-tomorrow = 7\ncut = hr.bin 1000\ncut = log.txt 1"),
                     0);
    assert_true(result.complete);
    assert_string_equal(result.run, "hello");
    assert_string_equal(result.machine, "lab-7");
    assert_string_equal(result.end, "done");
    assert_string_equal(result.exit_kind, "signal");
    assert_int_equal(result.exit_code, 11);
    assert_int_equal(result.samples, UINT64_MAX);
    assert_int_equal(result.lost_samples, 7);
    assert_int_equal(result.elapsed_ns, 12034500000);
    assert_int_equal(result.cut_bytes, 1001);
    assert_int_equal(result.file_count, 3);
    assert_int_equal(result.files[0].stream, USB_STDOUT);
    assert_int_equal(result.files[0].crc32c, 0x0123abcd);
    assert_int_equal(result.files[2].stream, USB_TRACE);
    assert_int_equal(result.files[2].part, 1);
    assert_int_equal(result.files[2].bytes, 77);
}

static void lines_end_as_in_dos_too(void **state)
{
    (void)state;
    assert_int_equal(parse("version = 1\r\nend = done\r\n\r\n"), 0);
    assert_true(result.complete);
    assert_string_equal(result.end, "done");
}

static void what_does_not_say_how_it_ended_is_incomplete(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n\n",
        "# This result is not complete.\n\n",
        "version = 1\nrun = a\nfile = stdout 1 00000000\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(parse(texts[i]), 0);
        assert_false(result.complete);
    }
}

static void nonsense_is_refused_in_words(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {
        {"end = done\n", "line 1: the first line is not version = 1"},
        {"version = 2\n", "this hr reads version 1"},
        {"version = 1\nend\n", "line 2: not KEY = VALUE"},
        {"version = 1\nend = a\nend = b\n", "line 3: end is given twice"},
        {"version = 1\nexit-code = -1\n", "not a number: -1"},
        {"version = 1\nsamples = 18446744073709551616\n", "not a number"},
        {"version = 1\nsamples = \n", "not a number"},
        {"version = 1\nseconds = 99999999999999\n", "not a time"},
        {"version = 1\nseconds = 1.x\n", "not a time"},
        {"version = 1\nfile = stdout\n", "not a file: stdout"},
        {"version = 1\nfile = stdout 1 0000000\n", "not a file"},
        {"version = 1\nfile = stdout 1 0000000g\n", "not a checksum"},
        {"version = 1\nfile = stdout 1 00000000 x\n", "not a file"},
        {"version = 1\nfile = stdout 4294967296 00000000\n", "not a file"},
        {"version = 1\nfile = ../x 1 00000000\n", "no file of the name ../x"},
        {"version = 1\nfile = hr.bin.01 1 00000000\n", "no file of the name"},
        {"version = 1\nfile = hr.bin.x 1 00000000\n", "no file of the name"},
        {"version = 1\nfile = hr.bin. 1 00000000\n", "no file of the name"},
        {"version = 1\nfile = hr.bin.1 1 00000000\n", "hr.bin.1 is out of order"},
        {"version = 1\nfile = stdout 1 00000000\nfile = stdout 1 00000000\n", "out of order"},
        {"version = 1\ncut = stdout\n", "not a file and a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i].text), -22);
        assert_false(result.complete);
        if (strstr(error, cases[i].words) == NULL)
            assert_string_equal(error, cases[i].words);
    }
}

static void what_is_no_text_is_refused(void **state)
{
    static const char text[] = "version = 1\nend = do\0ne\n";
    char line[700];

    (void)state;
    assert_int_equal(usb_result_parse(text, sizeof text - 1, &result, error), -22);
    memset(line, 'x', sizeof line);
    assert_int_equal(usb_result_parse(line, sizeof line, &result, error), -22);
}

static void a_long_text_is_cut(void **state)
{
    char text[480] = "version = 1\nend = done\nreason = ";

    (void)state;
    memset(text + strlen(text), 'r', sizeof text - 1 - strlen(text));
    text[sizeof text - 1] = 0;
    assert_int_equal(parse(text), 0);
    assert_int_equal(strlen(result.reason), USB_RESULT_TEXT_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_read),
        cmocka_unit_test(lines_end_as_in_dos_too),
        cmocka_unit_test(what_does_not_say_how_it_ended_is_incomplete),
        cmocka_unit_test(nonsense_is_refused_in_words),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(a_long_text_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
