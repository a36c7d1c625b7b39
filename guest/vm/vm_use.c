/* Which address space a CPU has loaded. */
#include "guest/base/context.h"
#include "guest/cpu/cpu.h"
#include "guest/memory/vm_kernel.h"
#include "guest/vm/vm.h"
#include "lib/x86.h"

void vm_space_use(struct vm_space *space)
{
    struct cpu *cpu = cpu_this();
    struct vm_space *old = cpu->space;

    cross_assert_held();
    if (space == old)
        return;
    cpu->space = space;
    if (space != NULL)
        space->loaded++;
    x86_write_cr3(space != NULL ? space->root : vm_kernel_root());
    cpu->frames.floor = CPU_NO_PAGE;
    if (old != NULL)
        vm_space_unload(old);
}

void vm_space_leave(const struct vm_space *space)
{
    if (cpu_this()->space == space)
        vm_space_use(NULL);
}
