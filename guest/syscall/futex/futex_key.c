/* Keys of futexes in shared memory. */
#include "guest/syscall/futex/futex_key.h"

#include "guest/vm/inode.h"

#define OFFSET_BITS 38 /* of a word's number in the file: 1 TiB */
#define NUMBER_BITS 24

/* Two inodes have the same key only if they differ by 16 million files or 1 TiB. */
static uint64_t place_key(const struct inode *inode, uint64_t offset)
{
    return FUTEX_KEY_SHARED | (inode->number & ((1ull << NUMBER_BITS) - 1)) << OFFSET_BITS |
           (offset / sizeof(uint32_t) & ((1ull << OFFSET_BITS) - 1));
}

uint64_t futex_key_shared(const struct thread *thread, uint64_t address)
{
    const struct vm_area *area = vm_find(thread->process->space, address);

    if (area == NULL)
        return 0;
    if (area->inode == NULL || !(area->flags & VM_AREA_SHARED))
        return futex_key_private(thread, address);
    return place_key(area->inode, area->offset + (address - area->start));
}
