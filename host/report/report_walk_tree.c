/* Walks over the branches of a tree that are large enough to show. */
#include <stdlib.h>

#include "host/report/report.h"

struct cursor { /* children at .. end - 1 are still to come */
    uint32_t at;
    uint32_t end;
};

static struct cursor children_of(const struct tree *tree, uint32_t node)
{
    return (struct cursor){tree->first[node], tree->first[node + 1]};
}

/* Without recursion: chains of inlined frames may be thousands of calls deep. */
unsigned long report_walk_tree(const struct report *r, const struct tree *tree,
                               bool (*enter)(void *, const struct tree_node *, uint32_t),
                               void (*leave)(void *), void *context)
{
    uint64_t all = report_tree_weight(r, tree);
    struct cursor *path = malloc(((size_t)tree->count + 1) * sizeof *path);
    unsigned long small = 0;
    uint32_t depth = 0;

    if (path == NULL)
        return 0;
    path[0] = children_of(tree, TREE_ROOT);
    for (;;) {
        uint32_t number;

        if (path[depth].at == path[depth].end) {
            if (depth-- == 0)
                break;
            if (leave != NULL)
                leave(context);
            continue;
        }
        number = tree->children[path[depth].at++];
        if (report_too_small(r, report_share(tree->nodes[number].total, all)))
            small++;
        else if (!enter(context, &tree->nodes[number], depth))
            break;
        else
            path[++depth] = children_of(tree, number);
    }
    free(path);
    return small;
}
