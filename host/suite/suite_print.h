/* Shows results and comparisons of a suite. */
#pragma once

#include <stdio.h>

#include "host/suite/suite_compare.h"

#define SUITE_FUNCTIONS_SHOWN 10 /* of a benchmark: those that changed most */

struct suite_print {
    FILE *out;
    const struct suite_comparison *comparison;
    const char *link; /* of a benchmark's page, {} for its name; NULL: there is none */
    bool pages; /* the link is for pages that are there alone */
};

typedef void suite_printer(const struct suite_print *p);

/* Returns the printer of a format; NULL: there is none.  `suite_print_formats` names all. */
suite_printer *suite_print_find(const char *format);
extern const char suite_print_formats[];

suite_printer suite_print_table, suite_print_markdown, suite_print_json, suite_print_junit,
    suite_print_tap, suite_print_bencher, suite_print_github;

/* "instructions in parse(): 1,234 -> 2,345 (+90.03 %), above 1 %", or why there is no answer.
 * Escaped.  Returns `text`. */
#define SUITE_SENTENCE_BYTES 1024
char *suite_print_sentence(const struct suite_verdict *v, char text[SUITE_SENTENCE_BYTES]);

/* "2 limits are exceeded; 1 benchmark has no counts", or "all limits hold". */
char *suite_print_summary(const struct suite_comparison *c, char text[SUITE_SENTENCE_BYTES]);

/* Whether an event's count is shown first: the first event, and those that have a limit. */
bool suite_print_shows(const struct suite_outcome *o, size_t event);
