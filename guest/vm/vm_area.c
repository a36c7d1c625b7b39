/* The sorted list of areas of an address space, and its tree. */
#include "guest/vm/vm_area.h"

#include <errno.h>

#include "guest/base/layout.h"
#include "guest/fs/fs.h"
#include "guest/memory/phys.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm_area_tree.h"

#define AREAS_MAX 65530u /* vm.max_map_count */

static struct vm_area *spare; /* linked by next; refilled a page at a time, never freed */

static struct vm_area *new_area(const struct vm_space *space)
{
    struct vm_area *area = spare;

    if (space->area_count >= AREAS_MAX)
        return NULL;
    if (area == NULL) {
        uint64_t page = phys_alloc(0);

        if (!page)
            return NULL;
        area = phys_pointer(page);
        for (size_t i = 0; i < PAGE_BYTES / sizeof *area; i++) {
            area[i].next = spare;
            spare = &area[i];
        }
        area = spare;
    }
    spare = area->next;
    return area;
}

static void free_area(struct vm_area *area)
{
    fs_entry_release(area->entry);
    if (area->inode != NULL) {
        area->inode->mappings--;
        if (area->inode->shown != NULL)
            area->inode->shown(area->inode, false);
        inode_release(area->inode);
    }
    area->next = spare;
    spare = area;
}

static void unlink_area(struct vm_space *space, struct vm_area *area)
{
    space->area_count--;
    if (area->previous != NULL)
        area->previous->next = area->next;
    else
        space->areas = area->next;
    if (area->next != NULL)
        area->next->previous = area->previous;
    space->tree = vm_area_tree_remove(space->tree, area);
    vm_area_tree_refresh(space->tree, area->next);
    if (space->recent == area)
        space->recent = NULL;
    free_area(area);
}

static void hold_file(const struct vm_area *area)
{
    if (area->entry != NULL)
        fs_entry_hold(area->entry);
    if (area->inode != NULL) {
        area->inode->mappings++;
        inode_hold(area->inode);
        if (area->inode->shown != NULL)
            area->inode->shown(area->inode, true);
    }
}

static void link_after(struct vm_space *space, struct vm_area *before, struct vm_area *area)
{
    space->area_count++;
    area->previous = before;
    area->next = before != NULL ? before->next : space->areas;
    if (before != NULL)
        before->next = area;
    else
        space->areas = area;
    if (area->next != NULL)
        area->next->previous = area;
    space->tree = vm_area_tree_insert(space->tree, area);
    vm_area_tree_refresh(space->tree, area->next);
    hold_file(area);
}

int vm_area_copy(struct vm_space *to, const struct vm_space *from)
{
    struct vm_area *last = NULL;

    for (const struct vm_area *area = from->areas; area != NULL; area = area->next) {
        struct vm_area *copy = new_area(to);

        if (copy == NULL)
            return -ENOMEM;
        *copy = *area;
        copy->flags &= ~(uint32_t)VM_AREA_LOCKED;
        copy->previous = last;
        copy->next = NULL;
        *(last != NULL ? &last->next : &to->areas) = copy;
        hold_file(copy);
        last = copy;
        to->area_count++;
    }
    to->tree = vm_area_tree_build(to->areas, to->area_count);
    to->mapped_bytes = from->mapped_bytes;
    return 0;
}

void vm_area_clear(struct vm_space *space)
{
    struct vm_area *next;

    for (struct vm_area *area = space->areas; area != NULL; area = next) {
        next = area->next;
        free_area(area);
    }
    space->areas = space->tree = space->recent = NULL;
    space->area_count = 0;
    space->mapped_bytes = 0;
}

struct vm_area *vm_area_from(const struct vm_space *space, uint64_t address)
{
    struct vm_area *found = NULL, *area = space->tree;

    while (area != NULL) {
        if (area->end <= address) {
            area = area->right;
            continue;
        }
        found = area;
        if (area->start <= address)
            break;
        area = area->left;
    }
    return found;
}

static struct vm_area *last_area(const struct vm_space *space)
{
    struct vm_area *area = space->tree;

    while (area != NULL && area->right != NULL)
        area = area->right;
    return area;
}

/* Returns the last area that ends at or below `address`; NULL: none. */
static struct vm_area *area_below(const struct vm_space *space, uint64_t address)
{
    struct vm_area *above = vm_area_from(space, address);

    return above != NULL ? above->previous : last_area(space);
}

