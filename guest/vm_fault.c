/* Page faults, and the kernel's way to the program's memory without using the program's mapping. */
#include <errno.h>
#include <string.h>

#include "guest/layout.h"
#include "guest/phys.h"
#include "guest/vm.h"
#include "guest/vm_access.h"
#include "guest/vm_pages.h"
#include "guest/vm_table.h"

enum { /* page-fault error code, Intel SDM volume 3, "Page-Fault Exceptions" */
       FAULT_PRESENT = 1,
       FAULT_WRITE = 2,
       FAULT_USER = 4,
       FAULT_RESERVED = 8,
       FAULT_FETCH = 16
};

static bool allowed(const struct vm_area *area, uint64_t error)
{
    if (error & FAULT_FETCH)
        return area->protection & VM_EXEC;
    if (error & FAULT_WRITE)
        return area->protection & VM_WRITE;
    return area->protection != 0;
}

int vm_fault(struct vm_space *space, uint64_t address, uint64_t error)
{
    const struct vm_area *area = address < USER_END ? vm_find(space, address) : NULL;

    /* Without FAULT_USER the CPU read a descriptor table for the program; QEMU 7.2 also takes what
     * a far return pops for such an access, and SMAP denies it whatever the page tables say. */
    if (!area || !allowed(area, error) || (error & FAULT_RESERVED) || !(error & FAULT_USER))
        return -EFAULT;
    if (vm_table_look(space->root, address, VM_LEVEL_PAGE).entry[0] & VM_ENTRY_PRESENT) {
        uint64_t page = address & ~(PAGE_BYTES - 1ull);

        vm_table_forget(page, page + PAGE_BYTES); /* a translation from before a change */
        return 0;
    }
    return vm_pages_fill(space, area, address);
}

int vm_access(struct vm_space *space, uint64_t address, enum vm_access_kind kind, void **pointer,
              uint64_t *room)
{
    const struct vm_area *area = address < USER_END ? vm_find(space, address) : NULL;
    uint64_t physical;
    int error;

    if (!area || (kind == VM_ACCESS_READ && !area->protection) ||
        (kind == VM_ACCESS_WRITE && !(area->protection & VM_WRITE)))
        return -EFAULT;
    physical = vm_pages_physical(space, address, room);
    if (!physical) {
        error = vm_pages_fill(space, area, address);
        if (error)
            return error;
        physical = vm_pages_physical(space, address, room);
    }
    *pointer = phys_pointer(physical);
    return 0;
}

int vm_write(struct vm_space *space, uint64_t address, const void *from, uint64_t bytes)
{
    const uint8_t *p = from;

    while (bytes) {
        uint64_t room;
        void *to;
        int error = vm_access(space, address, VM_ACCESS_FORCE, &to, &room);

        if (error)
            return error;
        if (room > bytes)
            room = bytes;
        memcpy(to, p, room);
        p += room;
        address += room;
        bytes -= room;
    }
    return 0;
}
