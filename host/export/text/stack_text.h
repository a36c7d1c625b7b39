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

#define STACK_TEXT_FRAMES_MAX 1024u /* of one stack: more than are recorded */
#define STACK_TEXT_NAME_BYTES (FUNCTIONS_LABEL_BYTES + 4)

/* A function's name.  Returns `name`. */
char *stack_text_name(const struct function *function, char name[STACK_TEXT_NAME_BYTES]);

/* What the text begins with when the stack's outermost functions are not in it. */
const char *stack_text_beginning(const struct stacks *stacks, uint32_t node, uint32_t count);

/* Writes the names of a stack's functions, each followed by ';'. */
void stack_text_put(struct output *out, const struct stacks *stacks, uint32_t node,
                    struct functions *functions);

/* Writes a stack as stack_text_put() does, as a field of CSV in quotes that no spreadsheet
 * computes. */
void stack_text_field(struct output *out, const struct stacks *stacks, uint32_t node,
                      struct functions *functions);

/* Writes one function's name. */
void stack_text_function(struct output *out, const struct function *function);
