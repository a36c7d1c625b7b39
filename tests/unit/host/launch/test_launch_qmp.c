/* QMP against scripted emulators: good, odd and hostile ones. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/launch/launch_qmp.h"

#define GREETING "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\r\n"
#define RETURN "{\"return\": {}}\r\n"
#define EVENT "{\"event\": \"RESUME\", \"timestamp\": {\"seconds\": 1}}\r\n"
#define CPU(index, thread) "{\"cpu-index\": " #index ", \"thread-id\": " #thread "}"
#define CPUS(list) "{\"return\": [" list "]}\r\n"

struct session {
    int ours, theirs;
    struct launch_qmp qmp;
    struct run_failure failure;
};

static struct session s;

/* Everything that the emulator will say is in the socket before it is asked. */
static void begin(const char *script, bool stays)
{
    int pair[2];

    memset(&s.failure, 0, sizeof s.failure);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    s.ours = pair[0];
    s.theirs = pair[1];
    assert_int_equal(write(s.theirs, script, strlen(script)), (ssize_t)strlen(script));
    if (!stays)
        assert_int_equal(shutdown(s.theirs, SHUT_WR), 0);
}

static void end(void)
{
    close(s.ours);
    close(s.theirs);
}

static int converse(const char *script, bool stays, pid_t *threads, int count)
{
    int result;

    begin(script, stays);
    result = launch_qmp_open(&s.qmp, s.ours, 100, &s.failure);
    if (result == 0)
        result = launch_qmp_threads(&s.qmp, threads, count, &s.failure);
    if (result == 0)
        result = launch_qmp_continue(&s.qmp, &s.failure);
    return result;
}

static void starts_a_guest(void **state)
{
    char requests[512];
    pid_t threads[2];
    ssize_t count;

    (void)state;
    assert_int_equal(converse(GREETING EVENT RETURN CPUS(CPU(1, 71) "," CPU(0, 70))
                                  EVENT EVENT RETURN,
                              true, threads, 2),
                     0);
    assert_int_equal(threads[0], 70);
    assert_int_equal(threads[1], 71);
    count = read(s.theirs, requests, sizeof requests - 1);
    assert_true(count > 0);
    requests[count] = 0;
    assert_string_equal(requests, "{\"execute\":\"qmp_capabilities\"}\n"
                                  "{\"execute\":\"query-cpus-fast\"}\n"
                                  "{\"execute\":\"cont\"}\n");
    end();
}

static void notices_that_the_emulator_is_gone(void **state)
{
    static const char *const scripts[] = {"", "{\"QM", GREETING, GREETING RETURN};
    pid_t threads[1];

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        assert_int_equal(converse(scripts[i], false, threads, 1), LAUNCH_QMP_GONE);
        assert_int_equal(s.failure.exit_status, 0);
        end();
    }
}

static void does_not_wait_for_ever(void **state)
{
    pid_t threads[1];

    (void)state;
    assert_int_equal(converse(GREETING RETURN, true, threads, 1), -1);
    assert_non_null(strstr(s.failure.text, "no answer in time"));
    end();
}

static void refuses_odd_answers(void **state)
{
    static const char *const lists[] = {
        CPUS(""),
        CPUS(CPU(0, 70)),
        CPUS(CPU(0, 70) "," CPU(0, 71)),
        CPUS(CPU(0, 70) "," CPU(2, 71)),
        CPUS(CPU(0, 70) "," CPU(-1, 71)),
        CPUS(CPU(0, 70) "," CPU(1, 0)),
        CPUS(CPU(0, 70) "," CPU(1, -5)),
        CPUS(CPU(0, 70) "," CPU(1, 4294967297)),
        CPUS(CPU(0, 70) "," CPU(1, "71")),
        CPUS(CPU("0", 70) "," CPU(1, 71)),
        CPUS("1,2"),
        CPUS(CPU(0, 70) "," CPU(1, 71) "," CPU(2, 72)),
        "{\"return\": 3}\n",
        "{\"return\": null}\n",
        "{\"error\": {\"class\": \"x\", \"desc\": \"no such thing\"}}\n",
        "{\"error\": 1}\n",
        "[1]\n",
        "rubbish\n",
        "\n",
        "{\"return\": [\n",
    };
    pid_t threads[2];

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char script[1024];

        snprintf(script, sizeof script, "%s%s%s", GREETING RETURN, lists[i], RETURN);
        assert_int_equal(converse(script, true, threads, 2), -1);
        assert_int_equal(s.failure.exit_status, RUN_EXIT_FAILED);
        assert_non_null(strstr(s.failure.text, "QMP"));
        end();
    }
}

static void bounds_what_it_reads(void **state)
{
    static char script[LAUNCH_QMP_BYTES + 16];
    pid_t threads[1];

    (void)state;
    memset(script, ' ', sizeof script - 1);
    assert_int_equal(converse(script, true, threads, 1), -1);
    assert_non_null(strstr(s.failure.text, "without an end"));
    end();
    for (size_t i = 0; i + 4 < sizeof script; i += 4)
        memcpy(script + i, "{}\n ", 4);
    assert_int_equal(converse(script, true, threads, 1), -1);
    assert_non_null(strstr(s.failure.text, "many events"));
    end();
}

static void survives_damaged_answers(void **state)
{
    static const char good[] =
        GREETING RETURN CPUS(CPU(1, 71) "," CPU(0, 70)) EVENT "{\"return\": {}}\r\n";
    struct test_random random = {7};
    pid_t threads[2];

    (void)state;
    for (int i = 0; i < 2000; i++) {
        char script[sizeof good];

        memcpy(script, good, sizeof good);
        for (int changes = 0; changes < 3; changes++)
            script[test_random_below(&random, sizeof good - 1)] =
                (char)(1 + test_random_below(&random, 255));
        (void)converse(script, false, threads, 2);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_a_guest),
        cmocka_unit_test(notices_that_the_emulator_is_gone),
        cmocka_unit_test(does_not_wait_for_ever),
        cmocka_unit_test(refuses_odd_answers),
        cmocka_unit_test(bounds_what_it_reads),
        cmocka_unit_test(survives_damaged_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
