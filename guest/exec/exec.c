/* Loads the program: segments, break, stack, auxiliary vector. */
#include "guest/exec/exec.h"

#include <errno.h>
#include <linux/auxvec.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/random.h"
#include "guest/exec/exec_image.h"
#include "guest/exec/exec_stack.h"
#include "guest/exec/vdso_map.h"
#include "guest/file/files.h"
#include "guest/fs/fs.h"
#include "guest/memory/phys.h"
#include "guest/signal/signal_frame.h"
#include "guest/trace/trace.h"
#include "guest/vm/vm_access.h"
#include "guest/vm/vm_range.h"
#include "lib/x86.h"

#define RELOCATABLE_BASE 0x555555554000ull /* where Linux without ASLR puts a PIE */
#define STACK_FIRST_BYTES (128ull << 10)
#define CLOCK_TICKS 100u
#define HWCAP2_FSGSBASE 2u
#define CR4_FSGSBASE (1ull << 16)
#define AT_MINSIGSTKSZ 51 /* younger than some <linux/auxvec.h> */

struct program {
    struct exec_image program;
    struct exec_image interpreter;
    bool has_interpreter;
    uint64_t vdso; /* where it is mapped */
};

static int find_program(struct process *process, struct program *p)
{
    const char *name = manifest_text(&process->manifest, "program", NULL);
    const char *interpreter;
    int error;

    if (name == NULL) {
        log_notice("the manifest names no program");
        return -ENOENT;
    }
    error =
        exec_image_open(name, manifest_text(&process->manifest, "program-path", name), &p->program);
    if (!error)
        p->program.inode->runs = true;
    interpreter = error ? NULL : exec_image_interpreter(&p->program);
    if (interpreter == NULL)
        return error;
    p->has_interpreter = true;
    error = exec_image_open(interpreter, NULL, &p->interpreter);
    if (error)
        log_notice("%s needs its interpreter %s", p->program.path, interpreter);
    return error;
}

/* Maps program and interpreter; the interpreter goes where mmap would put a library. */
static int map_images(struct process *process, struct program *p)
{
    struct vm_space *space = &process->space;
    int error = exec_image_place(space, &p->program, RELOCATABLE_BASE);

    if (!error)
        error = exec_image_map(space, &p->program);
    if (!error && p->has_interpreter)
        error = exec_image_place(space, &p->interpreter, 0);
    if (!error && p->has_interpreter)
        error = exec_image_map(space, &p->interpreter);
    space->brk_start = p->program.base + p->program.elf.high;
    space->brk_end = space->brk_start;
    return error;
}

static void add_auxv(struct exec_stack *stack, uint64_t type, uint64_t value)
{
    stack->auxv[stack->auxv_count++] = (struct exec_stack_auxv){type, value};
}

static void fill_auxv(struct exec_stack *stack, const struct program *p)
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
static int map_stack(struct process *process, const struct program *p, uint64_t bytes)
{
    struct vm_space *space = &process->space;
    uint64_t first = vm_page_up(bytes) + STACK_FIRST_BYTES;
    uint32_t protection = VM_READ | VM_WRITE | (p->program.elf.executable_stack ? VM_EXEC : 0);
    int64_t result;

    if (space->prefault)
        first = space->stack_limit;
    result = vm_map(space, USER_END - first, first, protection, VM_AREA_STACK | VM_AREA_GROWS, true,
                    true);
    return result < 0 ? (int)result : 0;
}

static struct {
    uint64_t bytes;
    struct exec_stack_auxv entries[EXEC_STACK_AUXV_MAX + 4];
} given; /* the vector as the program found it */

/* Keeps the auxiliary vector, which follows argc and two lists that end with a NULL. */
static void keep_auxv(const uint64_t *image)
{
    const uint64_t *word = image + 1;

    while (*word++)
        ;
    while (*word++)
        ;
    do {
        memcpy((uint8_t *)given.entries + given.bytes, word, sizeof given.entries[0]);
        given.bytes += sizeof given.entries[0];
        word += 2;
    } while (word[-2] != AT_NULL && given.bytes < sizeof given.entries);
}

const void *exec_auxv(uint64_t *bytes)
{
    *bytes = given.bytes;
    return given.entries;
}

static int write_stack(struct process *process, const struct exec_stack *stack, int64_t bytes)
{
    unsigned order = phys_order((uint64_t)bytes);
    uint64_t block = phys_alloc(order);
    int error;

    if (!block)
        return -ENOMEM;
    exec_stack_write(stack, phys_pointer(block), (size_t)bytes);
    keep_auxv(phys_pointer(block));
    error = vm_write(&process->space, stack->top - (uint64_t)bytes, phys_pointer(block),
                     (uint64_t)bytes);
    phys_free(block, order);
    return error;
}

static int make_stack(struct process *process, const struct program *p, uint64_t *pointer)
{
    struct exec_stack stack = {
        .manifest = &process->manifest, .file_name = p->program.path, .top = USER_END};
    int64_t bytes;
    int error;

    fill_auxv(&stack, p);
    random_bytes(stack.random, sizeof stack.random);
    bytes = exec_stack_bytes(&stack);
    if (bytes < 0) {
        log_notice("%s: %s", p->program.path,
                   bytes == -E2BIG ? "arguments and environment exceed 2 MiB" : "no arguments");
        return (int)bytes;
    }
    error = map_stack(process, p, (uint64_t)bytes);
    if (!error)
        error = write_stack(process, &stack, bytes);
    if (error)
        log_notice("%s: no memory for its stack; try a larger --mem", p->program.path);
    *pointer = USER_END - (uint64_t)bytes;
    return error;
}

/* Makes the working directory even if the archive has nothing in it. */
static int set_directory(struct process *process)
{
    const char *cwd = manifest_text(&process->manifest, "cwd", "/");
    struct fs_found found;
    int error = cwd[0] == '/' && strlen(cwd) < FS_PATH_MAX ? 0 : -EINVAL;

    if (!error)
        error = fs_make_directories(cwd, 0755);
    if (!error)
        error = fs_walk(NULL, fs_root, cwd, FS_FOLLOW | FS_DIRECTORY, &found);
    if (error) {
        log_notice("the working directory %s cannot be had: error %d", cwd, -error);
        return error;
    }
    process->directory = found.entry;
    fs_entry_hold(process->directory);
    fs_found_release(&found);
    return 0;
}

int (*exec_mount)(const struct process *process);

int exec_load(struct process *process, struct exec_result *result)
{
    struct program p = {0};
    int error = find_program(process, &p);
    uint64_t prefault = 0;
    const struct exec_image *first;

    trace_map_forget();
    if (!error) {
        process->program_path = p.program.path;
        error = exec_mount(process);
        if (!error)
            error = set_directory(process);
    }
    manifest_number(&process->manifest, "prefault", &prefault);
    process->space.prefault = prefault != 0;
    if (!error)
        error = map_images(process, &p);
    if (!error)
        error = vdso_map(process, &p.vdso);
    if (!error)
        error = make_stack(process, &p, &result->stack);
    if (!error)
        error = files_open_streams(process);
    first = p.has_interpreter ? &p.interpreter : &p.program;
    result->entry = first->base + first->elf.entry;
    result->load_base = p.program.base;
    return error;
}
