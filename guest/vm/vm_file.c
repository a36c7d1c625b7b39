/* What areas forget when a file changes below them. */
#include "guest/vm/vm_file.h"

#include "guest/vm/inode.h"
#include "guest/vm/vm_pages.h"

static struct vm_space *shown_in;

void vm_file_use(struct vm_space *space)
{
    shown_in = space;
}

/* Finds the part of start..end-1 that shows pages first .. limit-1 of the file. */
static void forget_in(const struct vm_area *area, uint64_t first, uint64_t limit, bool copies)
{
    uint64_t low = area->offset / PAGE_BYTES;
    uint64_t high = low + (area->end - area->start) / PAGE_BYTES;

    if (first < low)
        first = low;
    if (limit > high)
        limit = high;
    if (first < limit)
        vm_pages_forget(shown_in, area->start + (first - low) * PAGE_BYTES,
                        area->start + (limit - low) * PAGE_BYTES, copies);
}

void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page)
{
    uint64_t gone = (inode->bytes + PAGE_BYTES - 1) / PAGE_BYTES; /* first page past the new end */
    uint32_t left = inode->mappings;

    if (shown_in == NULL)
        return;
    for (const struct vm_area *area = shown_in->areas; area != NULL && left; area = area->next) {
        if (area->inode != inode)
            continue;
        left--;
        forget_in(area, first_page, end_page, false);
        if (end_page > gone)
            forget_in(area, first_page > gone ? first_page : gone, end_page, true);
    }
}
