/* What a trace says about its run that may change the counts of one binary: two runs that differ
 * although the program does not, differ in one of these.  Never prints.
 */
#pragma once

#include "host/trace/trace_info.h"

#define DIFF_FACTS_MAX 4096u
#define DIFF_FACTS_BYTES 2048

struct diff_fact {
    char *label; /* "machine", "libc.so.6"; raw; owned */
    char *value; /* raw; owned */
};

struct diff_facts {
    struct diff_fact *list; /* owned */
    size_t count;
};

#define DIFF_FACTS_PROGRAM "program" /* its build-id, which is compared by its reader alone */

/* Returns 0 or -ENOMEM; diff_facts_free after either. */
int diff_facts_gather(struct diff_facts *facts, const struct trace_info *info);
void diff_facts_free(struct diff_facts *facts);

/* Appends a fact, of a label that is new.  Returns 0, -ENOMEM, or -E2BIG beyond DIFF_FACTS_MAX. */
int diff_facts_add(struct diff_facts *facts, const char *label, const char *value);

/* Returns the value of a label; NULL: it is unknown. */
const char *diff_facts_find(const struct diff_facts *facts, const char *label);

/* Writes what is not the same, apart from the program, escaped: "machine (A, B); libc.so.6 (1f3a,
 * 77d0)"; "" when all is. What does not fit is left out.  Returns `words`. */
char *diff_facts_compare(const struct diff_facts *before, const struct diff_facts *after,
                         char words[DIFF_FACTS_BYTES]);
