/* The program's own calls: sampling on request, pause and start, marks, regions. */
#include "guest/syscall/syscall_hr.h"
#include "guest/sample/sampling.h"

#include <errno.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/calls/calls.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/sample/ring.h"
#include "guest/service/service.h"
#include "guest/trace/marks.h"
#include "guest/trace/regions.h"
#include "guest/vm/uaccess.h"
#include "include/hr_abi.h"

/* Makes other CPUs call syscall_hr_follow: those that run a thread now, the others when they run
 * one again. */
static void call_others(struct cpu *cpu)
{
    for (uint32_t i = 0; i < cpu_count; i++) {
        if (&cpus[i] != cpu && cpus[i].thread != NULL)
            cross_call(&cpus[i]);
    }
}

static int64_t hr_call_poll(struct cpu *cpu, const struct trap_frame *frame)
{
    if (!sampling.polls)
        return -EPERM;
    if (frame->rsi > HR_ABI_ALL_CPUS)
        return -EINVAL;
    sampling.trigger->poll(cpu, frame->rip, 0);
    if (frame->rsi == HR_ABI_ALL_CPUS)
        sampler_ask_all(cpu);
    return 0;
}

void syscall_hr_follow(struct cpu *cpu, uint64_t ip)
{
    bool pause = sampler_paused;

    if (cpu->trigger.paused == pause)
        return;
    if (sampling.polls)
        sampling.trigger->poll(cpu, ip, pause ? 0 : HR_SAMPLE_RESUMED);
    if (pause)
        sampler_pause(cpu);
    else
        sampler_unpause(cpu, clock_entered(cpu));
}

static int64_t set_paused(struct cpu *cpu, const struct trap_frame *frame, bool pause)
{
    sampler_set_paused(pause);
    syscall_hr_follow(cpu, frame->rip);
    call_others(cpu);
    return 0;
}

static int64_t read_counters(struct cpu *cpu, const struct trap_frame *frame)
{
    uint64_t values[1 + HR_EVENTS_MAX] = {clock_entered(cpu)};

    sampling.trigger->read(cpu, values + 1);
    return copy_to_user(frame->rsi, values, (1 + sampling.session.event_count) * sizeof *values);
}

static int64_t hr_call_mark(struct cpu *cpu, const struct trap_frame *frame)
{
    char text[HR_ABI_NAME_MAX];
    int64_t number;
    struct trace_slot *slot;

    if (frame->rdx == 0 || frame->rdx > sizeof text)
        return -EINVAL;
    if (copy_from_user(text, frame->rsi, frame->rdx))
        return -EFAULT;
    if (memchr(text, 0, frame->rdx) != NULL)
        return -EINVAL;
    number = marks_number(text, (uint32_t)frame->rdx);
    if (number < 0)
        return number;
    slot = sampler_record(cpu, HR_REC_MARK, clock_entered(cpu));
    slot->counters[0] = (uint64_t)number;
    sampling.trigger->close(cpu);
    return 0;
}

_Static_assert((int)HR_ABI_REQUEST_BEGIN == HR_REQUEST_BEGIN &&
                   (int)HR_ABI_REQUEST_BLOCK == HR_REQUEST_BLOCK,
               "the trace holds what the program said");

static inline bool request_fits(const struct cpu *cpu)
{
    return !cpu_nmi_samples && ring_has_room(cpu->ring);
}

/* Writes into this CPU's ring: field by field if that is certain to fit, and then without a lock.
 */
static inline int64_t hr_call_request(struct cpu *cpu, const struct trap_frame *frame, bool fits)
{
    struct trace_slot *slot;

    if (frame->rsi < HR_ABI_REQUEST_BEGIN || frame->rsi > HR_ABI_REQUEST_BLOCK)
        return -EINVAL;
    if (fits) {
        slot = ring_slot(cpu->ring, cpu->ring->head);
        slot->time = clock_entered(cpu);
        slot->tid = cpu->tid;
        slot->kind = HR_REC_REQUEST;
    } else {
        slot = sampler_record(cpu, HR_REC_REQUEST, clock_entered(cpu));
    }
    slot->ip = frame->rdx;
    slot->counters[0] = frame->rsi;
    if (fits)
        ring_publish(cpu->ring);
    else
        sampling.trigger->close(cpu);
    return 0;
}

