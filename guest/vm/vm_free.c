/* The end of an address space. */
#include "guest/memory/phys.h"
#include "guest/memory/vm_table.h"
#include "guest/vm/vm.h"

#define USER_HALF 256 /* entries of the top table */

/* Frees the tables below a table; its pages are gone already. */
static void free_tables(uint64_t table, unsigned level, unsigned entries)
{
    const uint64_t *entry = phys_pointer(table & VM_ENTRY_ADDRESS);

    for (unsigned i = 0; i < entries && level > VM_LEVEL_PAGE; i++) {
        if (!(entry[i] & VM_ENTRY_PRESENT) || entry[i] & VM_ENTRY_LARGE)
            continue;
        free_tables(entry[i], level - 1, 512);
    }
    phys_free(table & VM_ENTRY_ADDRESS, 0);
}

void vm_space_free(struct vm_space *space)
{
    vm_unmap(space, 0, USER_END);
    free_tables(space->root, VM_LEVEL_TOP, USER_HALF);
    space->root = 0;
}
