/* Where the collector listens, and what machines must know. */
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/collect/stream_listen.h"
#include "host/collect/stream_token.h"

static void places(void **state)
{
    static const struct {
        const char *text, *host, *port;
    } good[] = {
        {"", "127.0.0.1", "4817"},
        {"80", "127.0.0.1", "80"},
        {"0", "127.0.0.1", "0"},
        {"0.0.0.0", "0.0.0.0", "4817"},
        {"0.0.0.0:1", "0.0.0.0", "1"},
        {"lab:65535", "lab", "65535"},
        {"[::1]", "::1", "4817"},
        {"[::1]:5", "::1", "5"},
        {"[fe80::1%eth0]:5", "fe80::1%eth0", "5"},
    };
    static const char *const bad[] = {"65536", "1:", ":",    ":1",     "a:b",    "a:1x", "::1",
                                      "[::1",  "[]", "[]:1", "[::1]5", "[::1]:", "a:-1", "123456"};
    struct listen_place place;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct run_failure failure = {0};

        assert_int_equal(stream_listen_parse(good[i].text, &place, &failure), 0);
        assert_string_equal(place.host, good[i].host);
        assert_string_equal(place.port, good[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct run_failure failure = {0};

        assert_int_equal(stream_listen_parse(bad[i], &place, &failure), -1);
        assert_non_null(strstr(failure.text, "tcp:PORT"));
    }
}

static void opens(void **state)
{
    struct listen_place place = {.host = "127.0.0.1", .port = "0"};
    struct run_failure failure = {0};
    char where[LISTEN_TEXT_BYTES];
    bool beyond = true;
    int fd = stream_listen_open(&place, where, &beyond, &failure);
    int second;

    (void)state;
    assert_true(fd >= 0);
    assert_false(beyond);
    assert_memory_equal(where, "127.0.0.1:", 10);
    assert_true(strtoul(where + 10, NULL, 10) > 0);
    snprintf(place.port, sizeof place.port, "%hu", (unsigned short)strtoul(where + 10, NULL, 10));
    second = stream_listen_open(&place, where, &beyond, &failure);
    assert_int_equal(second, -1);
    assert_non_null(strstr(failure.text, "in use"));
    close(fd);
    place = (struct listen_place){.host = "0.0.0.0", .port = "0"};
    fd = stream_listen_open(&place, where, &beyond, &failure);
    assert_true(fd >= 0 && beyond);
    close(fd);
    failure = (struct run_failure){0};
    place = (struct listen_place){.host = "no such host!", .port = "0"};
    assert_int_equal(stream_listen_open(&place, where, &beyond, &failure), -1);
}

static int token_of_file(const char *text, size_t bytes, char token[RUN_STREAM_NAME_BYTES])
{
    char path[] = "/tmp/test_token.XXXXXX";
    struct run_failure failure = {0};
    int fd = mkstemp(path), result;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
    result = stream_token_read(token, path, &failure);
    assert_true(result == 0 || failure.text[0] != 0);
    unlink(path);
    return result;
}

static void tokens(void **state)
{
    static const char none[RUN_STREAM_NAME_BYTES];
    char token[RUN_STREAM_NAME_BYTES], longest[RUN_STREAM_NAME_BYTES + 1];
    struct run_failure failure = {0};

    (void)state;
    unsetenv("HR_TOKEN");
    assert_int_equal(stream_token_read(token, NULL, &failure), 0);
    assert_memory_equal(token, none, sizeof none);
    setenv("HR_TOKEN", "secret", 1);
    assert_int_equal(stream_token_read(token, NULL, &failure), 0);
    assert_string_equal(token, "secret");
    assert_memory_equal(token + 6, none, sizeof none - 6);
    assert_int_equal(token_of_file("of-a-file\r\nmore #", 17, token), 0); /* and not HR_TOKEN */
    assert_string_equal(token, "of-a-file");
    assert_int_equal(token_of_file("two words", 9, token), -1); /* microtome.conf has no such */
    assert_int_equal(token_of_file("a#b", 3, token), -1);
    assert_int_equal(token_of_file("t\xc3\xa4", 3, token), -1);
    assert_int_equal(token_of_file("", 0, token), -1);
    assert_int_equal(token_of_file("\nx", 2, token), -1);
    memset(longest, 'x', sizeof longest);
    assert_int_equal(token_of_file(longest, RUN_STREAM_NAME_BYTES - 1, token), 0);
    assert_int_equal(token_of_file(longest, RUN_STREAM_NAME_BYTES, token), -1);
    setenv("HR_TOKEN", "", 1);
    assert_int_equal(stream_token_read(token, NULL, &failure), -1); /* it was meant to be one */
    assert_int_equal(stream_token_read(token, "/no/such/file", &failure), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(opens),
        cmocka_unit_test(tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
