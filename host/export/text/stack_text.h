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

/* Stacks as words of a row (host/scan/row_team.h), so that another thread writes their text: names
 * of functions are kept.  All zero but for the functions: no name is kept. */

#define STACK_TEXT_FRAMES_MAX 1024u /* of one stack: more than are recorded */
#define STACK_TEXT_WORDS_MAX (2 + STACK_TEXT_FRAMES_MAX)

struct stack_text {
    struct functions *functions;
    char **names; /* by a function's number, NULL: not met yet; owned */
    size_t bytes; /* of them */
};

void stack_text_free(struct stack_text *text);

/* A function's name, which stays until stack_text_free; NULL: too many are kept. */
const char *stack_text_name(struct stack_text *text, uint32_t function);

/* How many words a stack takes, which are filled in, and how many bytes its text has at most.  0:
 * too many names are kept. */
uint32_t stack_text_words(struct stack_text *text, const struct stacks *stacks, uint32_t node,
                          uint64_t words[STACK_TEXT_WORDS_MAX], size_t *bytes);

/* Writes what stack_text_put() writes of that stack; `field`: without the quotes of
 * stack_text_field(). */
void stack_text_put_words(struct output *out, const uint64_t *words, bool field);
