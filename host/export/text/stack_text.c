/* Writes call stacks as text. */
#include "host/export/text/stack_text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES (FUNCTIONS_LABEL_BYTES + 4)
#define KEPT_BYTES (16u << 20)

static char *name_of(const struct function *function, char name[NAME_BYTES])
{
    char *c = functions_label(function, name);

    for (; *c != 0; c++)
        *c = *c == ';' ? ':' : *c == ' ' ? '_' : *c == '"' ? '\'' : *c;
    if (function->kernel)
        strcpy(c, "_[k]");
    return name;
}

/* What the text begins with when the stack's outermost functions are not in it. */
static const char *beginning(const struct stacks *stacks, uint32_t node, uint32_t count)
{
    static const char *const roots[HR_STACK_ROOTS] = {
        [HR_STACK_NONE] = "[no_stack];",
        [HR_STACK_WHOLE] = "",
        [HR_STACK_CUT] = "[truncated];",
        [HR_STACK_BROKEN] = "[broken];",
    };

    return roots[count == STACK_TEXT_FRAMES_MAX ? HR_STACK_CUT : stacks_root(stacks, node)];
}

void stack_text_free(struct stack_text *text)
{
    for (uint32_t i = 0; text->names != NULL && i < text->functions->count; i++)
        free(text->names[i]);
    free(text->names);
    text->names = NULL;
    text->bytes = 0;
}

const char *stack_text_name(struct stack_text *text, uint32_t function)
{
    char name[NAME_BYTES];

    if (text->names == NULL)
        text->names = calloc(FUNCTIONS_MAX, sizeof text->names[0]);
    if (text->names == NULL)
        return NULL;
    if (text->names[function] == NULL) {
        text->names[function] = strdup(name_of(&text->functions->rows[function], name));
        text->bytes += strlen(name);
    }
    return text->names[function];
}

enum { BEGINNING, COUNT, NAMES }; /* a stack's words: texts, innermost first */

uint32_t stack_text_words(struct stack_text *text, const struct stacks *stacks, uint32_t node,
                          uint64_t words[STACK_TEXT_WORDS_MAX], size_t *bytes)
{
    uint32_t count = stacks_addresses(stacks, node, words + NAMES, STACK_TEXT_FRAMES_MAX);
    const char *begin = beginning(stacks, node, count);

    if (text->bytes > KEPT_BYTES) {
        row_team_drain(text->team);
        stack_text_free(text);
    }
    *bytes = strlen(begin) + 1;
    for (uint32_t i = 0; i < count; i++) {
        const char *name =
            stack_text_name(text, functions_at(text->functions, words[NAMES + i] - 1));

        if (name == NULL)
            return 0;
        *bytes += strlen(name) + 1;
        words[NAMES + i] = (uintptr_t)name;
    }
    words[BEGINNING] = (uintptr_t)begin;
    words[COUNT] = count;
    return NAMES + count;
}

void stack_text_put_words(struct output *out, const uint64_t *words, bool field)
{
    const char *begin = (const char *)words[BEGINNING];

    output_text(out, begin);
    for (uint64_t i = words[COUNT]; i-- > 0;) {
        const char *name = (const char *)words[NAMES + i];

        if (field && *begin == 0 && i + 1 == words[COUNT] && output_csv_is_formula(name))
            output_char(out, '\'');
        output_text(out, name);
        output_char(out, ';');
    }
}
