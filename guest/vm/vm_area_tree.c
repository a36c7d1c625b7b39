/* The tree of areas.  Recursion is as deep as the tree is high: 23 levels for 65,530 areas. */
#include "guest/vm/vm_area_tree.h"

static uint32_t vm_area_tree_height(const struct vm_area *area)
{
    return area != NULL ? area->height : 0;
}

static uint64_t gap_start(const struct vm_area *area)
{
    return area->previous != NULL ? area->previous->end : 0;
}

static uint64_t gap_end(const struct vm_area *area)
{
    uint64_t guard = area->flags & VM_AREA_GROWS ? VM_STACK_GAP_BYTES : 0;

    return area->start > guard ? area->start - guard : 0;
}

static uint64_t gap_bytes(const struct vm_area *area)
{
    uint64_t start = gap_start(area), end = gap_end(area);

    return end > start ? end - start : 0;
}

static void vm_area_tree_update(struct vm_area *area)
{
    const struct vm_area *left = area->left, *right = area->right;

    area->height =
        1 + (vm_area_tree_height(left) > vm_area_tree_height(right) ? vm_area_tree_height(left)
                                                                    : vm_area_tree_height(right));
    area->widest = gap_bytes(area);
    if (left != NULL && left->widest > area->widest)
        area->widest = left->widest;
    if (right != NULL && right->widest > area->widest)
        area->widest = right->widest;
}

static struct vm_area *turn_right(struct vm_area *area)
{
    struct vm_area *up = area->left;

    area->left = up->right;
    up->right = area;
    vm_area_tree_update(area);
    vm_area_tree_update(up);
    return up;
}

static struct vm_area *turn_left(struct vm_area *area)
{
    struct vm_area *up = area->right;

    area->right = up->left;
    up->left = area;
    vm_area_tree_update(area);
    vm_area_tree_update(up);
    return up;
}

static struct vm_area *vm_area_tree_balance(struct vm_area *area)
{
    if (vm_area_tree_height(area->left) > vm_area_tree_height(area->right) + 1) {
        if (vm_area_tree_height(area->left->right) > vm_area_tree_height(area->left->left))
            area->left = turn_left(area->left);
        return turn_right(area);
    }
    if (vm_area_tree_height(area->right) > vm_area_tree_height(area->left) + 1) {
        if (vm_area_tree_height(area->right->left) > vm_area_tree_height(area->right->right))
            area->right = turn_right(area->right);
        return turn_left(area);
    }
    vm_area_tree_update(area);
    return area;
}

struct vm_area *vm_area_tree_insert(struct vm_area *tree, struct vm_area *area)
{
    if (tree == NULL) {
        area->left = area->right = NULL;
        vm_area_tree_update(area);
        return area;
    }
    if (area->start < tree->start)
        tree->left = vm_area_tree_insert(tree->left, area);
    else
        tree->right = vm_area_tree_insert(tree->right, area);
    return vm_area_tree_balance(tree);
}

/* Takes the lowest area out of a tree, into *lowest.  Returns the rest of the tree. */
static struct vm_area *take_lowest(struct vm_area *tree, struct vm_area **lowest)
{
    if (tree->left == NULL) {
        *lowest = tree;
        return tree->right;
    }
    tree->left = take_lowest(tree->left, lowest);
    return vm_area_tree_balance(tree);
}

struct vm_area *vm_area_tree_remove(struct vm_area *tree, const struct vm_area *area)
{
    struct vm_area *up, *right;

    if (tree == NULL)
        return NULL;
    if (area->start < tree->start) {
        tree->left = vm_area_tree_remove(tree->left, area);
        return vm_area_tree_balance(tree);
    }
    if (area->start > tree->start) {
        tree->right = vm_area_tree_remove(tree->right, area);
        return vm_area_tree_balance(tree);
    }
    if (tree->left == NULL || tree->right == NULL)
        return tree->left != NULL ? tree->left : tree->right;
    right = take_lowest(tree->right, &up);
    up->left = tree->left;
    up->right = right;
    return vm_area_tree_balance(up);
}

/* Takes `count` areas from *next on. */
static struct vm_area *build_tree(struct vm_area **next, uint32_t count)
{
    struct vm_area *left, *area;

    if (!count)
        return NULL;
    left = build_tree(next, count / 2);
    area = *next;
    *next = area->next;
    area->left = left;
    area->right = build_tree(next, count - count / 2 - 1);
    vm_area_tree_update(area);
    return area;
}

struct vm_area *vm_area_tree_build(struct vm_area *first, uint32_t count)
{
    return build_tree(&first, count);
}

void vm_area_tree_refresh(struct vm_area *tree, const struct vm_area *area)
{
    if (tree == NULL || area == NULL)
        return;
    if (area->start < tree->start)
        vm_area_tree_refresh(tree->left, area);
    else if (area->start > tree->start)
        vm_area_tree_refresh(tree->right, area);
    vm_area_tree_update(tree);
}

uint64_t vm_gap_fit(const struct vm_gap *gap, uint64_t from, uint64_t end)
{
    uint64_t start;

    if (from < gap->low)
        from = gap->low;
    if (end > gap->high)
        end = gap->high;
    if (end <= from || end - from < gap->bytes)
        return 0;
    start = (end - gap->bytes) & ~(gap->alignment - 1);
    return start >= from ? start : 0;
}

uint64_t vm_area_tree_gap(const struct vm_area *tree, const struct vm_gap *gap)
{
    uint64_t found = 0;

    if (tree == NULL || tree->widest < gap->bytes)
        return 0;
    if (tree->end < gap->high)
        found = vm_area_tree_gap(tree->right, gap);
    if (!found)
        found = vm_gap_fit(gap, gap_start(tree), gap_end(tree));
    if (!found && tree->start > gap->low)
        found = vm_area_tree_gap(tree->left, gap);
    return found;
}
