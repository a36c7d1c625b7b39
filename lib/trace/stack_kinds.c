/* Names and limits of the kinds of call stacks. */
#include "lib/trace/stack_kinds.h"

#include <stddef.h>
#include <string.h>

#include "lib/array.h"

struct kind {
    const char *name;
    uint32_t limit_max;
    uint32_t unit; /* the limit is a multiple of it */
};

static const struct kind kinds[] = {
    [HR_STACK_FP] = {"fp", HR_STACK_FRAMES_MAX, 1},
    [HR_STACK_DWARF] = {"dwarf", HR_STACK_BYTES_MAX, 8},
    [HR_STACK_PYTHON] = {"python", HR_STACK_FRAMES_MAX, 1},
};

const char *stack_kinds_name(uint32_t kind)
{
    return kind < ARRAY_COUNT(kinds) ? kinds[kind].name : NULL;
}

uint32_t stack_kinds_find(const char *name)
{
    for (uint32_t kind = 1; kind < ARRAY_COUNT(kinds); kind++)
        if (strcmp(kinds[kind].name, name) == 0)
            return kind;
    return 0;
}

bool stack_kinds_chains(uint32_t kind)
{
    return kind == HR_STACK_FP || kind == HR_STACK_PYTHON;
}

bool stack_kinds_limit_ok(uint32_t kind, uint64_t limit)
{
    return kind < ARRAY_COUNT(kinds) && kinds[kind].name != NULL && limit > 0 &&
           limit <= kinds[kind].limit_max && limit % kinds[kind].unit == 0;
}
