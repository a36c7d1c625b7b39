/* Shared by the parts of `hr report`: the options, and the functions that print each view. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/base/pager.h"
#include "host/metrics/metrics_show.h"
#include "host/noise/waits.h"
#include "host/report/profile.h"
#include "host/scan/reader.h"

#define REPORT_METRICS_MAX 8u /* of a table for people */

enum report_view {
    REPORT_TABLE,
    REPORT_TREE,
    REPORT_CALLERS,
    REPORT_REGIONS,
    REPORT_MARKS,
    REPORT_WAITS
};

enum report_dimension {
    REPORT_BY_FUNCTION,
    REPORT_BY_LINE,
    REPORT_BY_LIBRARY,
    REPORT_BY_ADDRESS,
    REPORT_BY_PROCESS,
    REPORT_BY_THREAD,
    REPORT_BY_CPU,
    REPORT_BY_MARK,
    REPORT_DIMENSIONS,
};

struct report_options {
    struct reader reader;
    const char *sort; /* NULL: samples of places, time of regions */
    const char *callers; /* of this function; NULL: not */
    enum report_view view;
    enum report_dimension by[REPORT_DIMENSIONS]; /* in the order of the columns */
    unsigned int by_count;
    bool python; /* a sample counts for the Python code that runs, whatever code runs that */
    const char *metric; /* a list of metrics to show; NULL: none */
    double min_percent; /* rows with a smaller share are left out; below 0: not given */
    bool total; /* sort by it */
    bool no_total;
    bool no_pager;
    bool full_names; /* names are not shortened to fit a terminal */
};

struct report { /* the data to print */
    const struct report_options *options;
    struct profile_options wanted;
    struct trace_scan scan;
    struct profile profile;
    struct report_marks marks;
    struct waits waits;
    struct sections sections;
    struct tree callers;
    const char *called; /* the function whose callers are shown; raw */
    struct metrics_choice metrics;
    struct pager pager;
    int shown; /* the event shown with samples; -1: there is none */
    bool has_profile;
};

/* Says in `wanted` what the options ask for. */
void report_want(struct report *report, bool has_stacks);

/* Sorts the profile as the options ask.  0 or -ENOMEM. */
int report_sort(struct report *report);

/* Whether regions, marks or waits are asked for, in place of a profile. */
static inline bool report_is_list(const struct report_options *options)
{
    return options->view == REPORT_REGIONS || options->view == REPORT_MARKS ||
           options->view == REPORT_WAITS;
}

/* Takes what the trace has of such a list; again while it grows.  0, -errno or -ENOMEM. */
int report_walk_list(struct report *report);

/* Prints it; `event` is that to sort regions by, -1 for their time. */
void report_print_list(FILE *out, struct report *report, int event);

/* Reports what keeps a profile from being shown; returns HR_EXIT_OK if nothing does. */
int report_refuse(struct report *report);

/* Returns the event that is shown with samples, if `event` is that to sort by; -1: none. */
int report_shown_event(const struct trace_info *info, int event);

/* Parses --by.  Returns false if it has an unknown name, or places of two kinds. */
bool report_parse_by(struct report_options *options, const char *list);
const char *report_dimension_name(enum report_dimension by);

/* Whether --by has it. */
bool report_has(const struct report_options *options, enum report_dimension by);

/* Returns the number of a group's process. */
uint32_t report_pid(const struct report *r, const struct group *group);

/* Returns a part in percent; 0 if `all` is 0. */
double report_share(uint64_t part, uint64_t all);

/* Returns what the shares of a tree refer to: everything that was counted, or everything of the
 * function whose callers are shown, so that the callers of a small function appear, too. */
uint64_t report_tree_weight(const struct report *report, const struct tree *tree);

/* Returns whether a share is too small to be shown. */
bool report_too_small(const struct report *report, double share);

/* Writes the text of a place's function for people: "[kernel] name", "name (inlined)",
 * "[0x1000-0x2000)". */
char *report_function(char *text, size_t room, const struct place *place);
char *report_object(char *text, size_t room, const struct place *place);

/* Returns the value of number `i` of the metrics that are shown, from the counts of a row. */
double report_metric(const struct report *report, uint32_t i, const struct rows_count *count);

/* Returns whether a row's share is large enough to be shown. */
bool report_wanted_row(const struct report *report, const struct row *row);

/* Calls `enter` for the nodes of a tree, callers first, and `leave` (unless NULL) for each one
 * after all nodes below it.  Passes over what is too small, with all below it, and returns how many
 * such branches there were.  Ends early when `enter` returns false. */
unsigned long report_walk_tree(const struct report *report, const struct tree *tree,
                               bool (*enter)(void *context, const struct tree_node *node,
                                             uint32_t depth),
                               void (*leave)(void *context), void *context);

void report_print_head(FILE *out, const struct report *report);
void report_print_table(FILE *out, struct report *report);
void report_print_tree(FILE *out, const struct report *report, const struct tree *tree);
void report_write_csv(struct output *out, const struct report *report);
void report_write_json(struct output *out, const struct report *report);
void report_write_tree_csv(struct output *out, const struct report *report,
                           const struct tree *tree);
void report_write_tree_json(struct output *out, const struct report *report,
                            const struct tree *tree);
