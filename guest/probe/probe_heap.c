/* Calls of the program's allocator.
 *
 * A thread is in at most one outermost call.  It is known by its stack pointer, so that entries
 * below it are calls that the allocator makes itself, and a return at it is its end, whichever
 * function returns: an allocator may end with a jump to another function.
 */
#include "guest/probe/probe_heap.h"

#include <string.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/layout.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cpu.h"
#include "guest/probe/probe_copy.h"
#include "guest/probe/probe_table.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/sample/stack_walk.h"
#include "guest/thread/thread.h"
#include "lib/bytes.h"

#define STACK_BYTES (1u << 20) /* what is farther apart is on different stacks */

static enum run_probe_heap heap_of(const struct probe_place *place)
{
    return place->point->kind >> RUN_PROBE_HEAP_SHIFT & RUN_PROBE_HEAP_ENTRY;
}

/* Reads an aligned word of the program's memory; 0 if there is none.  Interrupts are off, as
 * guest/sample/stack_page.c needs it. */
static uint64_t read_word(uint64_t address)
{
    const uint8_t *page = NULL;

    if (address % sizeof(uint64_t) == 0 && address < USER_END)
        page = stack_page(address & ~(PAGE_BYTES - 1ull));
    return page != NULL ? *(const uint64_t *)(const void *)(page + address % PAGE_BYTES) : 0;
}

/* Returns a slot to fill, or NULL: counted as lost. */
static struct trace_slot *open_slot(struct cpu *cpu)
{
    uint64_t now = clock_entered(cpu);
    struct trace_slot *slot;

    if (cpu_nmi_samples) {
        slot = ring_open(cpu->ring);
        if (slot == NULL)
            ring_drop(cpu->ring, now);
    } else if (ring_has_room(cpu->ring) || sampler_make_room(cpu, now)) {
        slot = ring_slot(cpu->ring, cpu->ring->head);
    } else {
        return NULL;
    }
    if (slot != NULL) {
        memset(slot, 0, cpu->ring->record_bytes);
        slot->time = now;
        slot->tid = cpu->tid;
    }
    return slot;
}

static void close_slot(struct cpu *cpu)
{
    pmu_store_fence();
    if (cpu_nmi_samples)
        ring_close(cpu->ring);
    else
        ring_publish(cpu->ring);
}

/* Records the caller's stack as it is after the return. */
static void record_stack(struct cpu *cpu, const struct trap_frame *frame, uint64_t caller)
{
    struct trap_frame after = *frame;
    struct trace_slot *slot = open_slot(cpu);

    if (slot == NULL)
        return;
    after.rip = caller;
    after.rsp += sizeof caller;
    slot->ip = caller;
    slot->flags = HR_SAMPLE_CALLED | HR_SAMPLE_NO_COUNTERS;
    stack_take(cpu, slot, &after);
    close_slot(cpu);
}

static void record_call(struct cpu *cpu, const struct thread_call *call, uint64_t address,
                        uint64_t bytes)
{
    uint64_t events[HR_EVENTS_MAX], *values;
    struct trace_slot *slot;

    sampling.trigger->read(cpu, events); /* before the slot is open */
    slot = open_slot(cpu);
    if (slot == NULL)
        return;
    slot->ip = call->sp;
    bytes_store32(&slot->cost_ticks, call->place->slot_word | HR_PROBE_REACHED << 16);
    memcpy(slot->counters, events, sampling.session.event_count * sizeof events[0]);
    values = slot->counters + sampling.session.event_count;
    values[HR_ALLOCATION_ADDRESS] = address;
    values[HR_ALLOCATION_BYTES] = bytes;
    values[HR_ALLOCATION_OLD] = call->old;
    values[HR_ALLOCATION_CALLER] = call->caller;
    close_slot(cpu);
}

