/* Commands of hr bench as texts: words, and parameters in them.  Never prints. */
#pragma once

#include <stddef.h>

#include "host/base/run_failure.h"

#define BENCH_PARAMETERS_MAX 16u
#define BENCH_VALUES_MAX 1000u /* of one parameter, and combinations of all */
#define BENCH_TEXT_MAX 65536u

struct bench_parameter {
    char name[64];
    char **values; /* owned */
    size_t count;
};

struct bench_parameters {
    struct bench_parameter all[BENCH_PARAMETERS_MAX];
    size_t count;
};

/* Adds "n=1..10" or "n=1..10..3", whole numbers or decimal ones (a step is needed then); or
 * "name=a,b,c".  Returns 0, or -1 with the failure filled. */
int bench_parameters_range(struct bench_parameters *p, const char *text,
                           struct run_failure *failure);
int bench_parameters_list(struct bench_parameters *p, const char *text,
                          struct run_failure *failure);
void bench_parameters_free(struct bench_parameters *p);

/* Returns the number of combinations, 1 without parameters; 0: more than BENCH_VALUES_MAX. */
size_t bench_parameters_combinations(const struct bench_parameters *p);

/* Returns the value of a parameter in a combination; the first parameter changes slowest. */
const char *bench_parameters_value(const struct bench_parameters *p, size_t parameter,
                                   size_t combination);

/* Returns a text in which each "{name}" of a parameter is its value, for the caller to free; NULL:
 * no memory, or more than BENCH_TEXT_MAX. */
char *bench_words_fill(const char *text, const struct bench_parameters *p, size_t combination);

/* Divides a text into words as a shell does, by blanks outside of quotes and backslashes; nothing
 * else has a meaning.  The caller frees them with array_free_texts.  Returns 0, or -1 with the
 * failure filled. */
int bench_words_split(const char *text, char ***words, size_t *count, struct run_failure *failure);

/* Returns the words as one text for people, quoted where they need it, for the caller to free. */
char *bench_words_join(char *const *words, size_t count);
