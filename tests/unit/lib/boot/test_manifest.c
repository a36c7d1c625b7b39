/* The run manifest: what is accepted, what is refused, what comes back. */
#include "lib/boot/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

/* Opens a copy in a block of exactly its size, so that ASan sees any read past it. */
static int open_copy(struct manifest *m, const char *bytes, size_t count)
{
    char *copy = malloc(count ? count : 1);
    int status;

    assert_non_null(copy);
    memcpy(copy, bytes, count);
    status = manifest_open(m, copy, count);
    if (status != 0)
        free(copy);
    return status;
}

static void close_copy(struct manifest *m)
{
    free((char *)(uintptr_t)m->bytes);
}

#define OPEN(m, text) open_copy(m, text, sizeof text)

static void opens_and_finds(void **state)
{
    struct manifest m;
    size_t position = 0;

    (void)state;
    assert_int_equal(OPEN(&m, "version=1\0program=bin/x\0arg=x\0arg=\0env=A=b=c\0arg=-n"), 0);
    assert_string_equal(manifest_text(&m, "program", "?"), "bin/x");
    assert_string_equal(manifest_text(&m, "env", "?"), "A=b=c");
    assert_string_equal(manifest_text(&m, "version", "?"), "1");
    assert_string_equal(manifest_text(&m, "mode", "timer"), "timer");
    assert_null(manifest_text(&m, "prog", NULL));
    assert_null(manifest_text(&m, "program=bin", NULL));
    assert_string_equal(manifest_next(&m, "arg", &position), "x");
    assert_string_equal(manifest_next(&m, "arg", &position), "");
    assert_string_equal(manifest_next(&m, "arg", &position), "-n");
    assert_null(manifest_next(&m, "arg", &position));
    assert_null(manifest_next(&m, "arg", &position));
    close_copy(&m);
}

static void refuses_malformed(void **state)
{
    struct manifest m;
    char *large = calloc(1, RUN_MANIFEST_BYTES_MAX + 2);

    (void)state;
    assert_int_equal(open_copy(&m, "", 0), -EINVAL);
    assert_int_equal(open_copy(&m, "version=1", 9), -EINVAL);
    assert_int_equal(open_copy(&m, "version=1\0a=b", 13), -EINVAL);
    assert_int_equal(OPEN(&m, "version=2"), -EINVAL);
    assert_int_equal(OPEN(&m, "version=10"), -EINVAL);
    assert_int_equal(OPEN(&m, "arg=x\0version=1"), -EINVAL);
    assert_int_equal(OPEN(&m, "version=1\0nothing"), -EINVAL);
    assert_int_equal(OPEN(&m, "version=1\0=value"), -EINVAL);
    assert_int_equal(OPEN(&m, "version=1\0a=b\0"), -EINVAL); /* an empty string at the end */
    assert_non_null(large);
    memset(large, 'x', RUN_MANIFEST_BYTES_MAX);
    memcpy(large, "version=1\0a=", 12);
    assert_int_equal(manifest_open(&m, large, RUN_MANIFEST_BYTES_MAX + 1), -EINVAL);
    large[RUN_MANIFEST_BYTES_MAX - 1] = '\0';
    assert_int_equal(manifest_open(&m, large, RUN_MANIFEST_BYTES_MAX), 0);
    free(large);
}

static void numbers(void **state)
{
    struct manifest m;
    uint64_t value = 77;

    (void)state;
    assert_int_equal(OPEN(&m, "version=1\0a=0\0b=18446744073709551615\0c=18446744073709551616\0d=\0"
                              "e=12x\0f=-1\0g= 1\0h=99999999999999999999999\0i=007\0j=9x"),
                     0);
    assert_int_equal(manifest_number(&m, "zz", &value), -ENOENT);
    assert_int_equal(value, 77);
    assert_int_equal(manifest_number(&m, "a", &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(manifest_number(&m, "b", &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(manifest_number(&m, "c", &value), -ERANGE);
    assert_int_equal(manifest_number(&m, "h", &value), -ERANGE);
    assert_int_equal(manifest_number(&m, "d", &value), -EINVAL);
    assert_int_equal(manifest_number(&m, "e", &value), -EINVAL);
    assert_int_equal(manifest_number(&m, "f", &value), -EINVAL);
    assert_int_equal(manifest_number(&m, "g", &value), -EINVAL);
    assert_int_equal(manifest_number(&m, "j", &value), -EINVAL);
    assert_true(value == UINT64_MAX);
    assert_int_equal(manifest_number(&m, "i", &value), 0);
    assert_int_equal(value, 7);
    close_copy(&m);
}

static void appends_exactly(void **state)
{
    char out[16];
    struct manifest m;
    size_t used = manifest_append(out, sizeof out, 0, "version", "1");

    (void)state;
    assert_int_equal(used, 10);
    assert_int_equal(manifest_append(out, sizeof out, used, "a", "1234"), 0);
    used = manifest_append(out, sizeof out, used, "a", "123");
    assert_int_equal(used, 16);
    assert_int_equal(manifest_append(out, sizeof out, used, "a", ""), 0);
    assert_int_equal(manifest_append(out, sizeof out, 17, "a", ""), 0);
    assert_int_equal(manifest_append(out, 3, 0, "a", ""), 3);
    assert_int_equal(manifest_append(out, 2, 0, "a", ""), 0);
    assert_int_equal(manifest_append(out, 3, 0, "abcd", ""), 0);
    manifest_append(out, sizeof out, 0, "version", "1");
    assert_int_equal(manifest_append(out, sizeof out, 10, "a", "123"), 16);
    assert_int_equal(open_copy(&m, out, 16), 0);
    assert_string_equal(manifest_text(&m, "a", ""), "123");
    close_copy(&m);
}

static void divides(void **state)
{
    struct manifest m, common, events;

    (void)state;
    assert_int_equal(OPEN(&m, "version=1\0event=a\0repetitions=1,30\0event=b\0event=c\0"
                              "repetitions=2,,4\0event=d\0repetitions=30\0event=e"),
                     0);
    assert_int_equal(manifest_divide(&m, 30, &common, &events), 0);
    assert_int_equal(common.count, strlen("version=1") + strlen("event=a") + 2);
    assert_string_equal(manifest_text(&events, "event", "?"), "b");
    assert_null(manifest_text(&events, "version", NULL));
    assert_int_equal(events.count, strlen("repetitions=1,30") + strlen("event=bevent=c") + 3);
    assert_int_equal(manifest_divide(&m, 4, &common, &events), 0);
    assert_string_equal(manifest_text(&events, "event", "?"), "d");
    assert_int_equal(manifest_divide(&m, 3, &common, &events), -ENOENT);
    assert_string_equal(manifest_text(&events, "event", "?"), "a");
    close_copy(&m);
    assert_int_equal(OPEN(&m, "version=1\0repetitions=5\0event=x"), 0);
    assert_int_equal(manifest_divide(&m, 5, &common, &events), 0);
    assert_string_equal(manifest_text(&events, "event", "?"), "x");
    assert_null(manifest_text(&common, "event", NULL));
    close_copy(&m);
    assert_int_equal(OPEN(&m, "version=1\0event=x"), 0);
    assert_int_equal(manifest_divide(&m, 5, &common, &events), 0);
    assert_string_equal(manifest_text(&events, "event", "?"), "x");
    close_copy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_and_finds), cmocka_unit_test(refuses_malformed),
        cmocka_unit_test(numbers),         cmocka_unit_test(appends_exactly),
        cmocka_unit_test(divides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
