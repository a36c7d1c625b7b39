/* Shows metrics as a tree, for people and as JSON. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/metrics/metrics.h"

struct metrics_figures {
    const struct metrics *metrics;
    const uint32_t *chosen;
    uint32_t count;
    const double *counts; /* of all events */
    double seconds; /* negative: not known */
};

/* Prints a line for each, parts below what they are parts of; '!' marks what deserves a look. */
void metrics_show(FILE *out, const struct metrics_figures *f);

/* Writes the title of a column: the name, and "%" where that is the unit. */
#define METRICS_SHOW_TITLE_BYTES 48
const char *metrics_show_title(char text[METRICS_SHOW_TITLE_BYTES], const struct metric *metric);

/* Returns {"metrics": [...], "refused": [...]}; NULL: no memory. */
json_t *metrics_show_json(const struct metrics_figures *f);

#define METRICS_SHOW_BYTES 32

/* Writes a value as tables have it, in at most eight columns: "-" if it has none. */
const char *metrics_show_value(char text[METRICS_SHOW_BYTES], double value);
