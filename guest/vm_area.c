/* The sorted list of areas of an address space. */
#include "guest/vm_area.h"

#include <errno.h>

#include "guest/layout.h"
#include "guest/phys.h"

#define AREAS_MAX 65530u /* vm.max_map_count: every call walks the list */

static struct vm_area *spare; /* linked by next; refilled a page at a time, never given back */

static struct vm_area *new_area(const struct vm_space *space)
{
    struct vm_area *area = spare;

    if (space->area_count >= AREAS_MAX)
        return NULL;
    if (!area) {
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

static void unlink_area(struct vm_space *space, struct vm_area *area)
{
    space->area_count--;
    if (area->previous)
        area->previous->next = area->next;
    else
        space->areas = area->next;
    if (area->next)
        area->next->previous = area->previous;
    area->next = spare;
    spare = area;
}

static void link_after(struct vm_space *space, struct vm_area *before, struct vm_area *area)
{
    space->area_count++;
    area->previous = before;
    area->next = before ? before->next : space->areas;
    if (before)
        before->next = area;
    else
        space->areas = area;
    if (area->next)
        area->next->previous = area;
}

struct vm_area *vm_area_from(const struct vm_space *space, uint64_t address)
{
    struct vm_area *area = space->areas;

    while (area && area->end <= address)
        area = area->next;
    return area;
}

const struct vm_area *vm_find(const struct vm_space *space, uint64_t address)
{
    const struct vm_area *area = vm_area_from(space, address);

    return area && area->start <= address ? area : NULL;
}

bool vm_area_is_free(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);

    return !area || area->start >= end;
}

bool vm_area_is_full(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);

    while (start < end) {
        if (!area || area->start > start)
            return false;
        start = area->end;
        area = area->next;
    }
    return true;
}

void vm_area_around(const struct vm_space *space, uint64_t start, uint64_t end, uint64_t *low,
                    uint64_t *high)
{
    *low = 0;
    *high = USER_END;
    for (const struct vm_area *area = space->areas; area; area = area->next) {
        if (area->end <= start)
            *low = area->end;
        if (area->start >= end) {
            *high = area->start;
            return;
        }
    }
}

static bool alike(const struct vm_area *low, const struct vm_area *high)
{
    return low->end == high->start && low->protection == high->protection &&
           low->flags == high->flags;
}

void vm_area_join(struct vm_space *space, uint64_t start, uint64_t end)
{
    struct vm_area *area = vm_area_from(space, start);

    if (area && area->previous)
        area = area->previous;
    while (area && area->next && area->start <= end) {
        struct vm_area *next = area->next;

        if (!alike(area, next)) {
            area = next;
            continue;
        }
        area->end = next->end;
        unlink_area(space, next);
    }
}

int vm_area_insert(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection,
                   uint32_t flags)
{
    struct vm_area *after = vm_area_from(space, start);
    struct vm_area *before = after ? after->previous : space->areas;
    struct vm_area *area = new_area(space);

    if (!area)
        return -ENOMEM;
    while (!after && before && before->next)
        before = before->next;
    *area = (struct vm_area){.start = start, .end = end, .protection = protection, .flags = flags};
    link_after(space, before, area);
    space->mapped_bytes += end - start;
    vm_area_join(space, start, end);
    return 0;
}

static int split_at(struct vm_space *space, uint64_t address)
{
    struct vm_area *area = vm_area_from(space, address);
    struct vm_area *upper;

    if (!area || area->start >= address)
        return 0;
    upper = new_area(space);
    if (!upper)
        return -ENOMEM;
    *upper = *area;
    upper->start = address;
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

    while (area && area->start < end) {
        struct vm_area *next = area->next;

        space->mapped_bytes -= area->end - area->start;
        unlink_area(space, area);
        area = next;
    }
}

uint64_t vm_area_gap(const struct vm_space *space, uint64_t bytes, uint64_t alignment, uint64_t low,
                     uint64_t high)
{
    const struct vm_area *area = space->areas;
    uint64_t from = low, best = 0;

    for (;;) {
        uint64_t end = area && area->start < high ? area->start : high;

        if (end > from && end - from >= bytes) {
            uint64_t start = (end - bytes) & ~(alignment - 1);

            if (start >= from)
                best = start;
        }
        if (!area || area->start >= high)
            return best;
        if (area->end > from)
            from = area->end;
        area = area->next;
    }
}
