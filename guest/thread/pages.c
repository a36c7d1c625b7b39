/* Looks at the page tables and records what was touched: see guest/thread/pages.h. */
#include "guest/thread/pages.h"

#include <string.h>

#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/memory/vm_table.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/thread/process.h"
#include "guest/thread/threads.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_touched.h"

#define SYSCALL_BYTES 2u /* of the instruction */
#define SLOT_BYTES (TRACE_SLOT_SMALL_EVENTS * 8u) /* of runs, in a slot's counters */

uint64_t pages_due = CPU_NEVER;

/* The records of one look at one process. */
struct record {
    struct cpu *cpu;
    uint64_t time;
    uint32_t pid;
    struct trace_slot *slot; /* NULL: the next run begins one */
    uint32_t bytes; /* of runs in it */
    uint64_t end; /* address after the last run */
};

static void close_slot(struct record *r)
{
    if (r->slot == NULL)
        return;
    r->slot->cost_ticks = (uint16_t)r->bytes;
    sampling.trigger->close(r->cpu);
    r->slot = NULL;
}

static void open_slot(struct record *r, uint64_t address)
{
    r->slot = sampler_record(r->cpu, HR_REC_PAGES, r->time);
    r->slot->ip = address;
    r->slot->tid = r->pid;
    r->bytes = 0;
    r->end = address;
}

static void take_run(void *context, const struct trace_pages_run *pages)
{
    struct record *r = context;
    uint8_t coded[TRACE_PAGES_RUN_MAX];
    uint32_t bytes = trace_pages_put(coded, r->end, pages, false);

    if (r->slot == NULL || r->bytes + bytes > SLOT_BYTES) {
        close_slot(r);
        open_slot(r, pages->address);
        bytes = trace_pages_put(coded, r->end, pages, true);
    }
    memcpy((uint8_t *)r->slot->counters + r->bytes, coded, bytes);
    r->bytes += bytes;
    r->end = pages->address + pages->pages * TRACE_PAGE_BYTES;
}

static void record_process(struct cpu *cpu, uint64_t now, const struct process *process, bool clear)
{
    struct record r = {.cpu = cpu, .time = now, .pid = process->pid};
    bool any = vm_touched_look(process->space, take_run, &r, clear);

    close_slot(&r);
    if (clear && any)
        cross_flush(process->space, 0, USER_END);
}

/* A process shares all memory with its parent between vfork and execve: it is the parent's. */
static bool is_parents(const struct process *process)
{
    if (process->space->references == 1)
        return false;
    for (const struct process *p = process_after(NULL); p != process; p = process_after(p))
        if (p->space == process->space)
            return true;
    return false;
}

static void record_all(struct cpu *cpu, uint64_t now)
{
    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p))
        if (p->space != NULL && !is_parents(p))
            record_process(cpu, now, p, false);
}

/* Of several processes reads all before it clears any: they may share page tables since a fork. */
static void look(struct cpu *cpu, uint64_t now)
{
    if (process_count() == 1) {
        record_process(cpu, now, process_after(NULL), true);
        return;
    }
    record_all(cpu, now);
    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p))
        if (p->space != NULL && vm_touched_look(p->space, NULL, NULL, true))
            cross_flush(p->space, 0, USER_END);
}

void pages_start(void)
{
    if (!run.pages_ticks)
        return;
    pages_due = run.start_ticks + run.pages_ticks;
    cpu_watch_exceptions();
}

void pages_attend(struct cpu *cpu, uint64_t now)
{
    if (now < pages_due)
        return;
    look(cpu, now);
    pages_due += ((now - pages_due) / run.pages_ticks + 1) * run.pages_ticks;
    if (run.shared)
        cpu->activity.interruptions--; /* trap_attention() counted it, but the clock stood */
}

/* Stops the clock; in any run, so that the program sees one clock with looks and without.  Returns
 * whether it ran. */
static bool pages_stop_clock(struct cpu *cpu)
{
    bool ran = cpu->clock.stopped_at == 0;

    if (ran)
        clock_stop(cpu);
    return ran;
}

static void look_aside(const struct process *process, bool wanted, bool clear)
{
    struct cpu *cpu = cpu_this();
    bool ran = pages_stop_clock(cpu);

    if (wanted && run.pages_ticks)
        record_process(cpu, clock_stopped_time(cpu), process, clear);
    if (ran)
        clock_start(cpu);
}

void pages_leave(const struct process *process)
{
    look_aside(process, process->space->references == 1, false);
}

void pages_fork(const struct process *process)
{
    look_aside(process, true, true);
}

static void record_fault(struct cpu *cpu, uint64_t ip, uint64_t address, uint32_t flags)
{
    struct trace_slot *slot = sampler_record(cpu, HR_REC_PAGE_FAULT, clock_stopped_time(cpu));

    slot->ip = ip;
    slot->counters[0] = address;
    slot->counters[1] =
        vm_level_bytes(vm_table_look(cpu->space->root, address, VM_LEVEL_PAGE).level);
    slot->counters[2] = flags;
    sampling.trigger->close(cpu);
}

void pages_fault(struct cpu *cpu, const struct trap_frame *frame, uint64_t address)
{
    if (run.pages_ticks)
        record_fault(cpu, frame->rip, address,
                     (frame->error & VM_FAULT_WRITE ? HR_PAGE_FAULT_WRITE : 0) |
                         (frame->error & VM_FAULT_FETCH ? HR_PAGE_FAULT_FETCH : 0));
}

/* The instruction SYSCALL leaves the address of the next one in RCX (Intel SDM volume 2B). */
static uint64_t calling_ip(const struct trap_frame *frame)
{
    return frame->rcx == frame->rip ? frame->rip - SYSCALL_BYTES : frame->rip;
}

void pages_filled(const struct vm_space *space, uint64_t address, bool write)
{
    struct cpu *cpu = cpu_this();
    bool ran;

    if (cpu->thread == NULL || cpu->thread->process->space != space)
        return;
    ran = pages_stop_clock(cpu);
    if (run.pages_ticks)
        record_fault(cpu, calling_ip(threads_frame(cpu->thread)), address,
                     HR_PAGE_FAULT_CALL | (write ? HR_PAGE_FAULT_WRITE : 0));
    if (ran)
        clock_start(cpu);
}

void pages_end(struct cpu *cpu, uint64_t now)
{
    if (run.pages_ticks)
        record_all(cpu, now);
}
