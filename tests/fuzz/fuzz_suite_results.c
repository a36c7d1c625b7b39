/* Fuzzes results of suites: two texts, a zero byte between them, are read, written and read again,
 * compared, and shown in every format. */
#include <string.h>

#include "host/suite/suite_print.h"
#include "tests/fuzz/fuzz.h"

static const char *const formats[] = {"table",   "markdown",        "json", "junit", "tap",
                                      "bencher", "github-benchmark"};

static bool read(struct suite_results *results, const char *text, size_t bytes)
{
    struct run_failure failure = {0};
    struct suite_results again = {0};
    char *written;

    if (suite_results_parse(results, "r", text, bytes, &failure) != 0) {
        fuzz_check(failure.exit_status != 0 && failure.text[0] != 0);
        return false;
    }
    written = suite_results_text(results);
    fuzz_check(written != NULL);
    fuzz_check(suite_results_parse(&again, "r", written, strlen(written), &failure) == 0);
    free(written);
    suite_results_free(&again);
    return true;
}

static void show(const struct suite_comparison *c)
{
    struct suite_print print = {.comparison = c, .link = "https://host/{}"};
    size_t bytes;
    char *text;

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        print.out = open_memstream(&text, &bytes);
        fuzz_check(print.out != NULL);
        suite_print_find(formats[i])(&print);
        fuzz_check(fclose(print.out) == 0 && bytes != 0);
        free(text);
    }
    fuzz_check(suite_comparison_status(c) <= 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size != 0 ? memchr(data, 0, size) : NULL;
    size_t first = end != NULL ? (size_t)(end - data) : size;
    struct suite_results before = {0}, after = {0};
    struct suite_comparison c = {0};
    struct run_failure failure = {0};

    if (read(&before, (const char *)data, first)) {
        fuzz_check(suite_compare(&c, NULL, &before, &failure) == 0);
        show(&c);
        suite_comparison_free(&c);
        if (end != NULL && read(&after, (const char *)end + 1, size - first - 1) &&
            suite_compare(&c, &before, &after, &failure) == 0)
            show(&c);
        suite_comparison_free(&c);
    }
    suite_results_free(&before);
    suite_results_free(&after);
    return 0;
}
