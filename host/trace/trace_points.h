/* What a trace says about its probes: functions and places by number, and whose a point is.
 *
 * It is filled from META chunks.  Bounded; names and paths are raw (escape them before printing to
 * a terminal).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

#define TRACE_POINTS_FUNCTIONS_MAX HR_PROBE_POINTS_MAX
#define TRACE_POINTS_NONE UINT32_MAX

struct trace_point_function {
    struct hr_meta_probe_function meta;
    char *name; /* NULL: the trace does not describe it; the path follows its NUL */
    const char *path;
    /* What the trace says of a function of an instrumented program, which has a name once
     * host/symbols/called.h has found it; tid 0: nothing. */
    struct hr_meta_called called;
};

struct trace_points {
    bool any; /* the trace may have hits */
    struct hr_meta_probes meta;
    struct trace_point_function *functions; /* meta.function_count; owned, as the next one */
    struct hr_probe_point *points; /* meta.point_count; of those that are not described the function
                                      is TRACE_POINTS_NONE */
    uint32_t described; /* functions and places that the trace describes */
};

void trace_points_free(struct trace_points *p);

/* Takes a record of META.  Returns TRACE_OK, or TRACE_BAD_RECORD; *error becomes -ENOMEM without
 * memory. */
enum trace_status trace_points_take(struct trace_points *p, const struct trace_record *record,
                                    int *error);

/* Returns the function of a point, or TRACE_POINTS_NONE. */
static inline uint32_t trace_points_function(const struct trace_points *p, uint32_t point)
{
    return point < p->meta.point_count ? p->points[point].function : TRACE_POINTS_NONE;
}

/* Whether the functions are those of instrumented programs, called by their hooks. */
static inline bool trace_points_called(const struct trace_points *p)
{
    return (p->meta.flags & HR_PROBES_CALLED) != 0;
}

/* Whether a function is known as an allocator alone, and has no entries and returns. */
static inline bool trace_points_allocator(const struct trace_points *p, uint32_t function)
{
    const struct hr_meta_probe_function *meta = &p->functions[function].meta;

    return (meta->flags & HR_PROBE_ALLOCATES) != 0 && meta->kind == HR_PROBE_PLACE;
}

/* Returns how many functions and places there are. */
static inline uint32_t trace_points_count(const struct trace_points *p)
{
    return trace_points_called(p) ? p->described : p->meta.function_count;
}

/* Returns a function's name; where the trace does not name it "probe3", or its address. */
const char *trace_points_name(const struct trace_points *p, uint32_t function, char room[24]);
