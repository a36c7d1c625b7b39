/* The stacks of threads, as a trace of accesses tells them.  Bounded, and hostile input.  Never
 * prints. */
#pragma once

#include <stddef.h>

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

#define TRACE_THREAD_STACKS_MAX (1u << 20)

struct trace_thread_stacks { /* all zero: empty */
    struct hr_meta_thread_stack *all; /* in the order of the trace; owned */
    size_t count;
};

void trace_thread_stacks_free(struct trace_thread_stacks *stacks);

/* Takes a record.  Returns TRACE_OK, or TRACE_BAD_RECORD; *error becomes -ENOMEM without memory. */
enum trace_status trace_thread_stacks_take(struct trace_thread_stacks *stacks,
                                           const struct trace_record *record, int *error);
