/* The distributions of `hr hist`: what is counted, and how it is gathered.
 *
 * A subject is the interval between samples, what reading a sample took, how late it was, what it
 * counted of an event, or how long a system call or a gap took.  Constant memory.  Never prints.
 */
#pragma once

#include "host/draw/histogram.h"
#include "host/scan/trace_scan.h"
#include "host/summary/gather.h"

#define HIST_SUBJECTS_MAX 16u

enum hist_kind { HIST_INTERVAL, HIST_COST, HIST_LATENESS, HIST_SYSCALL, HIST_GAP, HIST_EVENT };

struct hist_subject {
    const char *name; /* as the user gave it; not owned */
    enum hist_kind kind;
    uint32_t number; /* of the event, or of the system call; UINT32_MAX: all calls */
    uint64_t sum; /* of the values; saturates */
    uint64_t least; /* UINT64_MAX when there are none */
    struct histogram values; /* ticks, or events */
};

struct hist {
    const struct trace_info *info;
    const struct selection *selection;
    struct gather gather; /* knows intervals and costs */
    struct hist_subject subjects[HIST_SUBJECTS_MAX];
    uint32_t subject_count;
};

extern const struct trace_visitor hist_visitor; /* its context: struct hist */

/* 0 or -ENOMEM; hist_free after either. */
int hist_init(struct hist *hist, const struct trace_scan *scan);
void hist_free(struct hist *hist);

/* Adds a subject, which may turn out to be an event that the trace has not.  0; -ENOMEM; -EINVAL:
 * no such system call; -E2BIG: too many subjects. */
int hist_add(struct hist *hist, const char *name);

/* Finds the events, when the metadata has been read; the first subject that the trace cannot have,
 * or NULL. */
const struct hist_subject *hist_resolve(struct hist *hist);

/* After the walk. */
void hist_finish(struct hist *hist);

/* Whether the values are ticks. */
static inline bool hist_is_time(const struct hist_subject *subject)
{
    return subject->kind != HIST_EVENT;
}

/* A range of values that is drawn as one. */
struct hist_range {
    uint64_t from; /* inclusive, as `to` */
    uint64_t to;
    uint64_t count;
};

#define HIST_RANGES_MAX 66u /* 0, the octaves, and one to spare */

/* Joins buckets into ranges that cover what occurs, each as wide as its values are large: about
 * `wanted`, which is less than HIST_RANGES_MAX, or an octave each.  How many. */
uint32_t hist_ranges(const struct hist_subject *subject, struct hist_range ranges[HIST_RANGES_MAX],
                     uint32_t wanted);