const struct vm_area *vm_find(const struct vm_space *space, uint64_t address)
{
    const struct vm_area *area = vm_area_from(space, address);

    return area != NULL && area->start <= address ? area : NULL;
}

bool vm_area_is_free(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);

    return area == NULL || area->start >= end;
}

bool vm_area_is_full(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);

    while (start < end) {
        if (area == NULL || area->start > start)
            return false;
        start = area->end;
        area = area->next;
    }
    return true;
}

uint64_t vm_area_bytes(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);
    uint64_t bytes = 0;

    for (; area != NULL && area->start < end; area = area->next)
        bytes += (area->end < end ? area->end : end) - (area->start > start ? area->start : start);
    return bytes;
}

void vm_area_around(const struct vm_space *space, uint64_t start, uint64_t end, uint64_t *low,
                    uint64_t *high)
{
    const struct vm_area *below = area_below(space, start);
    const struct vm_area *above = vm_area_from(space, end);

    *low = below != NULL ? below->end : 0;
    *high = above != NULL ? above->start : USER_END;
}

static bool alike(const struct vm_area *low, const struct vm_area *high)
{
    return low->end == high->start && low->protection == high->protection &&
           low->flags == high->flags && low->inode == high->inode &&
           (low->inode == NULL ||
            (low->inode->shown == NULL && low->offset + (low->end - low->start) == high->offset));
}

void vm_area_join(struct vm_space *space, uint64_t start, uint64_t end)
{
    struct vm_area *area = vm_area_from(space, start);

    if (area != NULL && area->previous != NULL)
        area = area->previous;
    while (area != NULL && area->next != NULL && area->start <= end) {
        struct vm_area *next = area->next;
        uint64_t joined = next->end;

        if (!alike(area, next)) {
            area = next;
            continue;
        }
        unlink_area(space, next);
        area->end = joined;
        vm_area_tree_refresh(space->tree, area->next);
    }
}

int vm_area_insert(struct vm_space *space, const struct vm_area *kind)
{
    struct vm_area *before = area_below(space, kind->start);
    struct vm_area *area = new_area(space);

    if (area == NULL)
        return -ENOMEM;
    *area = *kind;
    link_after(space, before, area);
    space->mapped_bytes += kind->end - kind->start;
    vm_area_join(space, kind->start, kind->end);
    return 0;
}

static int split_at(struct vm_space *space, uint64_t address)
{
    struct vm_area *area = vm_area_from(space, address);
    struct vm_area *upper;

    if (area == NULL || area->start >= address)
        return 0;
    upper = new_area(space);
    if (upper == NULL)
        return -ENOMEM;
    *upper = *area;
    upper->start = address;
    if (upper->inode != NULL)
        upper->offset += address - area->start;
    area->end = address;
    link_after(space, area, upper);
    return 0;
}

int vm_area_isolate(struct vm_space *space, uint64_t start, uint64_t end)
{
    if (split_at(space, start) < 0)
        return -ENOMEM;
    if (split_at(space, end) < 0) {
        vm_area_join(space, start, end);
        return -ENOMEM;
    }
    return 0;
}

void vm_area_remove(struct vm_space *space, uint64_t start, uint64_t end)
{
    struct vm_area *area = vm_area_from(space, start);

    while (area != NULL && area->start < end) {
        struct vm_area *next = area->next;

        space->mapped_bytes -= area->end - area->start;
        unlink_area(space, area);
        area = next;
    }
}

void vm_area_extend(struct vm_space *space, struct vm_area *area, uint64_t start)
{
    space->mapped_bytes += area->start - start;
    area->start = start;
    vm_area_tree_refresh(space->tree, area);
}

void vm_area_extend_up(struct vm_space *space, struct vm_area *area, uint64_t end)
{
    space->mapped_bytes += end - area->end;
    area->end = end;
    vm_area_tree_refresh(space->tree, area->next);
}

uint64_t vm_area_gap(const struct vm_space *space, uint64_t bytes, uint64_t alignment, uint64_t low,
                     uint64_t high)
{
    const struct vm_gap gap = {.bytes = bytes, .alignment = alignment, .low = low, .high = high};
    const struct vm_area *last = last_area(space);
    uint64_t found = vm_gap_fit(&gap, last != NULL ? last->end : 0, USER_END);

    return found ? found : vm_area_tree_gap(space->tree, &gap);
}
