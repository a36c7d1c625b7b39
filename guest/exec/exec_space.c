/* The address space of a new program. */
#include "guest/exec/exec_space.h"

struct vm_space *exec_space_new(const struct vm_space *old)
{
    struct vm_space *space = vm_space_new();

    if (space == NULL)
        return NULL;
    space->stack_limit = old->stack_limit;
    space->address_limit = old->address_limit;
    space->data_limit = old->data_limit;
    space->prefault = old->prefault;
    return space;
}

void exec_space_switch(struct process *process, struct vm_space *space)
{
    struct vm_space *old = process->space;

    process->space = space;
    vm_space_use(space);
    vm_space_release(old);
}
