/* The parsers of host/trace/trace_jit.h. */
#pragma once

#include "host/trace/trace_jit.h"

/* Return 0 or -ENOMEM; what does not parse is counted as refused. */
int trace_jit_read_map(struct trace_jit *jit, const struct trace_jit_file *file);
int trace_jit_read_dump(struct trace_jit *jit, const struct trace_jit_file *file);

/* Add what a parser found. */
int trace_jit_put(struct trace_jit *jit, const struct trace_jit_code *code);
int trace_jit_put_line(struct trace_jit *jit, const struct trace_jit_line *line);
