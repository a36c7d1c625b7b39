/* Memory for one address of an area, when it is needed. */
#ifndef GUEST_VM_VM_FILL_H
#define GUEST_VM_VM_FILL_H

#include "guest/memory/vm_table.h"
#include "guest/vm/vm.h"

/* Puts memory behind `address`, which lies in `area`.  Anonymous memory is zeroed, a 2 MiB page
 * where the area covers one and memory is not scarce; a file's page is shown, and when `write` is
 * meant, copied for a private area and the file's own for a shared one.  `slot` is what
 * vm_table_look says of the address, and not vm_filled().
 * 0, -ENOMEM, -ENXIO: behind the end of the file.
 */
int vm_fill(struct vm_space *space, const struct vm_area *area, uint64_t address,
            struct vm_slot slot, bool write);

/* Whether there is memory behind `address` that serves: 4 KiB of a file may have to be copied
 * first. */
static inline bool vm_filled(uint64_t entry, bool write)
{
    return (entry & VM_ENTRY_PRESENT) &&
           (!write || (entry & VM_ENTRY_WRITE) || !(entry & VM_ENTRY_FOREIGN));
}

#endif
