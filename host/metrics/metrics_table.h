/* What metrics there are for a CPU: formulas over events, as data.
 *
 * The formulas are those that the vendors publish; docs/metrics.md has the source of each.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/run_ports.h"

#define METRICS_MAX 40u /* of a CPU */
#define METRICS_TIME "time" /* in formulas: seconds */

struct metrics_cpu {
    enum run_cpu_vendor vendor;
    uint32_t family, model; /* as displayed */
};

/* An event of formulas.  A word may have several rows: the first one says how to record it. */
struct metrics_event {
    const char *word; /* in formulas; NULL ends a list */
    uint64_t select; /* event, unit mask, edge, inversion and counter mask */
    const char *name; /* for -e; NULL: the word */
};

struct metric {
    const char *name; /* NULL ends a list */
    const char *unit; /* "%", "" ... */
    const char *formula; /* over words of events, names of generic events, metrics, and time */
    const char
        *threshold; /* a formula, not 0 where the value deserves a look; NULL: none is known */
    const char *parent; /* that it is a part of; NULL: none */
    uint32_t level; /* of top-down analysis: 1 or 2; 0: not a part of it */
    const char *description;
};

struct metrics_set { /* of one CPU */
    const struct metric *all[METRICS_MAX];
    uint32_t count;
    const struct metrics_event *events[2]; /* those of the model, of the vendor; may be empty */
};

extern const struct metrics_event metrics_intel_skylake_events[], metrics_intel_icelake_events[],
    metrics_intel_golden_cove_events[], metrics_amd_zen3_events[], metrics_amd_zen4_events[],
    metrics_amd_zen5_events[];
extern const struct metric metrics_intel_skylake[], metrics_intel_icelake[],
    metrics_intel_golden_cove[], metrics_amd_zen4[], metrics_amd_zen5[];

/* Fills the metrics of a CPU; there are always some. */
void metrics_table_find(const struct metrics_cpu *cpu, struct metrics_set *set);

/* Returns the number of a metric by its name, case ignored, or -1. */
int metrics_table_metric(const struct metrics_set *set, const char *name);

/* Returns the first row of a word, or NULL. */
const struct metrics_event *metrics_table_event(const struct metrics_set *set, const char *word);

typedef void metrics_table_visit(void *context, const char *word, const struct metrics_event *row);

/* Calls visit for each event that a metric needs, itself or for the metrics that it is made of:
 * with the first row of its word, or NULL for a generic event.  Some come more than once. */
void metrics_table_words(const struct metrics_set *set, uint32_t metric, metrics_table_visit *visit,
                         void *context);
