/* Loads the program: segments, break, stack, auxiliary vector. */
#include "guest/exec.h"

#include <errno.h>
#include <linux/auxvec.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/exec_stack.h"
#include "guest/files.h"
#include "guest/fs.h"
#include "guest/log.h"
#include "guest/phys.h"
#include "guest/random.h"
#include "guest/signal_frame.h"
#include "guest/trace.h"
#include "guest/vm_access.h"
#include "include/hr_format.h"
#include "lib/elf64.h"
#include "lib/x86.h"

#define RELOCATABLE_BASE 0x555555554000ull /* where Linux without ASLR puts a PIE */
#define STACK_BYTES (8ull << 20)
#define PAGE_MASK (PAGE_BYTES - 1ull)
#define CLOCK_TICKS 100u
#define HWCAP2_FSGSBASE 2u
#define CR4_FSGSBASE (1ull << 16)
#define AT_MINSIGSTKSZ 51 /* younger than some <linux/auxvec.h> */

struct program {
    const struct fs_node *node;
    const char *path; /* on the host */
    struct elf64_image image;
    uint64_t base;
};

static int find_program(struct process *process, struct program *p)
{
    const char *name = manifest_text(&process->manifest, "program", NULL);
    enum elf64_status status;

    if (!name || fs_find("/", name, &p->node) != 0 || !S_ISREG(p->node->mode)) {
        log_notice("the run archive has no program %s", name ? name : "");
        return -ENOENT;
    }
    p->path = manifest_text(&process->manifest, "program-path", name);
    status = elf64_parse(p->node->data, p->node->bytes, &p->image);
    if (status != ELF64_OK) {
        log_notice("%s: %s", p->path, elf64_status_text(status));
        return -ENOEXEC;
    }
    if (p->image.interpreter_bytes) {
        log_notice("%s: a dynamically linked program; link it with -static", p->path);
        return -ENOEXEC;
    }
    p->base = p->image.relocatable ? RELOCATABLE_BASE - p->image.low : 0;
    return 0;
}

static uint32_t protection_of(const struct elf64_segment *s)
{
    return (s->flags & 4 ? VM_READ : 0) | (s->flags & 2 ? VM_WRITE : 0) |
           (s->flags & 1 ? VM_EXEC : 0);
}

/* Two segments may share a page: it gets the rights of both. */
static int map_segment(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection)
{
    const struct vm_area *shared = vm_find(space, start);
    int64_t result;

    if (shared) {
        int error = vm_protect(space, start, PAGE_BYTES, shared->protection | protection);

        if (error)
            return error;
        start += PAGE_BYTES;
    }
    if (start >= end)
        return 0;
    result = vm_map(space, start, end - start, protection, VM_AREA_IMAGE, true, true);
    return result < 0 ? (int)result : 0;
}

static int load_segment(struct process *process, const struct program *p,
                        const struct elf64_segment *s)
{
    uint64_t address = p->base + s->address;
    uint64_t start = address & ~PAGE_MASK;
    uint64_t end = (address + s->memory_bytes + PAGE_MASK) & ~PAGE_MASK;
    int error = map_segment(&process->space, start, end, protection_of(s));

    if (!error)
        error = vm_write(&process->space, address, p->node->data + s->file_offset, s->file_bytes);
    if (!error && s->flags & 1)
        trace_map(start, end, s->file_offset - (address - start),
                  (s->flags & 4 ? HR_MAP_READ : 0) | (s->flags & 2 ? HR_MAP_WRITE : 0) |
                      HR_MAP_EXEC,
                  p->image.build_id_bytes ? p->node->data + p->image.build_id_offset : NULL,
                  (uint16_t)p->image.build_id_bytes, p->path);
    return error;
}

static int load_segments(struct process *process, const struct program *p)
{
    for (uint32_t i = 0; i < p->image.segment_count; i++) {
        int error = load_segment(process, p, &p->image.segments[i]);

        if (error) {
            log_notice("%s: its %lu KiB do not fit in memory; %lu KiB are free, try a larger --mem",
                       p->path, (p->image.high - p->image.low) >> 10, phys_free_bytes() >> 10);
            return -ENOMEM;
        }
    }
    process->space.brk_start = p->base + p->image.high;
    process->space.brk_end = process->space.brk_start;
    return 0;
}

