/* Records of mmap, munmap, mremap, brk, shmat and shmdt. */
#include "guest/syscall/memory/mapping.h"

#include <asm/unistd_64.h>
#include <linux/mman.h>

#include "guest/base/frame.h"
#include "guest/base/layout.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/thread/process.h"
#include "guest/thread/thread.h"
#include "guest/vm/vm.h"

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/* The break as it was is not in the call's arguments. */
static bool move_break(struct vm_space *space, struct hr_rec_mapping *m)
{
    m->kind = HR_MAPPING_BREAK;
    m->address = space->brk_end;
    m->old_address = space->brk_told;
    space->brk_told = space->brk_end;
    return m->address != m->old_address;
}

/* Returns whether the call is one of these. */
static bool describe(const struct cpu *cpu, const struct trap_frame *frame,
                     struct hr_rec_mapping *m)
{
    struct vm_space *space = cpu->thread->process->space;
    const struct vm_area *area;

    switch (frame->vector) {
    case __NR_mmap:
        *m = (struct hr_rec_mapping){.kind = HR_MAPPING_MAP,
                                     .address = frame->rax,
                                     .bytes = whole_pages(frame->rsi),
                                     .flags = (uint32_t)frame->r10,
                                     .protection = (uint32_t)frame->rdx};
        return true;
    case __NR_shmat:
        area = vm_find(space, frame->rax);
        *m = (struct hr_rec_mapping){.kind = HR_MAPPING_MAP,
                                     .address = frame->rax,
                                     .bytes = area != NULL ? area->end - frame->rax : 0,
                                     .flags = MAP_SHARED,
                                     .protection = area != NULL ? area->protection : 0};
        return true;
    case __NR_munmap:
    case __NR_shmdt:
        *m = (struct hr_rec_mapping){.kind = HR_MAPPING_UNMAP,
                                     .address = frame->rdi,
                                     .bytes = frame->vector == __NR_munmap ? whole_pages(frame->rsi)
                                                                           : 0};
        return true;
    case __NR_mremap:
        *m = (struct hr_rec_mapping){.kind = HR_MAPPING_MOVE,
                                     .address = frame->rax,
                                     .bytes = whole_pages(frame->rdx),
                                     .old_address = frame->rdi,
                                     .old_bytes = whole_pages(frame->rsi)};
        return true;
    case __NR_brk:
        return move_break(space, m);
    default:
        return false;
    }
}

void mapping_record(struct cpu *cpu, const struct trap_frame *frame)
{
    uint64_t time = clock_stopped_time(cpu);
    struct hr_rec_mapping m = {0};
    struct trace_slot *slot;

    if (frame->rax >= -4095ull || !describe(cpu, frame, &m))
        return;
    if (run.stacks.kind)
        sampler_record_stack(cpu, time, frame, HR_SAMPLE_CALLED);
    slot = sampler_record(cpu, HR_REC_MAPPING, time);
    slot->ip = m.address;
    slot->counters[0] = m.bytes;
    slot->counters[1] = m.old_address;
    slot->counters[2] = m.old_bytes;
    slot->counters[3] = m.kind | (uint64_t)m.flags << 32;
    slot->counters[4] = m.protection;
    sampling.trigger->close(cpu);
}
