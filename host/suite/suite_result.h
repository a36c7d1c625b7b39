/* The results of a suite: what each benchmark counted, and what may have changed that.
 *
 * They are kept as JSON (docs/ci.md), which is read as anybody's.  Never prints.
 */
#pragma once

#include <jansson.h>

#include "host/diff/diff_facts.h"
#include "host/suite/suite.h"
#include "host/trial/trial.h"

#define SUITE_RESULTS_VERSION 1
#define SUITE_RESULTS_NAME "results.json"
#define SUITE_RESULTS_BYTES_MAX (256u << 20)
#define SUITE_ARCHITECTURE "x86-64"

struct suite_event {
    char *name; /* owned */
    char *source; /* "icount", "pmu" ...; owned */
    uint64_t total; /* where runs vary, their mean */
    uint64_t *values; /* of each run; one where they are exact; owned */
    size_t value_count;
};

struct suite_function { /* of an exact profile */
    char *name; /* owned */
    char *object; /* "" for the program itself; owned */
    uint64_t *counts; /* one for each event; owned */
};

struct suite_outcome { /* of a benchmark */
    char *name; /* owned, as all below */
    char *problem; /* why it has no counts; NULL: it has */
    struct diff_facts facts;
    bool exact; /* in virtual time: another run counts the same */
    struct suite_event *events;
    size_t event_count;
    struct suite_function *functions; /* in the order of names, then objects */
    size_t function_count;
    struct trial_output output; /* of its first run, while it is measured */
    struct suite_limits limits; /* that held when it ran */
};

struct suite_results {
    char *suite; /* its name; owned */
    char *architecture; /* owned */
    struct suite_outcome *outcomes; /* in the suite's order; owned */
    size_t outcome_count;
};

void suite_results_free(struct suite_results *results);
void suite_outcome_free(struct suite_outcome *outcome);

/* NULL: there is none of that name. */
const struct suite_outcome *suite_results_find(const struct suite_results *results,
                                               const char *name);

/* Returns the number of an event, which may lack a suffix such as ":u"; -1: there is none. */
int suite_outcome_event(const struct suite_outcome *outcome, const char *name);

/* Appends the value of a run; the total is then the mean.  Returns 0 or -ENOMEM. */
int suite_event_add(struct suite_event *event, uint64_t value);

/* Returns the event's name without the suffix ":u". */
#define SUITE_WORD_BYTES 64
const char *suite_event_word(const struct suite_event *event, char word[SUITE_WORD_BYTES]);

/* The text of the results, which the caller frees.  NULL: no memory. */
char *suite_results_text(const struct suite_results *results);

/* Reads results; `name` is for messages.  Returns 0, or -1 with the failure filled.  To be freed in
 * any case. */
int suite_results_parse(struct suite_results *results, const char *name, const char *text,
                        size_t bytes, struct run_failure *failure);

/* As above, of a file, or of results.json in a folder. */
int suite_results_read(struct suite_results *results, const char *path,
                       struct run_failure *failure);

/* Replaces a file.  Returns 0, or -1 with the failure filled. */
int suite_results_write(const struct suite_results *results, const char *path,
                        struct run_failure *failure);
