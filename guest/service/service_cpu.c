/* Service work proper: moves bytes between ports and rings, and ends the run. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "drivers/apic/apic.h"
#include "drivers/platform.h"
#include "guest/base/log.h"
#include "guest/base/log_buffer.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampling.h"
#include "guest/service/deadline.h"
#include "guest/service/service.h"
#include "guest/service/service_asked.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_input.h"
#include "guest/service/service_network.h"
#include "guest/thread/schedule.h"
#include "guest/trace/trace.h"
#include "guest/transport/leave.h"
#include "guest/transport/transport.h"
#include "include/run_ports.h"

#define POLL_INTERVAL_NS 1000000u /* of the rings, when nothing else wakes the service CPU */
#define FLUSH_INTERVAL_NS 100000000u /* an unfinished chunk waits no longer than this */

enum request_state { REQUEST_NONE, REQUEST_POSTED, REQUEST_ASLEEP, REQUEST_DONE };

struct request { /* one per workload CPU */
    uint32_t state; /* enum request_state; atomic */
    enum service_operation operation;
    uint64_t a, b;
    int64_t result;
} __attribute__((aligned(64)));

struct service_files_end service_files_end;
struct service_calls service_calls;
static struct request requests[CPUS_MAX];

static void send_log(const char *bytes, size_t count)
{
    transport->send(TRANSPORT_LOG, bytes, count);
}

void service_cpu_tell(uint32_t type, uint32_t flag, uint64_t value)
{
    struct run_message message = {.type = type, .flag = flag, .value = value};

    transport->send(TRANSPORT_CONTROL, &message, sizeof message);
}

static void wake_workload_cpus(void)
{
    for (uint32_t i = 1; i < cpu_count; i++)
        if (cpus[i].ring != NULL)
            cross_call(&cpus[i]);
}

static struct { /* what the host says of events, until RUN_HOST_EVENTS_END */
    bool done;
    uint64_t count;
} encoding;

/* The event that a message is about, or NULL. */
static struct pmu_event *event_of(const struct run_message *message)
{
    return message->flag < sampling.session.event_count ? &sampling.session.events[message->flag]
                                                        : NULL;
}

void service_cpu_stop(uint64_t signal, bool timeout)
{
    if (run_state.stop_signal)
        return;
    run_state.stop_is_timeout = timeout;
    run_state.stop_signal = signal >= 1 && signal <= 64 ? (uint32_t)signal : SIGKILL;
    run_state.after_call.stopped = true;
    if (!run.shared)
        wake_workload_cpus();
}

static void take_message(const struct run_message *message)
{
    struct pmu_event *event = event_of(message);

    switch (message->type) {
    case RUN_HOST_EVENT_EXT:
        if (event != NULL)
            event->encoding_ext = message->value;
        break;
    case RUN_HOST_EVENT_COUNTERS:
        if (event != NULL)
            event->allowed_counters = (uint32_t)message->value;
        break;
    case RUN_HOST_EVENT:
        if (event != NULL) {
            event->encoding = message->value;
            encoding.count++;
        }
        break;
    case RUN_HOST_EVENTS_END:
        encoding.done = true;
        break;
    case RUN_HOST_INPUT:
        service_input_take(message);
        break;
    case RUN_HOST_BROKEN:
        if (message->flag == 1 || message->flag == 2)
            run_state.broken_streams |= 1u << message->flag;
        break;
    case RUN_HOST_TEXT:
    case RUN_HOST_ASK:
        service_asked_take(message);
        break;
    case RUN_HOST_STOP:
        service_cpu_stop(message->value, message->flag);
        break;
    default: /* a newer host's */
        break;
    }
}

uint64_t service_cpu_poll(void)
{
    static struct run_message message;
    static size_t have;
    size_t got;

    if (!log_buffer_empty())
        log_buffer_take(send_log);
    while ((got = transport->receive(TRANSPORT_CONTROL, (uint8_t *)&message + have,
                                     sizeof message - have))) {
        have += got;
        if (have == sizeof message) {
            take_message(&message);
            have = 0;
        }
    }
    return transport->poll(); /* last: what was sent is to leave */
}

