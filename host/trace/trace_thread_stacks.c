/* Keeps the stacks of threads. */
#include "host/trace/trace_thread_stacks.h"

#include <stdlib.h>

#include "host/base/array.h"

void trace_thread_stacks_free(struct trace_thread_stacks *stacks)
{
    free(stacks->all);
    *stacks = (struct trace_thread_stacks){0};
}

enum trace_status trace_thread_stacks_take(struct trace_thread_stacks *stacks,
                                           const struct trace_record *record, int *error)
{
    struct hr_meta_thread_stack body;
    int failure;

    if (!trace_body(record, &body, sizeof body, NULL, NULL) || body.start >= body.end)
        return TRACE_BAD_RECORD;
    if (stacks->count == TRACE_THREAD_STACKS_MAX)
        return TRACE_OK;
    failure = array_grow(&stacks->all, stacks->count, sizeof stacks->all[0]);
    if (failure != 0)
        *error = failure;
    else
        stacks->all[stacks->count++] = body;
    return TRACE_OK;
}
