/* The program's address space: what mmap, munmap, mprotect, mremap and brk do. */
#include "guest/vm.h"

#include <errno.h>
#include <linux/mman.h>

#include "guest/layout.h"
#include "guest/phys.h"
#include "guest/vm_area.h"
#include "guest/vm_pages.h"

#define PAGE_MASK (PAGE_BYTES - 1ull)
#define LOWEST_ADDRESS 0x10000ull /* vm.mmap_min_addr */
#define MAP_TOP 0x00007ffff7fff000ull /* 128 MiB below the stack's top, as Linux without ASLR */

/* A page-aligned, non-empty range inside the program's half. */
static bool range_ok(uint64_t address, uint64_t bytes)
{
    return !(address & PAGE_MASK) && bytes && bytes <= USER_END && address <= USER_END - bytes;
}

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE_MASK) & ~PAGE_MASK;
}

/* Chooses an address: the hint if it is free, otherwise top-down. 0: no room. */
static uint64_t choose(const struct vm_space *space, uint64_t hint, uint64_t bytes)
{
    uint64_t alignment = bytes >= LARGE_PAGE_BYTES ? LARGE_PAGE_BYTES : PAGE_BYTES;

    hint &= ~PAGE_MASK;
    if (hint >= LOWEST_ADDRESS && range_ok(hint, bytes) &&
        vm_area_is_free(space, hint, hint + bytes))
        return hint;
    return vm_area_gap(space, bytes, alignment, LOWEST_ADDRESS, MAP_TOP);
}

/* What can never be filled is refused at once, reservations without access excepted. */
static bool too_large(uint64_t bytes, uint32_t protection)
{
    return (protection & VM_WRITE) && bytes > phys_total_bytes();
}

int64_t vm_map(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection,
               uint32_t area_flags, bool fixed, bool noreplace)
{
    int error;

    if (!bytes || (fixed && (address & PAGE_MASK)))
        return -EINVAL;
    bytes = page_up(bytes);
    if (!bytes || bytes > USER_END || too_large(bytes, protection))
        return -ENOMEM;
    if (fixed) {
        if (!range_ok(address, bytes))
            return -ENOMEM;
        if (address < LOWEST_ADDRESS)
            return -EPERM;
        if (noreplace && !vm_area_is_free(space, address, address + bytes))
            return -EEXIST;
        error = vm_unmap(space, address, bytes);
        if (error)
            return error;
    } else {
        address = choose(space, address, bytes);
        if (!address)
            return -ENOMEM;
    }
    error = vm_area_insert(space, address, address + bytes, protection, area_flags);
    return error ? error : (int64_t)address;
}

int vm_unmap(struct vm_space *space, uint64_t address, uint64_t bytes)
{
    uint64_t low, high;
    int error;

    bytes = page_up(bytes);
    if (!range_ok(address, bytes))
        return -EINVAL;
    error = vm_area_isolate(space, address, address + bytes);
    if (error)
        return error;
    vm_area_around(space, address, address + bytes, &low, &high);
    error = vm_pages_free(space, address, address + bytes, low, high);
    if (error) {
        vm_area_join(space, address, address + bytes);
        return error;
    }
    vm_area_remove(space, address, address + bytes);
    return 0;
}

int vm_protect(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection)
{
    uint64_t end = address + page_up(bytes);
    int error;

    if (!range_ok(address, page_up(bytes)) || !vm_area_is_full(space, address, end))
        return -ENOMEM;
    error = vm_area_isolate(space, address, end);
    if (error)
        return error;
    error = vm_pages_protect(space, address, end, protection);
    if (!error) {
        struct vm_area *area = vm_area_from(space, address);

        for (; area && area->start < end; area = area->next)
            area->protection = protection;
    }
    vm_area_join(space, address, end);
    return error;
}

int vm_discard(struct vm_space *space, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + page_up(bytes);
    const struct vm_area *area;

    if (!range_ok(address, page_up(bytes)))
        return -EINVAL;
    for (area = vm_area_from(space, address); area && area->start < end; area = area->next) {
        uint64_t from = area->start > address ? area->start : address;
        uint64_t to = area->end < end ? area->end : end;
        int error;

        if (area->flags & (VM_AREA_IMAGE | VM_AREA_FILE))
            continue; /* their contents would have to come back from the file */
        error = vm_pages_free(space, from, to, from, to);
        if (error)
            return error;
    }
    return vm_area_is_full(space, address, end) ? 0 : -ENOMEM;
}

