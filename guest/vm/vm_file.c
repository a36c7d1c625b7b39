/* What areas forget when a file changes below them. */
#include "guest/vm/vm_file.h"

#include <errno.h>
#include <sys/stat.h>

#include "guest/memory/vm_table.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm_copy.h"
#include "guest/vm/vm_pages.h"

/* Finds the part of start..end-1 that shows pages first .. limit-1 of the file. */
static void forget_in(struct vm_space *space, const struct vm_area *area, uint64_t first,
                      uint64_t limit, bool copies)
{
    uint64_t low = area->offset / PAGE_BYTES;
    uint64_t high = low + (area->end - area->start) / PAGE_BYTES;

    if (first < low)
        first = low;
    if (limit > high)
        limit = high;
    if (first < limit)
        vm_pages_forget(space, area->start + (first - low) * PAGE_BYTES,
                        area->start + (limit - low) * PAGE_BYTES, copies);
}

void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page)
{
    uint64_t gone = (inode->bytes + PAGE_BYTES - 1) / PAGE_BYTES; /* first page past the new end */
    uint32_t left = inode->mappings;

    for (struct vm_space *space = vm_spaces; space != NULL && left; space = space->next) {
        for (const struct vm_area *area = space->areas; area != NULL && left; area = area->next) {
            if (area->inode != inode)
                continue;
            left--;
            forget_in(space, area, first_page, end_page, false);
            if (end_page > gone)
                forget_in(space, area, first_page > gone ? first_page : gone, end_page, true);
        }
    }
}

/* ---- shared memory without a file ---- */

/* Gives the inode the area's pages.  Returns 0, or -ENOMEM: then it has some. */
static int give_pages(struct vm_space *space, const struct vm_area *area, struct inode *inode)
{
    uint64_t address = area->start;
    int error = vm_copy_tables(space, area->start, area->end);

    while (!error && address < area->end) {
        struct vm_slot slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
        uint64_t bytes = vm_level_bytes(slot.level);

        if (slot.level == VM_LEVEL_LARGE && *slot.entry & VM_ENTRY_PRESENT) {
            error = vm_table_split(slot.entry);
            continue;
        }
        if (*slot.entry & VM_ENTRY_PRESENT)
            error = inode_give(inode, (address - area->start) / PAGE_BYTES,
                               *slot.entry & VM_ENTRY_ADDRESS);
        address = (address & ~(bytes - 1)) + bytes;
    }
    return error;
}

static void mark_foreign(const struct vm_space *space, const struct vm_area *area)
{
    uint64_t address = area->start;

    while (address < area->end) {
        struct vm_slot slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
        uint64_t bytes = vm_level_bytes(slot.level);

        if (*slot.entry & VM_ENTRY_PRESENT)
            *slot.entry |= VM_ENTRY_FOREIGN;
        address = (address & ~(bytes - 1)) + bytes;
    }
}

static int share_area(struct vm_space *space, struct vm_area *area)
{
    struct inode *inode = inode_new(S_IFREG | 0600);
    int error;

    if (inode == NULL)
        return -ENOMEM;
    inode->bytes = area->end - area->start;
    inode->links = 0;
    error = give_pages(space, area, inode);
    if (error) {
        inode_take_all(inode);
        inode_release(inode);
        return error;
    }
    mark_foreign(space, area);
    inode->mappings = 1;
    area->inode = inode;
    area->offset = 0;
    return 0;
}

int vm_file_share(struct vm_space *space)
{
    int error = 0;

    for (struct vm_area *area = space->areas; area != NULL && !error; area = area->next)
        if (area->flags & VM_AREA_SHARED && area->inode == NULL)
            error = share_area(space, area);
    return error;
}