int service_encode_events(void)
{
    const struct pmu_caps *caps = &run.pmu_caps;
    struct run_message message = {
        .type = RUN_GUEST_CPU,
        .flag = caps->vendor,
        .value = x86_cpuid(1, 0).eax | (uint64_t)caps->version << 32 |
                 (uint64_t)caps->general_counters << 40 | (uint64_t)caps->fixed_counters << 48,
    };

    transport->send(TRANSPORT_CONTROL, &message, sizeof message);
    for (;;) {
        service_cpu_poll();
        if (run_state.stop_signal)
            return -EINTR;
        if (encoding.done)
            break;
        platform_wait();
    }
    return encoding.count == sampling.session.event_count ? 0 : -EINVAL;
}

static bool serve_requests(bool reads);

static bool drain_rings(bool flush)
{
    bool any = false;

    for (uint32_t i = 0; i < cpu_count; i++) {
        if (cpus[i].ring != NULL)
            any |= trace_drain(cpus[i].ring, flush);
    }
    if (service_calls.drain != NULL)
        any |= service_calls.drain(flush);
    return any;
}

/* Returns whether the observer has something to look at: then the service CPU never halts. */
static bool scan_calls(void)
{
    return service_calls.scan != NULL && service_calls.scan();
}

void service_cpu_wait(void)
{
    if (!run.shared) {
        drain_rings(false);
        serve_requests(false);
    }
    if (!scan_calls())
        platform_wait();
}

void service_cpu_relieve(void)
{
    drain_rings(false);
    scan_calls();
}

static void send_files(const void *bytes, size_t count)
{
    transport->send(TRANSPORT_FILES, bytes, count);
}

/* What another CPU was about to send counts as sent: the end of the run must not be before it. */
static void send_posted_files(void)
{
    for (uint32_t i = 1; i < cpu_count; i++) {
        const struct request *request = &requests[i];
        uint32_t state = __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);

        if ((state == REQUEST_POSTED || state == REQUEST_ASLEEP) &&
            request->operation == SERVICE_FILES)
            send_files(cpus[i].buffer, request->a);
    }
}

static void __attribute__((noreturn))
perform_exit(const struct cpu *cpu, const struct hr_rec_exit *record)
{
    if (service_calls.finish != NULL)
        service_calls.finish();
    if (record->kind != HR_EXIT_REFUSED)
        service_files_end.names();
    trace_end(record);
    if (transport->has(TRANSPORT_FILES)) {
        send_posted_files();
        service_files_end.send(record->kind == HR_EXIT_REFUSED ? NULL : cpu->buffer, send_files);
    }
    if (record->kind != HR_EXIT_REFUSED && service_network.finish != NULL)
        service_network.finish();
    if (record->kind != HR_EXIT_REFUSED)
        service_files_end.log();
    service_cpu_poll();
    if (transport->host)
        service_cpu_tell(RUN_GUEST_DONE, 0, 0);
    run.boot->result.exit_kind = record->kind;
    run.boot->result.exit_code = record->code;
    leave_done(transport->finish());
}

void service_cpu_abandon(void)
{
    struct boot_result *result = &run.boot->result;
    char line[160];

    drain_rings(true);
    for (uint32_t i = 1; i < cpu_count; i++) {
        if (cpus[i].ring == NULL || __atomic_load_n(&cpus[i].cross.stopped, __ATOMIC_ACQUIRE))
            continue;
        format_text(line, sizeof line, "CPU %u did not end the run, or let it be ended", i);
        log_notice("%s", line);
        panic_report(line, strlen(line));
        panic_report("\n", 1);
    }
    if (!result->exit_kind) {
        result->exit_kind = run_state.stop_is_timeout ? HR_EXIT_TIMEOUT : HR_EXIT_SIGNAL;
        result->exit_code = run_state.stop_signal;
    }
    service_cpu_poll();
    transport->finish();
    leave_done(BOOT_END_HUNG);
}