static int64_t hr_call_region(struct cpu *cpu, const struct trap_frame *frame)
{
    struct hr_abi_region asked;

    if (copy_from_user(&asked, frame->rsi, sizeof asked))
        return -EFAULT;
    return regions_register(cpu, &asked);
}

/* Returns true if some events can be read only by the kernel; they are the last ones. */
static bool has_registers(void)
{
    uint32_t count = sampling.session.event_count;

    return count && sampling.session.events[count - 1].source == HR_SOURCE_MSR;
}

static int64_t hr_call_info(const struct trap_frame *frame)
{
    struct hr_abi_info answer = {.version = HR_ABI_VERSION,
                                 .event_count = sampling.session.event_count,
                                 .ticks_per_second = run.clock.hz};

    if (frame->rdx < sizeof answer)
        return -EINVAL;
    /* in modes overflow and pebs counters restart with every sample */
    if (run.pmu_caps.needs_encodings && !sampling.trigger->nmi && !sampling.precise &&
        !has_registers())
        answer.flags |= HR_ABI_USER_COUNTERS;
    if (!run.shared)
        answer.flags |= HR_ABI_USER_CLOCK;
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        const struct pmu_event *event = &sampling.session.events[i];
        answer.counters[i] = event->counter;
        answer.widths[i] = event->width_bits;
        memcpy(answer.names[i], event->name, sizeof answer.names[i]);
    }
    return copy_to_user(frame->rsi, &answer, sizeof answer);
}

static int64_t other_call(struct cpu *cpu, const struct trap_frame *frame)
{
    switch (frame->rdi) {
    case HR_ABI_POLL:
        return hr_call_poll(cpu, frame);
    case HR_ABI_READ:
        return read_counters(cpu, frame);
    case HR_ABI_START:
        return set_paused(cpu, frame, false);
    case HR_ABI_PAUSE:
        return set_paused(cpu, frame, true);
    case HR_ABI_LOG:
        service_flush();
        return 0;
    case HR_ABI_MARK:
        return hr_call_mark(cpu, frame);
    case HR_ABI_REGION:
        return hr_call_region(cpu, frame);
    case HR_ABI_INFO:
        return hr_call_info(frame);
    case HR_ABI_REQUEST:
        return hr_call_request(cpu, frame, false);
    case HR_ABI_CALLS:
        return calls_ask(cpu, frame->rsi);
    case HR_ABI_ENTER:
        return calls_told(cpu, frame, false);
    case HR_ABI_LEAVE:
        return calls_told(cpu, frame, true);
    default:
        return -EINVAL;
    }
}

static __attribute__((noinline)) void rarer_call(struct cpu *cpu, struct trap_frame *frame)
{
    cross_lock(cpu);
    frame->rax = (uint64_t)other_call(cpu, frame);
    cross_unlock();
}

void syscall_hr(struct cpu *cpu, struct trap_frame *frame)
{
    cpu->clock.stopped_at = cpu->clock.enter_ticks; /* the whole call is off the workload clock */
    if (frame->rdi == HR_ABI_POLL && frame->rsi == HR_ABI_THIS_CPU && sampling.polls &&
        ring_has_room(cpu->ring)) {
        frame->rax = 0;
        sampling.trigger->poll(cpu, frame->rip, 0);
    } else if (frame->rdi == HR_ABI_REQUEST && request_fits(cpu)) {
        frame->rax = (uint64_t)hr_call_request(cpu, frame, true);
    } else {
        rarer_call(cpu, frame);
    }
    if (__builtin_expect(run_state.stop_signal, 0)) {
        cross_lock(cpu);
        service_check_stop();
        cross_unlock();
    }
}
