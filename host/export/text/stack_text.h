/* A call stack as one text, outermost function first: "main;work;inner".
 *
 * Names are safe for the tools that read folded stacks: ';' becomes ':', spaces become '_' and
 * double quotes single ones, so that it may stand in quotes; the kernel's get "_[k]" appended.  A
 * stack that did not reach its end begins with "[truncated]" or
 * "[broken]".
 */
#pragma once

#include "host/export/common/functions.h"
#include "host/scan/row_team.h"
#include "host/unwind/stacks.h"

#define STACK_TEXT_FRAMES_MAX 1024u /* of one stack: more than are recorded */
#define STACK_TEXT_WORDS_MAX (2 + STACK_TEXT_FRAMES_MAX)

/* Keeps functions' names, so that a stack is a few words of a row and another thread writes its
 * text.  All zero but for the first two: no name is kept. */
struct stack_text {
    struct functions *functions;
    struct row_team *team; /* whose rows may have the names */
    char **names; /* by a function's number, NULL: not met yet; owned */
    size_t bytes; /* of them */
};

/* After the rows that have names are written. */
void stack_text_free(struct stack_text *text);

/* How many words a stack takes, which are filled in, and how many bytes its text has at most.  0:
 * no memory.  May drain the team and forget the names of before. */
uint32_t stack_text_words(struct stack_text *text, const struct stacks *stacks, uint32_t node,
                          uint64_t words[STACK_TEXT_WORDS_MAX], size_t *bytes);

/* A function's name, which stays until the next stack_text_words; NULL: no memory. */
const char *stack_text_name(struct stack_text *text, uint32_t function);

/* Writes the names of a stack's functions, each followed by ';'.  `field`: for a field of CSV in
 * quotes, which no spreadsheet is to compute. */
void stack_text_put_words(struct output *out, const uint64_t *words, bool field);
