/* Metrics of a trace or a sweep: which of them its events can give, and their values.
 *
 * Events are known again by their encoding, by whatever name they were recorded, and else by name.
 * Only what performance counters counted is used, all in the same rings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/metrics/formula.h"
#include "host/metrics/metrics_table.h"
#include "host/trace/trace_info.h"

#define METRICS_REASON_BYTES 160
#define METRICS_USES_TIME INT32_MIN

struct metrics_input { /* an event that was recorded */
    const char *name;
    uint64_t select; /* bits as in struct metrics_event, others are ignored; 0: not known */
    uint32_t rings; /* equal for events of the same rings */
    bool counted; /* by a performance counter */
};

struct metrics_state {
    const struct metric *metric;
    struct formula formula;
    struct formula threshold; /* no steps: there is none */
    int32_t uses[FORMULA_NAMES_MAX]; /* of the formula: an event, ~metric, or
                                         METRICS_USES_TIME */
    int32_t judges[FORMULA_NAMES_MAX]; /* of the threshold: likewise */
    bool timed; /* it needs the time, itself or in what it is made of */
    char reason[METRICS_REASON_BYTES]; /* why it cannot be computed; "" if it can */
};

struct metrics {
    struct metrics_set set;
    struct metrics_state all[METRICS_MAX];
    uint32_t known; /* how many can be computed */
};

/* Returns the metrics of a CPU, as far as the events give them; NULL: no memory.  Free it. */
struct metrics *metrics_make(const struct metrics_cpu *cpu, const struct metrics_input *inputs,
                             uint32_t count);

/* Those of a trace.  The metadata has been read. */
struct metrics *metrics_of_trace(const struct trace_info *info);

/* Returns the value of a metric from the counts of all events; NaN: it has none, because nothing
 * was counted that it is divided by.  Negative seconds: the time is not known. */
double metrics_value(const struct metrics *m, uint32_t metric, const double *counts,
                     double seconds);

/* As metrics_value, of counts as traces have them. */
double metrics_value_of(const struct metrics *m, uint32_t metric,
                        const uint64_t counts[HR_EVENTS_MAX], double seconds);

/* Returns whether the value deserves a look, by the vendor's threshold. */
bool metrics_is_marked(const struct metrics *m, uint32_t metric, const double *counts,
                       double seconds);

/* Chooses the metrics of a comma-separated list, of names and of @tma1, @tma2, into chosen[]; "all"
 * chooses those that can be computed.  Without `timed`, a metric that needs the time is refused.
 * Returns how many, or -1 with the failure filled: a name that is unknown or cannot be computed. */
int metrics_choose(const struct metrics *m, const char *list, bool timed,
                   uint32_t chosen[METRICS_MAX], struct run_failure *failure);

struct metrics_choice { /* the metrics of a trace that a reader shows; all zero: none */
    struct metrics *metrics; /* owned: free it */
    uint32_t chosen[METRICS_MAX];
    uint32_t count;
};

/* Chooses metrics of a trace as metrics_choose does, and refuses to choose none. */
int metrics_choose_of(struct metrics_choice *choice, const struct trace_info *info,
                      const char *list, bool timed, struct run_failure *failure);

/* Returns the value of number `i` of the chosen ones. */
static inline double metrics_chosen_value(const struct metrics_choice *choice, uint32_t i,
                                          const uint64_t counts[HR_EVENTS_MAX], double seconds)
{
    return metrics_value_of(choice->metrics, choice->chosen[i], counts, seconds);
}

static inline const struct metric *metrics_chosen(const struct metrics_choice *choice, uint32_t i)
{
    return choice->metrics->set.all[choice->chosen[i]];
}

/* Returns the level of a group, "@tma1" or "@tma2", or 0. */
uint32_t metrics_group_level(const char *name, size_t bytes);
