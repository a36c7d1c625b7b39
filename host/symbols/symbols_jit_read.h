/* The parsers of host/symbols/symbols_jit.h. */
#pragma once

#include "host/symbols/symbols_jit.h"

/* Return 0 or -ENOMEM; what does not parse is counted as refused. */
int symbols_jit_read_map(struct symbols_jit *jit, const struct trace_jit_file *file);
int symbols_jit_read_dump(struct symbols_jit *jit, const struct trace_jit_file *file);

/* Add what a parser found. */
int symbols_jit_put(struct symbols_jit *jit, const struct symbols_jit_code *code);
int symbols_jit_put_line(struct symbols_jit *jit, const struct symbols_jit_line *line);
