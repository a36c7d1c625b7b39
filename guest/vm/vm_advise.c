/* madvise, mlock, mincore: memory ahead of its use, or after it. */
#include "guest/vm/vm_advise.h"

#include <errno.h>
#include <linux/mman.h>
#include <string.h>

#include "guest/memory/phys.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_copy.h"
#include "guest/vm/vm_file.h"
#include "guest/vm/vm_fill.h"
#include "guest/vm/vm_pages.h"
#include "guest/vm/vm_range.h"

#define KEPT_SHARE 4 /* filling ahead leaves a quarter of all memory for what comes later */

/* ---- filling ---- */

static int fill_area(struct vm_space *space, const struct vm_area *area, uint64_t from, uint64_t to,
                     bool write, uint64_t keep_bytes)
{
    while (from < to) {
        struct vm_slot slot = vm_table_look(space->root, from, VM_LEVEL_PAGE);
        int error = space->forked ? vm_copy_own(space, area, from, write, slot) : 0;
        bool filled = error > 0;

        if (error < 0)
            return error;
        if (filled)
            slot = vm_table_look(space->root, from, VM_LEVEL_PAGE);
        if (!vm_filled(*slot.entry, write)) {
            error =
                phys_free_bytes() > keep_bytes ? vm_fill(space, area, from, slot, write) : -ENOMEM;
            if (error)
                return error;
            slot = vm_table_look(space->root, from, VM_LEVEL_PAGE);
            filled = true;
        }
        if (filled)
            vm_fill_told(space, from, write);
        from = (from & ~(vm_level_bytes(slot.level) - 1)) + vm_level_bytes(slot.level);
    }
    return 0;
}

static int vm_advise_populate(struct vm_space *space, uint64_t start, uint64_t end,
                              enum vm_populate how, uint64_t keep_bytes)
{
    const struct vm_area *area = vm_area_from(space, start);
    int error = 0;

    for (; area != NULL && area->start < end && !error; area = area->next) {
        bool write = how == VM_POPULATE_WRITE;

        if (how == VM_POPULATE_ALLOWED)
            write = (area->protection & VM_WRITE) && !(area->flags & VM_AREA_SHARED);
        if (!area->protection || (write && !(area->protection & VM_WRITE))) {
            if (how != VM_POPULATE_ALLOWED)
                return -EACCES;
            continue;
        }
        error = fill_area(space, area, area->start > start ? area->start : start,
                          area->end < end ? area->end : end, write, keep_bytes);
        if (error == -ENXIO && how == VM_POPULATE_ALLOWED)
            error = 0;
    }
    return error;
}

int vm_populate(struct vm_space *space, uint64_t start, uint64_t end, enum vm_populate how)
{
    return vm_advise_populate(space, start, end, how, 0);
}

void vm_new_memory(struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);

    for (; area != NULL && area->start < end; area = area->next) {
        bool asked = area->flags & VM_AREA_LOCKED;

        if (asked || (space->prefault && !(area->flags & VM_AREA_RESERVE)))
            vm_advise_populate(space, area->start > start ? area->start : start,
                               area->end < end ? area->end : end, VM_POPULATE_ALLOWED,
                               asked ? 0 : phys_total_bytes() / KEPT_SHARE);
    }
}

/* ---- flags of areas ---- */

/* Returns -ENOMEM if a part of it is not mapped; changes the rest all the same. */
static int change_flags(struct vm_space *space, uint64_t start, uint64_t end, uint32_t set,
                        uint32_t clear)
{
    struct vm_area *area;
    int error = vm_area_isolate(space, start, end);

    if (error)
        return error;
    for (area = vm_area_from(space, start); area != NULL && area->start < end; area = area->next)
        area->flags = (area->flags | set) & ~clear;
    error = vm_area_is_full(space, start, end) ? 0 : -ENOMEM;
    vm_area_join(space, start, end);
    return error;
}

int vm_lock(struct vm_space *space, uint64_t address, uint64_t bytes, bool lock, bool fill)
{
    uint64_t start = address & ~VM_PAGE_MASK, end = vm_page_up(address + bytes);
    int error;

    if (end < start || end > USER_END)
        return -EINVAL;
    if (start == end)
        return 0;
    error = change_flags(space, start, end, lock ? VM_AREA_LOCKED : 0, lock ? 0 : VM_AREA_LOCKED);
    if (error || !lock || !fill)
        return error;
    error = vm_populate(space, start, end, VM_POPULATE_ALLOWED);
    return error == -ENOMEM ? -EAGAIN : error;
}

/* ---- madvise ---- */

static bool all_anonymous(const struct vm_space *space, uint64_t start, uint64_t end)
{
    const struct vm_area *area = vm_area_from(space, start);

    for (; area != NULL && area->start < end; area = area->next)
        if (area->inode != NULL || area->flags & (VM_AREA_SHARED | VM_AREA_VDSO))
            return false;
    return true;
}

/* Drops the contents: anonymous memory then reads as zeros, a file's page as in the file. */
static int vm_advise_discard(struct vm_space *space, uint64_t from, uint64_t to)
{
    int error = vm_pages_free(space, from, to, from, to);

    if (!error)
        vm_new_memory(space, from, to);
    return error;
}