struct remap {
    uint64_t from;
    uint64_t old_bytes;
    uint64_t new_bytes;
    uint32_t protection;
    uint32_t area_flags;
};

static int64_t move_to(struct vm_space *space, const struct remap *r, uint64_t to, bool keep_old)
{
    uint64_t moved = r->old_bytes < r->new_bytes ? r->old_bytes : r->new_bytes;
    int error = vm_area_insert(space, to, to + r->new_bytes, r->protection, r->area_flags);

    if (error)
        return error;
    error = vm_area_isolate(space, r->from, r->from + r->old_bytes);
    if (!error)
        error = vm_pages_move(space, r->from, to, moved);
    if (error) {
        if (vm_area_isolate(space, to, to + r->new_bytes) == 0)
            vm_area_remove(space, to, to + r->new_bytes);
        return error;
    }
    if (!keep_old)
        vm_unmap(space, r->from, r->old_bytes);
    vm_area_join(space, to, to + r->new_bytes);
    return (int64_t)to;
}

static int64_t remap_fixed(struct vm_space *space, const struct remap *r, uint64_t to,
                           bool keep_old)
{
    int error;

    if (!range_ok(to, r->new_bytes) || to < LOWEST_ADDRESS ||
        (to < r->from + r->old_bytes && r->from < to + r->new_bytes))
        return -EINVAL;
    error = vm_unmap(space, to, r->new_bytes);
    return error ? error : move_to(space, r, to, keep_old);
}

static int64_t grow(struct vm_space *space, const struct remap *r, uint32_t flags)
{
    uint64_t end = r->from + r->old_bytes, new_end = r->from + r->new_bytes;
    uint64_t to;

    if (too_large(r->new_bytes, r->protection))
        return -ENOMEM;
    if (new_end <= USER_END && vm_area_is_free(space, end, new_end)) {
        int error = vm_area_insert(space, end, new_end, r->protection, r->area_flags);

        return error ? error : (int64_t)r->from;
    }
    if (!(flags & MREMAP_MAYMOVE))
        return -ENOMEM;
    to = choose(space, 0, r->new_bytes);
    return to ? move_to(space, r, to, false) : -ENOMEM;
}

int64_t vm_remap(struct vm_space *space, uint64_t address, uint64_t old_bytes, uint64_t new_bytes,
                 uint32_t flags, uint64_t new_address)
{
    const struct vm_area *area;
    struct remap r = {address, page_up(old_bytes), page_up(new_bytes), 0, 0};

    if ((flags & ~(uint32_t)(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP)) ||
        !range_ok(address, r.old_bytes) || !r.new_bytes || r.new_bytes > USER_END ||
        ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) && !(flags & MREMAP_MAYMOVE)) ||
        ((flags & MREMAP_DONTUNMAP) && r.old_bytes != r.new_bytes))
        return -EINVAL;
    area = vm_find(space, address);
    if (!area || area->end - address < r.old_bytes)
        return -EFAULT;
    r.protection = area->protection;
    r.area_flags = area->flags;
    if (flags & MREMAP_FIXED)
        return remap_fixed(space, &r, new_address, flags & MREMAP_DONTUNMAP);
    if (flags & MREMAP_DONTUNMAP) {
        uint64_t to = choose(space, new_address, r.new_bytes);

        return to ? move_to(space, &r, to, true) : -ENOMEM;
    }
    if (r.new_bytes > r.old_bytes)
        return grow(space, &r, flags);
    if (r.new_bytes < r.old_bytes) {
        int error = vm_unmap(space, address + r.new_bytes, r.old_bytes - r.new_bytes);

        if (error)
            return error;
    }
    return (int64_t)address;
}

uint64_t vm_set_brk(struct vm_space *space, uint64_t end)
{
    uint64_t old_page = page_up(space->brk_end), new_page = page_up(end);

    if (end < space->brk_start || end >= MAP_TOP || too_large(end - space->brk_start, VM_WRITE))
        return space->brk_end;
    if (new_page > old_page &&
        (!vm_area_is_free(space, old_page, new_page) ||
         vm_area_insert(space, old_page, new_page, VM_READ | VM_WRITE, VM_AREA_BRK) != 0))
        return space->brk_end;
    if (new_page < old_page && vm_unmap(space, new_page, old_page - new_page) != 0)
        return space->brk_end;
    space->brk_end = end;
    return end;
}

/* Areas hold copies of what files contain: there is nothing to forget. */
void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page)
{
    (void)inode;
    (void)first_page;
    (void)end_page;
}
