/* Walks and builds page tables. */
#include "guest/memory/vm_table.h"

#include <errno.h>

#include "guest/memory/page.h"
#include "guest/memory/phys.h"

uint64_t *vm_table_entry(uint64_t table, uint64_t address, unsigned level)
{
    uint64_t *entries = phys_pointer(table & VM_ENTRY_ADDRESS);

    return &entries[address / vm_level_bytes(level) % 512];
}

/* Every page fault passes here: the index of the next level is always in the top bits. */
struct vm_slot vm_table_look(uint64_t root, uint64_t address, unsigned level)
{
    struct vm_slot slot = {phys_pointer(root & VM_ENTRY_ADDRESS), VM_LEVEL_TOP};
    uint64_t index = address << 16;

    slot.entry += index >> 55;
    while (slot.level > level &&
           (*slot.entry & (VM_ENTRY_PRESENT | VM_ENTRY_LARGE)) == VM_ENTRY_PRESENT) {
        index <<= 9;
        slot.level--;
        slot.entry = (uint64_t *)phys_pointer(*slot.entry & VM_ENTRY_ADDRESS) + (index >> 55);
    }
    return slot;
}

uint64_t vm_table_new(void)
{
    uint64_t table = phys_alloc(0);

    if (table)
        page_zero(phys_pointer(table));
    return table;
}

uint64_t *vm_table_make(uint64_t root, uint64_t address, unsigned level)
{
    uint64_t user = address < USER_END ? VM_ENTRY_USER : 0;

    for (;;) {
        struct vm_slot slot = vm_table_look(root, address, level);
        uint64_t table;

        if (slot.level == level)
            return slot.entry;
        if (*slot.entry & VM_ENTRY_PRESENT)
            return NULL;
        table = vm_table_new();
        if (!table)
            return NULL;
        *slot.entry = table | VM_ENTRY_PRESENT | VM_ENTRY_WRITE | user;
    }
}

int vm_table_split(uint64_t *entry)
{
    uint64_t table = phys_alloc(0);
    uint64_t page = *entry & ~VM_ENTRY_LARGE;
    uint64_t *entries;

    if (!table)
        return -ENOMEM;
    entries = phys_pointer(table);
    for (uint64_t i = 0; i < 512; i++)
        entries[i] = page + i * PAGE_BYTES;
    *entry = table | VM_ENTRY_PRESENT | VM_ENTRY_WRITE | VM_ENTRY_USER;
    return 0;
}