/* Acts only if memory is scarce, so that memory reused soon costs no page fault. */
static int discard_lazily(struct vm_space *space, uint64_t from, uint64_t to)
{
    if (phys_free_bytes() >= phys_total_bytes() / KEPT_SHARE)
        return 0;
    return vm_advise_discard(space, from, to);
}

static int remove_part(const struct vm_area *area, uint64_t from, uint64_t to)
{
    if (area->inode == NULL || !(area->flags & VM_AREA_SHARED))
        return -EINVAL;
    if (!(area->protection & VM_WRITE))
        return -EACCES;
    return inode_punch(area->inode, area->offset + (from - area->start), to - from);
}

static int advise_area(struct vm_space *space, const struct vm_area *area, uint64_t from,
                       uint64_t to, uint32_t advice)
{
    bool anonymous = area->inode == NULL && !(area->flags & VM_AREA_SHARED);

    if (area->flags & VM_AREA_VDSO)
        return advice == MADV_DONTNEED || advice == MADV_FREE ? -EINVAL : 0;
    switch (advice) {
    case MADV_DONTNEED:
        return area->flags & VM_AREA_LOCKED ? -EINVAL : vm_advise_discard(space, from, to);
    case MADV_DONTNEED_LOCKED:
        return vm_advise_discard(space, from, to);
    case MADV_FREE:
        return anonymous ? discard_lazily(space, from, to) : -EINVAL;
    case MADV_REMOVE:
        return remove_part(area, from, to);
    default:
        return 0;
    }
}

static int advise_all(struct vm_space *space, uint64_t start, uint64_t end, uint32_t advice)
{
    const struct vm_area *area = vm_area_from(space, start);
    bool full = vm_area_is_full(space, start, end);

    while (area != NULL && area->start < end) {
        uint64_t to = area->end < end ? area->end : end;
        int error = advise_area(space, area, area->start > start ? area->start : start, to, advice);

        if (error)
            return error;
        area = to < end ? vm_area_from(space, to) : NULL;
    }
    return full ? 0 : -ENOMEM;
}

static int populate_all(struct vm_space *space, uint64_t start, uint64_t end, uint32_t advice)
{
    int error = 0;

    if (!vm_area_is_full(space, start, end))
        return -ENOMEM;
    error = vm_populate(space, start, end,
                        advice == MADV_POPULATE_READ ? VM_POPULATE_READ : VM_POPULATE_WRITE);
    if (error == -EACCES)
        return -EINVAL;
    return error == -ENXIO ? -EFAULT : error;
}

int vm_advise(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t advice)
{
    uint64_t end = address + vm_page_up(bytes);

    if (address & VM_PAGE_MASK)
        return -EINVAL;
    if (advice == MADV_HWPOISON || advice == MADV_SOFT_OFFLINE)
        return -EPERM;
    if (advice > MADV_DONTNEED_LOCKED || (advice > MADV_DONTNEED && advice < MADV_FREE))
        return -EINVAL;
    if (bytes && !vm_page_up(bytes))
        return -EINVAL;
    if (end == address)
        return 0;
    if (end < address)
        return -EINVAL;
    if (end > USER_END)
        return -ENOMEM;
    switch (advice) {
    case MADV_HUGEPAGE:
        return change_flags(space, address, end, 0, VM_AREA_SMALL);
    case MADV_NOHUGEPAGE:
        return change_flags(space, address, end, VM_AREA_SMALL, 0);
    case MADV_DONTFORK:
        return change_flags(space, address, end, VM_AREA_NOT_FORKED, 0);
    case MADV_DOFORK:
        return change_flags(space, address, end, 0, VM_AREA_NOT_FORKED);
    case MADV_WIPEONFORK:
        return all_anonymous(space, address, end)
                   ? change_flags(space, address, end, VM_AREA_WIPED, 0)
                   : -EINVAL;
    case MADV_KEEPONFORK:
        return change_flags(space, address, end, 0, VM_AREA_WIPED);
    case MADV_POPULATE_READ:
    case MADV_POPULATE_WRITE:
        return populate_all(space, address, end, advice);
    default:
        return advise_all(space, address, end, advice);
    }
}

/* ---- mincore ---- */

/* A file counts as in memory up to its end; other memory if it has been touched. */
static bool vm_advise_resident(const struct vm_space *space, const struct vm_area *area,
                               uint64_t address)
{
    if (area != NULL && area->inode != NULL &&
        vm_file_index(area, address) * PAGE_BYTES < area->inode->bytes)
        return true;
    return *vm_table_look(space->root, address, VM_LEVEL_PAGE).entry & VM_ENTRY_PRESENT;
}

void vm_resident(const struct vm_space *space, uint64_t address, uint8_t *out, uint64_t count)
{
    const struct vm_area *area = vm_area_from(space, address);

    for (uint64_t i = 0; i < count; i++, address += PAGE_BYTES) {
        if (area != NULL && address >= area->end)
            area = area->next;
        out[i] = vm_advise_resident(space, area, address);
    }
}
