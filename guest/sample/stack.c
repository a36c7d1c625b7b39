/* Fills the call stacks of samples. */
#include "guest/sample/stack.h"
#include "guest/sample/sampling.h"

#include <errno.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/image.h"
#include "guest/memory/phys.h"
#include "guest/sample/python.h"
#include "guest/sample/ring.h"
#include "guest/sample/stack_walk.h"
#include "lib/trace/stack_kinds.h"
#include "lib/trace/trace_writer.h"

#define IRET_BYTES (5 * sizeof(uint64_t)) /* what the hardware pushes; system calls likewise */
#define REGISTER_RCX 2 /* in the order of HR_STACK_REGISTERS */

#define BLOCK_BYTES (PAGE_BYTES << PHYS_ORDER_MAX)

uint32_t stack_offset;

static uint32_t stack_bytes(void)
{
    bool chains = stack_kinds_chains(run.stacks.kind);
    uint32_t words = chains ? run.stacks.limit : HR_STACK_REGISTERS;
    uint32_t copied = chains ? 0 : run.stacks.limit;

    return (uint32_t)(sizeof(struct trace_slot_stack) + words * sizeof(uint64_t)) + copied;
}

static void take_registers(uint64_t *to, const struct trap_frame *f)
{
    const uint64_t registers[HR_STACK_REGISTERS] = {f->rax, f->rdx, f->rcx, f->rbx, f->rsi, f->rdi,
                                                    f->rbp, f->rsp, f->r8,  f->r9,  f->r10, f->r11,
                                                    f->r12, f->r13, f->r14, f->r15};

    for (uint32_t i = 0; i < HR_STACK_REGISTERS; i++)
        pmu_store(to + i, registers[i]);
}

static void take_nothing(struct trace_slot_stack *stack, uint64_t root)
{
    pmu_store((uint64_t *)(void *)stack, root << 32);
    if (run.stacks.kind == HR_STACK_DWARF)
        for (uint32_t i = 0; i < HR_STACK_REGISTERS; i++)
            pmu_store(stack->words + i, 0);
}

void stack_take_none(struct trace_slot *slot)
{
    take_nothing(stack_of(slot), HR_STACK_NONE);
}

static void stack_copy(struct trace_slot_stack *stack, const struct trap_frame *frame)
{
    take_registers(stack->words, frame);
    stack_walk_copy(stack, run.stacks.limit, frame->rsp);
}

static void stack_python(struct trace_slot_stack *stack, const struct trap_frame *)
{
    python_take(stack, cpu_this());
}

SEALED void (*stack_other)(struct trace_slot_stack *stack,
                           const struct trap_frame *frame) = stack_copy;

int stack_add_to_ring(struct ring *ring)
{
    uint64_t block;

    if (!run.stacks.kind)
        return 0;
    block = phys_alloc_last();
    if (!block || (run.stacks.kind == HR_STACK_PYTHON && python_add_cpu(ring->cpu)))
        return -ENOMEM;
    stack_other = run.stacks.kind == HR_STACK_PYTHON ? stack_python : stack_copy;
    stack_offset = trace_slot_bytes(sampling_values());
    stack_walk_start(run.stacks.limit);
    ring_add_stacks(ring, phys_pointer(block), BLOCK_BYTES, stack_bytes());
    return 0;
}

int stack_add_to_writer(struct trace_writer *writer)
{
    uint64_t block;

    if (!run.stacks.kind)
        return 0;
    block = phys_alloc_last();
    if (!block || trace_stacks_bytes(run.stacks.kind) > BLOCK_BYTES - TRACE_STACKS_CHUNK_BYTES)
        return -ENOMEM;
    writer->buffer = phys_pointer(block);
    writer->capacity = TRACE_STACKS_CHUNK_BYTES;
    trace_writer_stacks(writer, run.stacks.kind, writer->buffer + TRACE_STACKS_CHUNK_BYTES);
    return 0;
}

void stack_take_later(struct cpu *cpu, struct trace_slot *slot, const struct trap_frame *frame)
{
    stack_take(cpu, slot, frame);
    if (run.stacks.kind == HR_STACK_DWARF)
        pmu_store(stack_of(slot)->words + REGISTER_RCX, frame->rip);
}

void stack_check(struct trace_slot *slot)
{
    if (run.stacks.kind == HR_STACK_FP)
        stack_walk_check(stack_of(slot), slot->flags & HR_SAMPLE_KERNEL);
}

/* Takes the kernel's frames on the stack whose top is `top`.  Returns how many; *fp is the next
 * frame pointer.  Entries leave the frame pointer alone, so that after the kernel's last frame it
 * is the program's. */
static uint32_t take_kernel_frames(struct trace_slot_stack *stack, uint64_t top, uint64_t sp,
                                   uint64_t *fp)
{
    uint64_t above = sp;
    uint32_t count = 0;

    while (count < run.stacks.limit && *fp >= above && *fp % 8 == 0 &&
           *fp < top - sizeof(struct trap_frame)) {
        const uint64_t *frame = (const uint64_t *)*fp;
        uint64_t address = frame[1];

        if (address < (uint64_t)kernel_start || address >= (uint64_t)kernel_text_end)
            break;
        pmu_store(stack->words + count++, address);
        above = *fp + 2 * sizeof *frame;
        *fp = frame[0];
    }
    return count;
}

/* An NMI may come where the program's registers are not saved yet, or no longer: at the first and
 * last instructions of an entry, or between two threads.  Then there is no stack. */
void stack_take_kernel(struct trace_slot *slot, const struct cpu *cpu,
                       const struct irq_frame *frame, uint64_t fp)
{
    const struct trap_frame *user = (const struct trap_frame *)cpu->kernel_stack_top - 1;
    uint64_t top = cpu->kernel_stack_top, sp = frame->rsp;
    struct trace_slot_stack *stack = stack_of(slot);
    bool saved = sp >= top - KERNEL_STACK_BYTES &&
                 sp <= (run.stacks.kind == HR_STACK_FP ? top - IRET_BYTES : (uint64_t)user);

    if (cpu->thread == NULL || !saved) {
        take_nothing(stack, cpu->thread != NULL ? HR_STACK_BROKEN : HR_STACK_NONE);
        return;
    }
    if (run.stacks.kind == HR_STACK_FP) {
        uint32_t count = take_kernel_frames(stack, top, sp, &fp);
        if (count < run.stacks.limit) /* as in a signal frame: no return address */
            pmu_store(stack->words + count++, user->rip + 1);
        stack_walk_behind(stack, count, fp);
        return;
    }
    if (run.stacks.kind == HR_STACK_PYTHON) {
        python_take(stack, cpu);
        return;
    }
    take_registers(stack->words, user);
    pmu_store(stack->words + REGISTER_RCX, user->rip);
    stack_walk_copy(stack, run.stacks.limit, user->rsp);
}
