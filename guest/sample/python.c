/* Finds the interpreter when it is mapped, and takes its frames at samples. */
#include "guest/sample/python.h"

#include <errno.h>
#include <string.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/sample/python_walk.h"

#define CPU_NUMBERS 36u /* a CPU gives its code objects numbers from its index times 2^36 on */

_Static_assert(sizeof(struct python_codes) <= (uint64_t)PAGE_BYTES << PHYS_ORDER_MAX, "one block");
_Static_assert(HR_PYTHON_BASE + ((uint64_t)CPUS_MAX << CPU_NUMBERS) <= HR_PYTHON_END, "numbers");

static struct python_layout layout;
static const char *file; /* name without folders of the one that holds _PyRuntime */
static struct python_where where;
static struct python_codes *codes[CPUS_MAX];
void (*python_look)(void);

void python_start(void)
{
    if (run.stacks.kind != HR_STACK_PYTHON)
        return;
    file = manifest_text(&run.manifest, "python", "");
    if (python_layout_read(&layout, manifest_text(&run.manifest, "python-layout", "")))
        panic("manifest: python-layout is not %u numbers", PYTHON_LAYOUT_FIELDS);
}

int python_add_cpu(uint32_t cpu)
{
    uint64_t block = phys_alloc_last();

    if (!block)
        return -ENOMEM;
    codes[cpu] = phys_pointer(block);
    memset(codes[cpu], 0, sizeof *codes[cpu]);
    codes[cpu]->next = HR_PYTHON_BASE + ((uint64_t)cpu << CPU_NUMBERS) + 16;
    return 0;
}

/* One store makes it known: a sampler sees the type with the runtime. */
void python_mapped(uint64_t start, uint64_t file_offset, const char *path, uint32_t path_bytes)
{
    uint64_t base = start - file_offset;
    size_t bytes = strlen(file);

    if (path_bytes <= bytes || path[path_bytes - bytes - 1] != '/' ||
        memcmp(path + path_bytes - bytes, file, bytes) != 0)
        return;
    where.code_type = base + layout.at[PYTHON_CODE_TYPE];
    __atomic_store_n(&where.runtime, base + layout.at[PYTHON_RUNTIME], __ATOMIC_RELEASE);
}

void python_take(struct trace_slot_stack *stack, const struct cpu *cpu)
{
    struct python_codes *c = codes[cpu->index];
    struct python_where now;

    python_look();
    now.runtime = __atomic_load_n(&where.runtime, __ATOMIC_ACQUIRE);
    now.code_type = where.code_type;
    if (c == NULL || now.runtime == 0 || c->busy) {
        pmu_store((uint64_t *)(void *)stack, (uint64_t)HR_STACK_NONE << 32);
        return;
    }
    c->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    python_walk(c, stack, run.stacks.limit, &layout, &now, cpu->tid);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->busy = false;
}

struct python_codes *python_codes_of(uint32_t cpu)
{
    return codes[cpu];
}
