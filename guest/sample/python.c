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

#define PROCESSES_MAX 256u

struct python_process { /* that runs the interpreter */
    uint32_t pid;
    struct python_where where; /* spaces tell programs apart; those that fork made share them */
};

_Static_assert(sizeof(struct python_codes) <= (uint64_t)PAGE_BYTES << PHYS_ORDER_MAX, "one block");
_Static_assert(HR_PYTHON_BASE + ((uint64_t)CPUS_MAX << CPU_NUMBERS) <= HR_PYTHON_END, "numbers");

static struct python_layout layout;
static const char *file; /* name without folders of the one that holds _PyRuntime */
static struct python_process processes[PROCESSES_MAX];
static uint32_t process_count, mappings;
static struct python_codes *codes[CPUS_MAX];
uint32_t (*python_look)(void);

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

static struct python_process *find(uint32_t pid)
{
    for (uint32_t i = 0; i < process_count; i++)
        if (processes[i].pid == pid)
            return &processes[i];
    return NULL;
}

void python_gone(uint32_t pid)
{
    struct python_process *process = find(pid);

    if (process != NULL)
        *process = processes[--process_count];
}

static void add(const struct python_process *process)
{
    python_gone(process->pid);
    if (process_count < PROCESSES_MAX)
        processes[process_count++] = *process;
}

void python_mapped(uint32_t pid, uint64_t base, const char *path, uint32_t path_bytes)
{
    size_t bytes = strlen(file);

    if (path_bytes <= bytes || path[path_bytes - bytes - 1] != '/' ||
        memcmp(path + path_bytes - bytes, file, bytes) != 0)
        return;
    add(&(struct python_process){
        .pid = pid,
        .where = {base + layout.at[PYTHON_RUNTIME], base + layout.at[PYTHON_CODE_TYPE],
                  (uint16_t)mappings++},
    });
}

void python_forked(uint32_t pid, uint32_t parent)
{
    const struct python_process *from = find(parent);

    if (from != NULL)
        add(&(struct python_process){pid, from->where});
    else
        python_gone(pid);
}

/* Another CPU may change the table at the same time.  Then a sample may have no stack, or a broken
 * one. */
void python_take(struct trace_slot_stack *stack, const struct cpu *cpu)
{
    struct python_codes *c = codes[cpu->index];
    const struct python_process *process = find(python_look());
    struct python_where where;

    if (c == NULL || process == NULL || c->busy) {
        pmu_store((uint64_t *)(void *)stack, (uint64_t)HR_STACK_NONE << 32);
        return;
    }
    where = process->where;
    c->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    python_walk(c, stack, run.stacks.limit, &layout, &where, cpu->tid);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->busy = false;
}

struct python_codes *python_codes_of(uint32_t cpu)
{
    return codes[cpu];
}
