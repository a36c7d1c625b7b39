/* A call stack as one text, outermost function first: "main;work;inner".
 *
 * Names are safe for the tools that read folded stacks: ';' becomes ':', spaces become '_' and
 * double quotes single ones, so that it may stand in quotes; the kernel's get "_[k]" appended.  A
 * stack that did not reach its end begins with "[truncated]" or
 * "[broken]".
 */
#pragma once

#include "host/base/output.h"
#include "host/export/common/functions.h"
#include "host/unwind/stacks.h"

/* Writes the names of a stack's functions, each followed by ';'. */
void stack_text_put(struct output *out, const struct stacks *stacks, uint32_t node,
                    struct functions *functions);

/* Writes a stack as stack_text_put() does, as a field of CSV in quotes that no spreadsheet
 * computes. */
void stack_text_field(struct output *out, const struct stacks *stacks, uint32_t node,
                      struct functions *functions);

/* Writes one function's name. */
void stack_text_function(struct output *out, const struct function *function);
