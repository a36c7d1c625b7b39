/* Writes call stacks as text. */
#include "host/export/stack_text.h"

#define FRAMES_MAX 1024u /* of one stack: more than are recorded */

void stack_text_function(struct output *out, const struct function *function)
{
    char label[FUNCTIONS_LABEL_BYTES];

    functions_label(function, label);
    for (const char *c = label; *c != 0; c++)
        output_char(out, *c == ';' ? ':' : *c == ' ' ? '_' : *c == '"' ? '\'' : *c);
    if (function->kernel)
        output_text(out, "_[k]");
}

void stack_text_put(struct output *out, const struct stacks *stacks, uint32_t node,
                    struct functions *functions)
{
    static const char *const roots[HR_STACK_ROOTS] = {
        [HR_STACK_NONE] = "[no_stack];",
        [HR_STACK_WHOLE] = "",
        [HR_STACK_CUT] = "[truncated];",
        [HR_STACK_BROKEN] = "[broken];",
    };
    uint64_t addresses[FRAMES_MAX];
    uint32_t count = stacks_addresses(stacks, node, addresses, FRAMES_MAX);

    output_text(out, count == FRAMES_MAX ? roots[HR_STACK_CUT] : roots[stacks_root(stacks, node)]);
    while (count-- > 0) {
        uint32_t function = functions_at(functions, addresses[count] - 1);

        stack_text_function(out, &functions->rows[function]);
        output_char(out, ';');
    }
}
