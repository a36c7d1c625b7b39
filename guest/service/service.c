/* System calls' side of service work: on the workload CPU, with its clock. */
#include "guest/service/service.h"

#include "drivers/apic/apic.h"
#include "drivers/platform.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/entry.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/service/service_asked.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_network.h"
#include "guest/trace/trace.h"

void service_make_buffer(struct cpu *cpu)
{
    cpu->buffer = platform_allocate(SERVICE_BYTES_MAX);
    if (cpu->buffer == NULL)
        panic("no memory for the service buffer of CPU %u", cpu->index);
}

void *service_buffer(void)
{
    return cpu_this()->buffer;
}

/* Between these two the workload clock stands still (shared mode) and the timer is off. */
static struct cpu *service_begin(void)
{
    struct cpu *cpu = cpu_this();

    clock_stop(cpu);
    service_hold_counters(cpu);
    __atomic_store_n(&cpu->cross.running, false, __ATOMIC_RELEASE);
    if (sampling.trigger->timer)
        apic_timer_stop();
    return cpu;
}

/* Shared mode: takes the interrupts that devices have raised.  In ring 3 they would come between
 * two instructions, which ones depending on the host. */
static void take_device_interrupts(void)
{
    x86_take_interrupts();
    service_cpu_poll();
    service_asked_remind(cpu_this());
}

static void service_end(struct cpu *cpu)
{
    if (run.shared)
        take_device_interrupts();
    else
        service_asked_remind(cpu);
    service_release_counters(cpu);
    __atomic_store_n(&cpu->cross.running, true, __ATOMIC_RELEASE);
    if (run.shared)
        sampler_continue(cpu, clock_stopped_time(cpu));
    else
        sampler_resume(cpu, x86_rdtsc());
    clock_start(cpu);
}

/* A wait that the workload clock saw (never in shared mode) is a gap in the program's time. */
static void record_gap(struct cpu *cpu, uint64_t first, uint64_t last, enum hr_gap_reason reason)
{
    struct trace_slot *slot;

    if (last == first)
        return;
    slot = sampler_record(cpu, HR_REC_GAP, first);
    slot->counters[0] = last;
    slot->counters[1] = reason;
    sampling.trigger->close(cpu);
}

void service_pause(struct service_pause *pause)
{
    pause->cpu = service_begin();
    pause->time = pause->cpu->clock.stopped_at - *pause->cpu->clock.offset;
}

void service_continue(const struct service_pause *pause, enum hr_gap_reason reason)
{
    if (!run.shared)
        record_gap(pause->cpu, pause->time, x86_rdtsc(), reason);
    service_end(pause->cpu);
}

int64_t service_call(struct cpu *cpu, enum service_operation operation, uint64_t a, uint64_t b)
{
    if (run.shared)
        return service_cpu_perform(cpu, operation, a, b);
    return service_cpu_request(cpu, operation, a, b);
}

int64_t service_write(int stream, size_t bytes)
{
    struct service_pause pause;
    int64_t offset;

    service_pause(&pause);
    offset = service_call(pause.cpu, SERVICE_WRITE, (uint64_t)stream, bytes);
    if (offset >= 0) {
        struct trace_slot *slot = sampler_record(pause.cpu, HR_REC_OUTPUT, pause.time);
        slot->counters[0] = (uint64_t)offset;
        slot->counters[1] = bytes;
        slot->counters[2] = (uint64_t)stream;
        sampling.trigger->close(pause.cpu);
    }
    service_continue(&pause, HR_GAP_OUTPUT);
    return offset < 0 ? offset : 0;
}

void service_files(size_t (*fill)(void *context, void *bytes), void *context)
{
    struct service_pause pause;
    size_t bytes;

    service_pause(&pause);
    while ((bytes = fill(context, pause.cpu->buffer)))
        if (service_call(pause.cpu, SERVICE_FILES, bytes, 0) < 0)
            break;
    service_continue(&pause, HR_GAP_OUTPUT);
}

static int64_t call_for_input(enum service_operation operation, uint64_t a, uint64_t b)
{
    struct service_pause pause;
    int64_t result;

    service_pause(&pause);
    result = service_call(pause.cpu, operation, a, b);
    service_continue(&pause, HR_GAP_INPUT);
    return result;
}

int64_t service_read(size_t bytes, uint32_t patience_ms)
{
    return call_for_input(SERVICE_READ, bytes, patience_ms);
}

int64_t service_ask_input(uint64_t ns)
{
    return call_for_input(SERVICE_ASK_INPUT, ns, 0);
}

void service_drain(struct cpu *cpu)
{
    service_hold_counters(cpu);
    trace_drain(cpu->ring, true);
    take_device_interrupts();
    service_release_counters(cpu);
    sampler_rearm(cpu);
}

void service_flush(void)
{
    struct cpu *cpu = cpu_this();

    if (run.shared && cpu->clock.stopped_at != 0) {
        service_drain(cpu);
        return;
    }
    service_begin();
    if (run.shared)
        trace_drain(cpu->ring, true);
    else
        service_cpu_request(cpu, SERVICE_FLUSH, 0, 0);
    service_end(cpu);
}

void platform_wait(void)
{
    if (cpu_this()->index == 0)
        x86_wait_for_interrupt();
    else
        x86_pause();
}

/* ---- interrupts ---- */

void service_device_interrupt(struct irq_frame *)
{
    apic_eoi();
    if (run.shared) { /* off the program's clock: no interruption */
        service_cpu_poll();
        service_network_take();
        sampler_rearm(cpu_this());
        service_check_stop();
    } else {
        cpu_this()->activity.interruptions++;
    }
}

void service_device_interrupt_in_kernel(struct irq_frame *)
{
    apic_eoi();
}

void service_wake_interrupt(struct irq_frame *)
{
    struct cpu *cpu = cpu_this();

    apic_eoi();
    cpu->activity.interruptions += !cpu->clock.stop_mask;
    if (cpu->clock.stop_mask && sampling.trigger->nmi) { /* the NMI handler found it half full */
        cpu->clock.stopped_at = cpu->clock.enter_ticks;
        service_drain(cpu);
    }
    if (cpu->clock.stop_mask)
        service_check_stop();
}

void service_wake_interrupt_in_kernel(struct irq_frame *)
{
    apic_eoi();
}