static void read_arguments(struct thread_call *call, const struct trap_frame *frame,
                           enum run_probe_heap heap)
{
    switch (heap) {
    case RUN_PROBE_HEAP_SIZE:
        call->bytes = frame->rdi;
        break;
    case RUN_PROBE_HEAP_COUNT:
        call->bytes = frame->rdi * frame->rsi; /* it fails if that is too large */
        break;
    case RUN_PROBE_HEAP_SECOND:
        call->bytes = frame->rsi;
        break;
    case RUN_PROBE_HEAP_STORE:
        call->store = frame->rdi;
        call->bytes = frame->rdx;
        break;
    case RUN_PROBE_HEAP_RESIZE:
        call->old = frame->rdi;
        call->bytes = frame->rsi;
        break;
    case RUN_PROBE_HEAP_RESIZE_COUNT:
        call->old = frame->rdi;
        call->bytes = frame->rsi * frame->rdx;
        break;
    default:
        call->old = frame->rdi;
    }
}

/* Whether an entry is within the open call: the call's return address is still there. */
static bool is_within(const struct thread_call *call, const struct trap_frame *frame,
                      enum run_probe_heap heap, uint64_t caller)
{
    if (!call->sp || frame->rsp > call->sp || call->sp - frame->rsp > STACK_BYTES)
        return false;
    if (frame->rsp < call->sp)
        return read_word(call->sp) == call->caller;
    return caller == call->caller && /* it jumped here, unless it frees another thing */
           (heap != RUN_PROBE_HEAP_FREE || frame->rdi == call->old);
}

static void enter(struct cpu *cpu, const struct probe_place *place, const struct trap_frame *frame)
{
    struct thread_call *call = &cpu->thread->probe.call;
    enum run_probe_heap heap = heap_of(place);
    uint64_t caller = read_word(frame->rsp);

    if (is_within(call, frame, heap, caller)) {
        if (frame->rsp != call->sp && heap != RUN_PROBE_HEAP_FREE && !call->inner)
            call->inner = frame->rsp;
        return;
    }
    *call = (struct thread_call){.sp = frame->rsp, .caller = caller, .place = place};
    read_arguments(call, frame, heap);
    if (heap != RUN_PROBE_HEAP_FREE)
        call->told =
            call->bytes >= run.alloc_min && cpu->thread->probe.calls++ % run.alloc_every == 0;
    else if (call->old)
        record_call(cpu, call, 0, 0); /* another thread may get the memory before this returns */
}

static void leave(struct cpu *cpu, const struct trap_frame *frame, uint64_t result)
{
    struct thread_call *call = &cpu->thread->probe.call;
    enum run_probe_heap heap;

    if (call->inner && frame->rsp == call->inner) {
        call->inner = 0;
        if (!result)
            call->sp = 0; /* operator new throws now: what it allocates for that is another thing */
    }
    if (!call->sp || frame->rsp != call->sp)
        return;
    heap = heap_of(call->place);
    if (heap == RUN_PROBE_HEAP_STORE)
        result = (uint32_t)result ? 0 : read_word(call->store);
    if (heap != RUN_PROBE_HEAP_FREE && result && call->told) {
        if (run.stacks.kind)
            record_stack(cpu, frame, call->caller);
        record_call(cpu, call, result, call->bytes);
    } else if (heap != RUN_PROBE_HEAP_FREE && call->old && (result || !call->bytes)) {
        record_call(cpu, call, 0, 0); /* freed, or moved to what is left out */
    }
    call->sp = 0;
}

void probe_heap_note(struct cpu *cpu, const struct probe_place *place,
                     const struct trap_frame *frame)
{
    uint8_t kind = place->point->kind;

    if (heap_of(place))
        enter(cpu, place, frame);
    if (kind & RUN_PROBE_HEAP_RETURN)
        leave(cpu, frame, frame->rax);
    if (kind & RUN_PROBE_HEAP_JUMP)
        leave(cpu, frame, frame->rdi);
}