static void add_auxv(struct exec_stack *stack, uint64_t type, uint64_t value)
{
    stack->auxv[stack->auxv_count++] = (struct exec_stack_auxv){type, value};
}

static void fill_auxv(struct exec_stack *stack, const struct program *p)
{
    const struct elf64_image *image = &p->image;

    add_auxv(stack, AT_MINSIGSTKSZ, signal_frame_bytes_max());
    add_auxv(stack, AT_HWCAP, x86_cpuid(1, 0).edx);
    add_auxv(stack, AT_PAGESZ, PAGE_BYTES);
    add_auxv(stack, AT_CLKTCK, CLOCK_TICKS);
    if (image->program_headers)
        add_auxv(stack, AT_PHDR, p->base + image->program_headers);
    add_auxv(stack, AT_PHENT, image->program_header_bytes);
    add_auxv(stack, AT_PHNUM, image->program_header_count);
    add_auxv(stack, AT_BASE, 0);
    add_auxv(stack, AT_FLAGS, 0);
    add_auxv(stack, AT_ENTRY, p->base + image->entry);
    add_auxv(stack, AT_UID, PROCESS_USER_ID);
    add_auxv(stack, AT_EUID, PROCESS_USER_ID);
    add_auxv(stack, AT_GID, PROCESS_USER_ID);
    add_auxv(stack, AT_EGID, PROCESS_USER_ID);
    add_auxv(stack, AT_SECURE, 0);
    add_auxv(stack, AT_HWCAP2, x86_read_cr4() & CR4_FSGSBASE ? HWCAP2_FSGSBASE : 0);
}

static int map_stack(struct process *process, const struct program *p)
{
    uint32_t protection = VM_READ | VM_WRITE | (p->image.executable_stack ? VM_EXEC : 0);
    int64_t result = vm_map(&process->space, USER_END - STACK_BYTES, STACK_BYTES, protection,
                            VM_AREA_STACK, true, true);

    return result < 0 ? (int)result : 0;
}

static int write_stack(struct process *process, const struct exec_stack *stack, int64_t bytes)
{
    unsigned order = phys_order((uint64_t)bytes);
    uint64_t block = phys_alloc(order);
    int error;

    if (!block)
        return -ENOMEM;
    exec_stack_write(stack, phys_pointer(block), (size_t)bytes);
    error = vm_write(&process->space, stack->top - (uint64_t)bytes, phys_pointer(block),
                     (uint64_t)bytes);
    phys_free(block, order);
    return error;
}

static int make_stack(struct process *process, const struct program *p, uint64_t *pointer)
{
    struct exec_stack stack = {
        .manifest = &process->manifest, .file_name = p->path, .top = USER_END};
    int64_t bytes;
    int error = map_stack(process, p);

    if (error) {
        log_notice("%s: no room for its stack: error %d", p->path, -error);
        return -ENOMEM;
    }
    fill_auxv(&stack, p);
    random_bytes(stack.random, sizeof stack.random);
    bytes = exec_stack_bytes(&stack);
    if (bytes < 0) {
        log_notice("%s: %s", p->path,
                   bytes == -E2BIG ? "arguments and environment exceed 2 MiB" : "no arguments");
        return (int)bytes;
    }
    error = write_stack(process, &stack, bytes);
    if (error)
        log_notice("%s: no memory for its arguments; try a larger --mem", p->path);
    *pointer = USER_END - (uint64_t)bytes;
    return error;
}

static int set_directory(struct process *process)
{
    const char *cwd = manifest_text(&process->manifest, "cwd", "/");
    size_t bytes = strlen(cwd) + 1;

    if (cwd[0] != '/' || bytes > sizeof process->cwd) {
        log_notice("the working directory is not an absolute path of at most 4095 bytes");
        return -EINVAL;
    }
    memcpy(process->cwd, cwd, bytes);
    return 0;
}

int exec_load(struct process *process, struct exec_result *result)
{
    struct program p = {0};
    int error = find_program(process, &p);

    if (!error) {
        process->program_path = p.path;
        error = set_directory(process);
    }
    if (!error)
        error = load_segments(process, &p);
    if (!error)
        error = make_stack(process, &p, &result->stack);
    if (!error)
        error = files_open_streams(process);
    result->entry = p.base + p.image.entry;
    result->load_base = p.base;
    return error;
}
