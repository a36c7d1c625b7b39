/* Fuzzes commands and parameters of hr bench: a command, a range and a list, a line each.  What is
 * joined is divided into the same words. */
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/bench/bench_words.h"
#include "tests/fuzz/fuzz.h"

static void check_words(const char *command)
{
    struct run_failure failure = {0};
    char **words = NULL, **again = NULL, *joined;
    size_t count = 0, again_count = 0;

    if (bench_words_split(command, &words, &count, &failure) == 0) {
        joined = bench_words_join(words, count);
        fuzz_check(joined != NULL &&
                   bench_words_split(joined, &again, &again_count, &failure) == 0);
        fuzz_check(again_count == count);
        for (size_t i = 0; i < count; i++)
            fuzz_check(strcmp(words[i], again[i]) == 0);
        free(joined);
    } else {
        fuzz_check(failure.text[0] != 0);
    }
    array_free_texts(&words, &count);
    array_free_texts(&again, &again_count);
}

static void check_parameters(const char *command, const char *range, const char *list)
{
    struct bench_parameters p = {0};
    struct run_failure failure = {0};
    size_t combinations;
    char *filled;

    if (bench_parameters_range(&p, range, &failure) == 0 &&
        bench_parameters_list(&p, list, &failure) == 0) {
        combinations = bench_parameters_combinations(&p);
        fuzz_check(combinations <= BENCH_VALUES_MAX);
        if (combinations != 0) {
            filled = bench_words_fill(command, &p, combinations - 1);
            fuzz_check(filled == NULL || strlen(filled) <= BENCH_TEXT_MAX);
            free(filled);
        }
    } else {
        fuzz_check(failure.text[0] != 0);
    }
    bench_parameters_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = malloc(count + 1);
    char *lines[3], *rest = text;

    fuzz_check(text != NULL);
    memcpy(text, bytes, count);
    text[count] = 0;
    for (int i = 0; i < 3; i++) {
        lines[i] = rest != NULL ? strsep(&rest, "\n") : text + strlen(text);
    }
    check_words(lines[0]);
    check_parameters(lines[0], lines[1], lines[2]);
    free(text);
    return 0;
}
