/* What `hr export firefox` gathers before it can write a thread: samples, markers, call stacks.
 *
 * Memory is bounded: samples and markers beyond the limits are counted in `refused`, and call
 * stacks that find no room are one frame, "[truncated]".
 */
#pragma once

#include "host/export/common/export.h"
#include "host/export/common/numbers.h"

#define FIREFOX_SAMPLES_MAX (1u << 21) /* 32 MB */
#define FIREFOX_MARKERS_MAX (1u << 19)
#define FIREFOX_STACKS_MAX (1u << 19)
#define FIREFOX_NAMES_MAX (1u << 13)
#define FIREFOX_NO_STACK UINT32_MAX

/* Functions that stand for how a stack ended; they follow the real ones. */
#define FIREFOX_TRUNCATED FUNCTIONS_MAX
#define FIREFOX_BROKEN (FUNCTIONS_MAX + 1)
#define FIREFOX_FUNCTIONS (FUNCTIONS_MAX + 2)

enum firefox_kind { FIREFOX_MARK, FIREFOX_SYSCALL, FIREFOX_GAP };

struct firefox_stack {
    uint32_t prefix; /* the caller's stack, which comes before, or FIREFOX_NO_STACK */
    uint32_t function;
};

struct firefox_sample {
    uint64_t ns;
    uint32_t tid;
    uint32_t stack;
};

struct firefox_marker {
    uint64_t ns, end_ns; /* the same: an instant */
    uint32_t tid;
    uint16_t name;
    uint16_t kind; /* enum firefox_kind */
};

struct firefox_tables {
    struct export *e;
    struct firefox_sample *samples; /* all owned */
    struct firefox_marker *markers;
    struct firefox_stack *stacks;
    char **names; /* of markers */
    uint32_t sample_count, marker_count, stack_count, name_count;
    uint64_t refused;
    uint32_t *by_node; /* stacks of the trace's nodes */
    uint32_t nodes, capacity; /* of by_node */
    struct numbers numbers, name_numbers; /* of stacks, and of names, less 1 */
};

/* 0 or -ENOMEM; to be freed in both cases. */
int firefox_tables_init(struct firefox_tables *tables, struct export *e);
void firefox_tables_free(struct firefox_tables *tables);

/* Takes a run of samples.  0 or -ENOMEM. */
int firefox_tables_samples(struct firefox_tables *tables, const struct trace_samples *samples);

/* Takes what becomes a marker, if the record is such.  0 or -ENOMEM. */
int firefox_tables_record(struct firefox_tables *tables, const struct trace_record *record);

/* Puts samples and markers in the order of threads and times. */
void firefox_tables_sort(struct firefox_tables *tables);
