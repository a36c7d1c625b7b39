/* The address space of a new program. */
#include "guest/exec/exec_space.h"

#include "guest/cpu/cross.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/vm/vm_file.h"

#define USER_HALF 256 /* entries of the top table */

struct vm_space *exec_space_new(const struct vm_space *old)
{
    struct vm_space *space = heap_alloc(sizeof *space);

    if (space == NULL || vm_space_init(space) != 0) {
        heap_free(space, sizeof *space);
        return NULL;
    }
    space->stack_limit = old->stack_limit;
    space->address_limit = old->address_limit;
    space->data_limit = old->data_limit;
    space->prefault = old->prefault;
    return space;
}

void exec_space_free(struct vm_space *space)
{
    vm_space_free(space);
    heap_free(space, sizeof *space);
}

/* CPUs keep the top table: the halves of the program are exchanged. */
void exec_space_switch(struct process *process, struct vm_space *space)
{
    struct vm_space *now = process->space, old = *now;
    uint64_t *top = phys_pointer(now->root), *other = phys_pointer(space->root);

    for (uint32_t i = 0; i < USER_HALF; i++) {
        uint64_t entry = top[i];

        top[i] = other[i];
        other[i] = entry;
    }
    *now = *space;
    now->root = old.root;
    now->faults += old.faults;
    now->faults_copied += old.faults_copied;
    old.root = space->root;
    *space = old;
    vm_file_use(now);
    cross_flush(0, USER_END);
    exec_space_free(space);
}
