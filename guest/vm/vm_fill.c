/* Fills areas on demand: zeroed pages, pages of files, copies of them. */
#include "guest/vm/vm_fill.h"

#include <errno.h>

#include "guest/base/image.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm_file.h"
#include "guest/vm/vm_pages.h"
#include "guest/vm/vm_range.h"

#define SCARCE_SHARE 4 /* large pages only while a quarter of all memory is free */

SEALED bool vm_fill_small;

static void tell_nobody(const struct vm_space * /*space*/, uint64_t /*address*/, bool /*write*/)
{
}

void (*vm_fill_told)(const struct vm_space *space, uint64_t address, bool write) = tell_nobody;

static bool large_fits(const struct vm_area *area, uint64_t address)
{
    uint64_t base = address & ~(LARGE_PAGE_BYTES - 1ull);

    return base >= area->start && area->end - base >= LARGE_PAGE_BYTES && base < area->end &&
           !(area->flags & VM_AREA_SMALL) && !vm_fill_small &&
           phys_free_bytes() >= phys_total_bytes() / SCARCE_SHARE;
}

static bool fill_large(struct vm_space *space, const struct vm_area *area, uint64_t address)
{
    uint64_t *entry;
    uint64_t page;

    if (!large_fits(area, address))
        return false;
    entry = vm_table_make(space->root, address, VM_LEVEL_LARGE);
    if (entry == NULL || (*entry & VM_ENTRY_PRESENT))
        return false;
    page = phys_alloc(VM_LARGE_ORDER);
    if (!page)
        return false;
    for (uint64_t i = 0; i < LARGE_PAGE_BYTES; i += PAGE_BYTES)
        page_zero(phys_pointer(page + i));
    *entry = page | vm_leaf_flags(area->protection) | VM_ENTRY_LARGE;
    space->resident_bytes += LARGE_PAGE_BYTES;
    return true;
}

static int fill_anonymous(struct vm_space *space, const struct vm_area *area, uint64_t address,
                          struct vm_slot slot)
{
    uint64_t page;

    if (slot.level != VM_LEVEL_PAGE) {
        if (fill_large(space, area, address))
            return 0;
        slot.entry = vm_table_make(space->root, address, VM_LEVEL_PAGE);
        if (slot.entry == NULL)
            return -ENOMEM;
    }
    page = phys_alloc(0);
    if (!page)
        return -ENOMEM;
    page_zero(phys_pointer(page));
    *slot.entry = page | vm_leaf_flags(area->protection);
    space->resident_bytes += PAGE_BYTES;
    return 0;
}

/* Shows what is in memory of the file around `address`, whose entry is `entry`. */
static void show_around(struct vm_space *space, const struct vm_area *area, uint64_t address,
                        uint64_t *entry, uint64_t flags)
{
    uint64_t start = address & ~(VM_FILL_AROUND_BYTES - 1), end = start + VM_FILL_AROUND_BYTES;
    uint64_t found[VM_FILL_AROUND_PAGES], count, shown = 0;

    if (start < area->start)
        start = area->start;
    if (end > area->end)
        end = area->end;
    count = (end - start) / PAGE_BYTES;
    inode_present(area->inode, vm_file_index(area, start), found, count);
    entry -= (address - start) / PAGE_BYTES;
    for (uint64_t i = 0; i < count; i++) {
        if (!found[i] || entry[i])
            continue;
        entry[i] = found[i] | flags;
        shown++;
    }
    space->resident_bytes += shown * PAGE_BYTES;
}

/* Maps the file's own page.  It is writable only if the area is shared and `write` asked the file
 * for a page of its own. */
static int vm_fill_show(struct vm_space *space, const struct vm_area *area, uint64_t address,
                        bool write)
{
    uint64_t physical;
    int error = inode_page(area->inode, vm_file_index(area, address), write, &physical);
    uint64_t *entry = error ? NULL : vm_table_make(space->root, address, VM_LEVEL_PAGE);
    uint64_t flags = vm_leaf_flags(area->protection) | VM_ENTRY_FOREIGN;

    if (error)
        return error;
    if (entry == NULL)
        return -ENOMEM;
    if (!write)
        flags &= ~VM_ENTRY_WRITE;
    if (!(*entry & VM_ENTRY_PRESENT))
        space->resident_bytes += PAGE_BYTES;
    else if ((*entry & VM_ENTRY_ADDRESS) != physical)
        vm_pages_withdraw(space, entry, address);
    *entry = physical | flags;
    if (space->around && !write)
        show_around(space, area, address, entry, flags);
    return 0;
}

/* Until every CPU has forgotten the file's page, no CPU may write to the copy. */
static int vm_fill_copy(struct vm_space *space, const struct vm_area *area, uint64_t address)
{
    uint64_t page, physical, *entry;
    int error = inode_page(area->inode, vm_file_index(area, address), false, &physical);

    if (error)
        return error;
    entry = vm_table_make(space->root, address, VM_LEVEL_PAGE);
    page = entry != NULL ? phys_alloc(0) : 0;
    if (!page)
        return -ENOMEM;
    page_copy(phys_pointer(page), phys_pointer(physical));
    if (*entry & VM_ENTRY_PRESENT)
        vm_pages_withdraw(space, entry, address);
    else
        space->resident_bytes += PAGE_BYTES;
    *entry = page | vm_leaf_flags(area->protection);
    space->faults_copied++;
    return 0;
}

int vm_fill(struct vm_space *space, const struct vm_area *area, uint64_t address,
            struct vm_slot slot, bool write)
{
    address &= ~VM_PAGE_MASK;
    if (area->inode == NULL)
        return fill_anonymous(space, area, address, slot);
    if (write && !(area->flags & VM_AREA_SHARED))
        return vm_fill_copy(space, area, address);
    return vm_fill_show(space, area, address, write);
}