/* Bytes that came before these in the stream. */
static int64_t perform_write(struct cpu *cpu, uint64_t stream, uint64_t bytes)
{
    static uint64_t written[2];
    uint64_t *total = &written[stream == 2];
    int status =
        transport->send(stream == 2 ? TRANSPORT_STDERR : TRANSPORT_STDOUT, cpu->buffer, bytes);

    if (status)
        return status;
    *total += bytes;
    return (int64_t)(*total - bytes);
}

int64_t service_cpu_perform(struct cpu *cpu, enum service_operation operation, uint64_t a,
                            uint64_t b)
{
    int64_t result = -EINVAL;

    switch (operation) {
    case SERVICE_WRITE:
        result = perform_write(cpu, a, b);
        break;
    case SERVICE_READ:
        result = service_input_read(cpu, a, b);
        break;
    case SERVICE_ASK_INPUT:
        result = service_input_ask(a);
        break;
    case SERVICE_FLUSH:
        drain_rings(true);
        result = 0;
        break;
    case SERVICE_FILES:
        result = !transport->has(TRANSPORT_FILES)
                     ? -ENODEV
                     : transport->send(TRANSPORT_FILES, cpu->buffer, a);
        break;
    case SERVICE_EXIT:
        perform_exit(cpu, (const struct hr_rec_exit *)a);
    }
    service_cpu_poll();
    return result;
}

int64_t service_cpu_request(struct cpu *cpu, enum service_operation operation, uint64_t a,
                            uint64_t b)
{
    struct request *request = &requests[cpu->index];
    uint32_t posted;

    request->operation = operation;
    request->a = a;
    request->b = b;
    __atomic_store_n(&request->state, REQUEST_POSTED, __ATOMIC_RELEASE);
    apic_send(cpus[0].apic_id, VECTOR_WAKE);
    cross_unlock();
    /* who does not sleep is not called: the call would come in ring 3 */
    posted = REQUEST_POSTED;
    __atomic_compare_exchange_n(&request->state, &posted, REQUEST_ASLEEP, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&request->state, __ATOMIC_ACQUIRE) != REQUEST_DONE)
        x86_wait_for_interrupt();
    cross_lock(cpu);
    if (cpu->thread != NULL)
        schedule_look(cpu);
    __atomic_store_n(&request->state, REQUEST_NONE, __ATOMIC_RELAXED);
    return request->result;
}

static bool of_input(enum service_operation operation)
{
    return operation == SERVICE_READ || operation == SERVICE_ASK_INPUT;
}

/* Serves what workload CPUs ask for.  While one of them waits for input (reads: false), only the
 * others' output and the end of the run. */
static bool serve_requests(bool reads)
{
    bool any = false;

    for (uint32_t i = 1; i < cpu_count; i++) {
        struct request *request = &requests[i];
        uint32_t state = __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);

        if ((state != REQUEST_POSTED && state != REQUEST_ASLEEP) ||
            (!reads && of_input(request->operation)))
            continue;
        request->result = service_cpu_perform(&cpus[i], request->operation, request->a, request->b);
        if (__atomic_exchange_n(&request->state, REQUEST_DONE, __ATOMIC_SEQ_CST) == REQUEST_ASLEEP)
            cross_call(&cpus[i]);
        any = true;
    }
    return any;
}

void service_main(void)
{
    uint64_t flush_ticks = run_ns_to_ticks(FLUSH_INTERVAL_NS);
    uint64_t next_flush = x86_rdtsc() + flush_ticks;

    apic_timer_setup(VECTOR_SERVICE_TIMER);
    for (;;) {
        bool flush = (int64_t)(x86_rdtsc() - next_flush) >= 0, busy, served;
        uint64_t due_ns;

        if (flush)
            next_flush += flush_ticks;
        busy = drain_rings(flush);
        served = serve_requests(true);
        busy |= served;
        busy |= service_network_take();
        busy |= scan_calls();
        due_ns = service_cpu_poll();
        deadline_look(served);
        if (busy || due_ns == 0)
            continue;
        apic_timer_arm(run_ns_to_ticks(due_ns < POLL_INTERVAL_NS ? due_ns : POLL_INTERVAL_NS));
        x86_wait_for_interrupt();
    }
}
