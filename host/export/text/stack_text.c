/* Writes call stacks as text. */
#include "host/export/text/stack_text.h"

char *stack_text_name(const struct function *function, char name[STACK_TEXT_NAME_BYTES])
{
    char *c = functions_label(function, name);

    for (; *c != 0; c++)
        *c = *c == ';' ? ':' : *c == ' ' ? '_' : *c == '"' ? '\'' : *c;
    if (function->kernel)
        strcpy(c, "_[k]");
    return name;
}

void stack_text_function(struct output *out, const struct function *function)
{
    char name[STACK_TEXT_NAME_BYTES];

    output_text(out, stack_text_name(function, name));
}

const char *stack_text_beginning(const struct stacks *stacks, uint32_t node, uint32_t count)
{
    static const char *const roots[HR_STACK_ROOTS] = {
        [HR_STACK_NONE] = "[no_stack];",
        [HR_STACK_WHOLE] = "",
        [HR_STACK_CUT] = "[truncated];",
        [HR_STACK_BROKEN] = "[broken];",
    };

    return roots[count == STACK_TEXT_FRAMES_MAX ? HR_STACK_CUT : stacks_root(stacks, node)];
}

static void put(struct output *out, const struct stacks *stacks, uint32_t node,
                struct functions *functions, bool field)
{
    uint64_t addresses[STACK_TEXT_FRAMES_MAX];
    uint32_t count = stacks_addresses(stacks, node, addresses, STACK_TEXT_FRAMES_MAX);
    const char *begin = stack_text_beginning(stacks, node, count);
    char label[FUNCTIONS_LABEL_BYTES];

    output_text(out, begin);
    field = field && *begin == 0;
    while (count-- > 0) {
        uint32_t number = functions_at(functions, addresses[count] - 1); /* may move the rows */
        const struct function *function = &functions->rows[number];

        if (field && output_csv_is_formula(functions_label(function, label)))
            output_char(out, '\'');
        field = false;
        stack_text_function(out, function);
        output_char(out, ';');
    }
}

void stack_text_put(struct output *out, const struct stacks *stacks, uint32_t node,
                    struct functions *functions)
{
    put(out, stacks, node, functions, false);
}

void stack_text_field(struct output *out, const struct stacks *stacks, uint32_t node,
                      struct functions *functions)
{
    output_char(out, '"');
    put(out, stacks, node, functions, true);
    output_char(out, '"');
}
