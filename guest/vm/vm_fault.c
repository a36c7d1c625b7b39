/* Page faults, and the kernel's way to the program's memory without using the program's mapping. */
#include <errno.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_access.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_area_tree.h"
#include "guest/vm/vm_copy.h"
#include "guest/vm/vm_fill.h"
#include "guest/vm/vm_range.h"

static bool vm_fault_allowed(const struct vm_area *area, uint64_t error)
{
    if (error & VM_FAULT_FETCH)
        return area->protection & VM_EXEC;
    if (error & VM_FAULT_WRITE)
        return area->protection & VM_WRITE;
    return area->protection != 0;
}

/* Lets the area above `address` grow down to it.  Returns the area, or NULL if its limit or the
 * area below does not allow that. */
static struct vm_area *grow_down(struct vm_space *space, uint64_t address)
{
    struct vm_area *area = vm_area_from(space, address);
    uint64_t page = address & ~VM_PAGE_MASK;
    uint64_t limit = space->stack_limit;

    if (area == NULL || !(area->flags & VM_AREA_GROWS) || page < VM_LOWEST ||
        area->end - page > limit ||
        space->mapped_bytes + (area->start - page) > space->address_limit)
        return NULL;
    if (area->previous != NULL) {
        const struct vm_area *below = area->previous;
        uint64_t gap =
            below->protection && !(below->flags & VM_AREA_GROWS) ? VM_STACK_GAP_BYTES : 0;

        if (page < below->end || page - below->end < gap)
            return NULL;
    }
    vm_area_extend(space, area, page);
    return area;
}

/* Returns the area at an address of the program's half, grown if needed; NULL: none. */
static struct vm_area *area_at(struct vm_space *space, uint64_t address)
{
    struct vm_area *area = space->recent;

    if (area != NULL && area->start <= address && address < area->end)
        return area;
    area = address < USER_END ? vm_area_from(space, address) : NULL;
    if (area != NULL && area->start > address)
        area = grow_down(space, address);
    if (area != NULL)
        space->recent = area;
    return area;
}

/* In a space that may share what is there: makes it the space's own.  Returns 0 or -ENOMEM. */
static __attribute__((noinline)) int unshare(struct vm_space *space, const struct vm_area *area,
                                             uint64_t address, uint64_t error)
{
    bool write = error & VM_FAULT_WRITE;
    struct vm_slot slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
    int status = vm_copy_own(space, area, address, write, slot);

    if (status <= 0)
        return status;
    slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
    space->faults += vm_filled(*slot.entry, write); /* otherwise vm_fill is still to come */
    return 0;
}

int vm_fault(struct vm_space *space, uint64_t address, uint64_t error)
{
    const struct vm_area *area = area_at(space, address);
    struct vm_slot slot;
    int status;

    cross_assert_held();
    /* Without VM_FAULT_USER the CPU read a descriptor table for the program; QEMU 7.2 also takes
     * what a far return pops for such an access, and SMAP denies it whatever the page tables say.
     */
    if (area == NULL || (error & VM_FAULT_RESERVED) || !(error & VM_FAULT_USER))
        return -EFAULT;
    if (!vm_fault_allowed(area, error))
        return -EACCES;
    if (space->forked && unshare(space, area, address, error) != 0)
        return -ENOMEM;
    slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
    if (vm_filled(*slot.entry, error & VM_FAULT_WRITE)) { /* another CPU was first, or a translation
                                                          from before a change */
        address &= ~VM_PAGE_MASK;
        vm_table_forget(address, address + PAGE_BYTES);
        return 0;
    }
    status = vm_fill(space, area, address, slot, error & VM_FAULT_WRITE);
    space->faults += status == 0;
    return status;
}

int vm_access(struct vm_space *space, uint64_t address, enum vm_access_kind kind, void **pointer,
              uint64_t *room)
{
    const struct vm_area *area = area_at(space, address);
    bool write = kind != VM_ACCESS_READ;
    struct vm_slot slot;
    uint64_t bytes;
    int error;

    if (area == NULL || (kind == VM_ACCESS_READ && !area->protection) ||
        (kind == VM_ACCESS_WRITE && !(area->protection & VM_WRITE)))
        return -EFAULT;
    slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
    if (space->forked) {
        error = vm_copy_own(space, area, address, write, slot);
        if (error < 0)
            return error;
        slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
        space->fills += error && vm_filled(*slot.entry, write); /* otherwise vm_fill is to come */
    }
    if (!vm_filled(*slot.entry, write)) {
        error = vm_fill(space, area, address, slot, write);
        if (error)
            return error == -ENOMEM ? error : -EFAULT;
        space->fills++;
        slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
    }
    bytes = vm_level_bytes(slot.level);
    *room = bytes - (address & (bytes - 1));
    *pointer =
        phys_pointer((*slot.entry & VM_ENTRY_ADDRESS & ~(bytes - 1)) + (address & (bytes - 1)));
    return 0;
}

/* Copies; writes zeros without a source. */
static int vm_fault_store(struct vm_space *space, uint64_t address, const uint8_t *from,
                          uint64_t bytes)
{
    while (bytes) {
        uint64_t room;
        void *to;
        int error = vm_access(space, address, VM_ACCESS_FORCE, &to, &room);

        if (error)
            return error;
        if (room > bytes)
            room = bytes;
        if (from != NULL)
            page_copy_bytes(to, from, room);
        else
            memset(to, 0, room);
        from = from != NULL ? from + room : NULL;
        address += room;
        bytes -= room;
    }
    return 0;
}

int vm_write(struct vm_space *space, uint64_t address, const void *from, uint64_t bytes)
{
    return vm_fault_store(space, address, from, bytes);
}

int vm_zero(struct vm_space *space, uint64_t address, uint64_t bytes)
{
    return vm_fault_store(space, address, NULL, bytes);
}
