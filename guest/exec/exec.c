/* Builds a program in an address space: segments, break, vDSO, stack, auxiliary vector. */
#include "guest/exec/exec.h"

#include <errno.h>
#include <linux/auxvec.h>
#include <unistd.h>

#include "guest/base/random.h"
#include "guest/exec/exec_file.h"
#include "guest/exec/exec_program.h"
#include "guest/exec/exec_stack.h"
#include "guest/exec/vdso_map.h"
#include "guest/signal/signal_frame.h"
#include "guest/vm/vm_range.h"
#include "lib/x86.h"

#define RELOCATABLE_BASE 0x555555554000ull /* where Linux without ASLR puts a PIE */
#define STACK_FIRST_BYTES (128ull << 10)
#define CLOCK_TICKS 100u
#define HWCAP2_FSGSBASE 2u
#define CR4_FSGSBASE (1ull << 16)
#define AT_MINSIGSTKSZ 51 /* younger than some <linux/auxvec.h> */

/* Opens the interpreter that the program names. */
static int open_interpreter(struct exec_plan *plan)
{
    int error = 0;
    const char *name = exec_image_interpreter(&plan->program, &error);
    enum elf64_status status;
    struct fs_found found;

    if (name == NULL)
        return error;
    error = exec_file_find(NULL, fs_root, name, &found);
    if (error)
        return error;
    error = exec_image_open(found.entry, false, &plan->interpreter, &status);
    fs_found_release(&found);
    return error == -ENOEXEC ? -ELIBBAD : error;
}

/* Maps program and interpreter; the interpreter goes where mmap would put a library. */
static int map_images(struct exec_plan *plan)
{
    struct vm_space *space = plan->space;
    int error = exec_image_place(space, &plan->program, RELOCATABLE_BASE);

    if (!error)
        error = exec_image_map(space, &plan->program);
    if (!error && plan->interpreter.entry != NULL)
        error = exec_image_place(space, &plan->interpreter, 0);
    if (!error && plan->interpreter.entry != NULL)
        error = exec_image_map(space, &plan->interpreter);
    space->brk_start = plan->program.base + plan->program.elf.high;
    space->brk_end = space->brk_told = space->brk_start;
    return error;
}

static void add_auxv(struct exec_stack *stack, uint64_t type, uint64_t value)
{
    stack->auxv[stack->auxv_count++] = (struct exec_stack_auxv){type, value};
}

static void fill_auxv(struct exec_stack *stack, const struct exec_plan *p)
{
    const struct elf64_image *image = &p->program.elf;

    add_auxv(stack, AT_SYSINFO_EHDR, p->vdso);
    add_auxv(stack, AT_MINSIGSTKSZ, signal_frame_bytes_max());
    add_auxv(stack, AT_HWCAP, x86_cpuid(1, 0).edx);
    add_auxv(stack, AT_PAGESZ, PAGE_BYTES);
    add_auxv(stack, AT_CLKTCK, CLOCK_TICKS);
    if (image->program_headers)
        add_auxv(stack, AT_PHDR, p->program.base + image->program_headers);
    add_auxv(stack, AT_PHENT, image->program_header_bytes);
    add_auxv(stack, AT_PHNUM, image->program_header_count);
    add_auxv(stack, AT_BASE, p->interpreter.base);
    add_auxv(stack, AT_FLAGS, 0);
    add_auxv(stack, AT_ENTRY, p->program.base + image->entry);
    add_auxv(stack, AT_UID, PROCESS_USER_ID);
    add_auxv(stack, AT_EUID, PROCESS_USER_ID);
    add_auxv(stack, AT_GID, PROCESS_USER_ID);
    add_auxv(stack, AT_EGID, PROCESS_USER_ID);
    add_auxv(stack, AT_SECURE, 0);
    add_auxv(stack, AT_HWCAP2, x86_read_cr4() & CR4_FSGSBASE ? HWCAP2_FSGSBASE : 0);
}

/* Maps the stack as Linux does: room for its contents and 128 KiB; the rest is mapped when touched.
 */
static int map_stack(const struct exec_plan *p, uint64_t bytes)
{
    struct vm_space *space = p->space;
    uint64_t first = vm_page_up(bytes) + STACK_FIRST_BYTES;
    uint32_t protection = VM_READ | VM_WRITE | (p->program.elf.executable_stack ? VM_EXEC : 0);
    int64_t result;

    if (space->prefault)
        first = space->stack_limit;
    result = vm_map(space, USER_END - first, first, protection, VM_AREA_STACK | VM_AREA_GROWS, true,
                    true);
    return result < 0 ? (int)result : 0;
}

static int make_stack(struct exec_plan *plan)
{
    struct exec_stack stack = {.arguments = &plan->arguments,
                               .environment = &plan->environment,
                               .file_name = plan->file_name,
                               .top = USER_END};
    uint64_t bytes;
    int error;

    fill_auxv(&stack, plan);
    random_bytes(stack.random, sizeof stack.random);
    bytes = exec_stack_bytes(&stack);
    plan->stack = USER_END - bytes;
    error = map_stack(plan, bytes);
    return error ? error : exec_stack_write(&stack, plan->space, &plan->given);
}

int exec_make(struct exec_plan *plan)
{
    const struct exec_image *first = &plan->program;
    int error = open_interpreter(plan);

    plan->opened = !error;
    if (!error)
        error = map_images(plan);
    if (!error)
        error = vdso_map(plan->space, &plan->vdso);
    if (!error)
        error = make_stack(plan);
    if (plan->interpreter.entry != NULL)
        first = &plan->interpreter;
    plan->entry = first->base + first->elf.entry;
    return error;
}

void exec_announce(const struct exec_plan *plan)
{
    static char path[FS_PATH_MAX];
    bool gone;

    exec_image_announce(&plan->program, plan->record->path);
    if (plan->interpreter.entry != NULL &&
        fs_path(plan->interpreter.entry, path, sizeof path, &gone) >= 0)
        exec_image_announce(&plan->interpreter, path);
    vdso_announce(plan->vdso);
}

void exec_free(struct exec_plan *plan)
{
    exec_image_close(&plan->program);
    exec_image_close(&plan->interpreter);
    exec_program_release(plan->record);
    if (plan->space != NULL)
        vm_space_release(plan->space);
}
