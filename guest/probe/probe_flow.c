/* Jumps and calls that have a probe. */
#include "guest/probe/probe_flow.h"

#include "guest/cpu/cpu.h"
#include "guest/cpu/cross.h"
#include "guest/memory/vm_table.h"
#include "guest/probe/probe_copy.h"
#include "guest/thread/thread.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_fill.h"
#include "lib/x86.h"

#define VECTOR_PAGE_FAULT 14

enum { FLAG_CARRY = 1, FLAG_PARITY = 4, FLAG_ZERO = 0x40, FLAG_SIGN = 0x80, FLAG_OVERFLOW = 0x800 };

/* Intel SDM volume 1, appendix B, "EFLAGS Condition Codes". */
static bool condition_holds(uint8_t condition, uint64_t flags)
{
    bool sign = !(flags & FLAG_SIGN) != !(flags & FLAG_OVERFLOW), zero = flags & FLAG_ZERO, holds;
    const bool by_code[8] = {
        flags & FLAG_OVERFLOW, flags & FLAG_CARRY,  zero, flags & (FLAG_CARRY | FLAG_ZERO),
        flags & FLAG_SIGN,     flags & FLAG_PARITY, sign, sign || zero};

    holds = by_code[condition >> 1 & 7];
    return holds != (condition & 1);
}

/* loopne, loope, loop, jrcxz: E0H to E3H. */
static bool counts_on(uint8_t opcode, struct trap_frame *frame)
{
    bool zero = frame->rflags & FLAG_ZERO;

    if (opcode == 0xe3)
        return !frame->rcx;
    frame->rcx--;
    return frame->rcx && (opcode == 0xe2 || zero == (opcode == 0xe1));
}

static uint64_t operand(struct trap_frame *frame, const struct probe_place *place)
{
    const struct run_probe_point *point = place->point;
    uint64_t address = (uint64_t)(int64_t)point->displacement;

    if (point->base == RUN_PROBE_RIP)
        address += place->ip + point->bytes;
    else if (point->base != RUN_PROBE_NO_REGISTER)
        address += *probe_register(frame, point->base);
    if (point->index != RUN_PROBE_NO_REGISTER)
        address += *probe_register(frame, point->index) * point->scale;
    if (point->segment)
        address += x86_rdmsr(point->segment == 1 ? X86_MSR_FS_BASE : X86_MSR_KERNEL_GS_BASE);
    return address;
}

/* Makes the breakpoint's frame that of a page fault, as the instruction would have: it is served in
 * the program's time, and the breakpoint is reached again. */
static bool fault(struct trap_frame *frame, uint64_t address, bool write)
{
    frame->vector = VECTOR_PAGE_FAULT;
    frame->error = VM_FAULT_USER | (write ? VM_FAULT_WRITE : 0);
    x86_write_cr2(address);
    return false;
}

static bool is_there(const struct vm_space *space, uint64_t address, bool write)
{
    return address < USER_END &&
           vm_filled(*vm_table_look(space->root, address, VM_LEVEL_PAGE).entry, write);
}

/* Where the instruction itself would have a page fault at the word at an address, whose end may be
 * in the next page; otherwise the address. */
static uint64_t faults_at(const struct vm_space *space, uint64_t address, bool write)
{
    uint64_t last = address + sizeof(uint64_t) - 1;

    return is_there(space, address, write) && !is_there(space, last, write) ? last : address;
}

/* Whether the instruction itself would find all of that word without one. */
static bool is_whole(const struct vm_space *space, uint64_t address, bool write)
{
    return is_there(space, address, write) &&
           is_there(space, address + sizeof(uint64_t) - 1, write);
}

static bool push(const struct vm_space *space, struct trap_frame *frame, uint64_t value)
{
    uint64_t sp = frame->rsp - sizeof value;

    if (!is_whole(space, sp, true) || copy_to_user(sp, &value, sizeof value) != 0)
        return fault(frame, faults_at(space, sp, true), true);
    frame->rsp = sp;
    return true;
}

/* Finds where an indirect jump or a call leads, and pushes the return address. */
static bool through_memory(const struct vm_space *space, struct trap_frame *frame,
                           const struct probe_place *place, uint64_t *to)
{
    const struct run_probe_point *point = place->point;
    uint64_t from;

    switch (point->flow) {
    case RUN_PROBE_JUMP_MEMORY:
    case RUN_PROBE_CALL_MEMORY:
        from = operand(frame, place);
        if (!is_whole(space, from, false) || copy_from_user(to, from, sizeof *to) != 0)
            return fault(frame, faults_at(space, from, false), false);
        break;
    case RUN_PROBE_CALL_REGISTER:
        *to = *probe_register(frame, point->base);
        break;
    default:
        *to = place->ip + (uint64_t)point->target;
    }
    return point->flow < RUN_PROBE_CALL || push(space, frame, place->ip + point->bytes);
}

bool probe_flow_target(struct cpu *cpu, struct trap_frame *frame, const struct probe_place *place,
                       uint64_t *to)
{
    const struct run_probe_point *point = place->point;
    uint64_t target = place->ip + (uint64_t)point->target, next = place->ip + point->bytes;
    struct vm_space *space;
    struct vm_area *recent;
    bool done;

    switch (point->flow) {
    case RUN_PROBE_JUMP:
        *to = target;
        return true;
    case RUN_PROBE_JUMP_IF:
        *to = condition_holds(point->condition, frame->rflags) ? target : next;
        return true;
    case RUN_PROBE_JUMP_COUNT:
        *to = counts_on(point->condition, frame) ? target : next;
        return true;
    case RUN_PROBE_JUMP_REGISTER:
        *to = *probe_register(frame, point->base);
        return true;
    default:
        cross_lock(cpu);
        space = cpu->thread->process->space;
        recent = space->recent; /* so that the program's next page fault costs what it would */
        done = through_memory(space, frame, place, to);
        space->recent = recent;
        cross_unlock();
        if (!done) /* an instruction that faults does not count, but its breakpoint did */
            probe_take_off(cpu, 1);
        return done;
    }
}
