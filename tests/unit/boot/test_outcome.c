/* boot/uefi/outcome.c: what the loader says of a run, whatever the kernel left. */
#include "boot/uefi/outcome.c"

#include <stdio.h>

#include "tests/unit/test.h"

static struct outcome outcome;
static char text[512];

static const char *said(uint64_t returned, uint32_t end, uint32_t kind, uint32_t code,
                        const char *report)
{
    static struct boot_result result;

    memset(&result, 0, sizeof result);
    result.end = end;
    result.exit_kind = kind;
    result.exit_code = code;
    result.report_bytes = (uint32_t)snprintf(result.report, sizeof result.report, "%s", report);
    outcome_of_kernel(&outcome, returned, &result);
    outcome_text(&outcome, text, sizeof text);
    return text;
}

static const char *column(void)
{
    outcome_short(&outcome, text, sizeof text);
    return text;
}

static void says_how_programs_end(void **state)
{
    (void)state;
    assert_string_equal(said(1, 1, HR_EXIT_STATUS, 0, ""), "program ended with status 0");
    assert_string_equal(column(), "status 0");
    assert_true(outcome_good(&outcome));
    assert_string_equal(said(1, 1, HR_EXIT_SIGNAL, 11, ""), "program ended by signal 11");
    assert_string_equal(column(), "signal 11");
    assert_false(outcome_good(&outcome));
    assert_string_equal(said(1, 1, HR_EXIT_TIMEOUT, 15, ""),
                        "program stopped after its time limit");
    assert_string_equal(column(), "timeout");
    assert_string_equal(said(1, 1, HR_EXIT_REFUSED, 8, "no such thing"),
                        "program could not be started (error 8): no such thing");
    assert_false(outcome_lacks_reason(&outcome));
    assert_string_equal(said(1, 1, HR_EXIT_REFUSED, 8, ""),
                        "program could not be started (error 8), see the log");
    assert_true(outcome_lacks_reason(&outcome));
    outcome_reason(&outcome, "an event that\tis none");
    outcome_text(&outcome, text, sizeof text);
    assert_string_equal(text, "program could not be started (error 8): an event that?is none");
    assert_string_equal(said(1, 1, 0, 0, ""), "program was not started, see the log");
    assert_string_equal(said(1, 1, 77, 0, ""), "program was not started, see the log");
    assert_string_equal(column(), "unknown");
}

static void says_how_kernels_end(void **state)
{
    (void)state;
    assert_string_equal(said(2, 2, 0, 0, "\r\n  panic: bad \x1b[2J thing\r\nrip 0\r\n"),
                        "the kernel gave up: bad ?[2J thing");
    assert_string_equal(column(), "panic");
    assert_string_equal(said(3, 3, HR_EXIT_TIMEOUT, 15, ""),
                        "the kernel hung and was left; program stopped after its time limit");
    assert_string_equal(said(4, 4, HR_EXIT_STATUS, 0, "no answer"),
                        "not everything was sent; program ended with status 0: no answer");
    assert_string_equal(said(4, 4, 0, 0, "no link"), "not everything was sent: no link");
    assert_false(outcome_good(&outcome));
    assert_non_null(strstr(said(1, 2, 0, 0, ""), "its memory is damaged"));
    assert_non_null(strstr(said(0, 0, 0, 0, ""), "its memory is damaged"));
    assert_non_null(strstr(said(5, 5, 0, 0, ""), "its memory is damaged"));
    assert_non_null(strstr(said(~0ull, 1, HR_EXIT_STATUS, 0, ""), "its memory is damaged"));
    assert_false(outcome_good(&outcome));
}

static void cuts_reports(void **state)
{
    static struct boot_result result = {.end = BOOT_END_PANIC, .report_bytes = UINT32_MAX};

    (void)state;
    memset(result.report, 'x', sizeof result.report);
    outcome_of_kernel(&outcome, BOOT_END_PANIC, &result);
    assert_int_equal(strlen(outcome.reason), OUTCOME_TEXT_BYTES - 1);
    memset(result.report, '\n', sizeof result.report);
    outcome_of_kernel(&outcome, BOOT_END_PANIC, &result);
    assert_string_equal(outcome.reason, "");
    outcome_not_started(&outcome, "not enough memory");
    outcome_text(&outcome, text, sizeof text);
    assert_string_equal(text, "not started: not enough memory");
    assert_string_equal(column(), "not-started");
    assert_string_equal(outcome_end_text(outcome.end), "not-started");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_how_programs_end),
        cmocka_unit_test(says_how_kernels_end),
        cmocka_unit_test(cuts_reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
