/* Asks the host for input, or reads the archive's. */
#include "guest/service/service_input.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/service/service.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_network.h"
#include "guest/transport/transport.h"

void (*service_input_arrived)(uint32_t events);

static struct { /* RUN_GUEST_WATCH, and the host's answer to it */
    uint32_t number;
    uint32_t events;
    bool answered; /* what it says later comes by itself */
} question;

void service_input_take(const struct run_message *message)
{
    context_assert_service();
    if (message->value != question.number)
        return; /* to an earlier one */
    if (question.answered && message->flag)
        service_input_arrived(message->flag);
    question.events = message->flag;
    question.answered = true;
}

/* Receives exactly `bytes` bytes of the stdin port; -EINTR when the run is being stopped. */
static int receive_all(uint8_t *to, size_t bytes)
{
    while (bytes) {
        size_t got = transport->receive(TRANSPORT_STDIN, to, bytes);
        to += got;
        bytes -= got;
        if (got)
            continue;
        service_cpu_poll();
        if (run_state.stop_signal)
            return -EINTR;
        service_cpu_wait();
    }
    return 0;
}

static int64_t read_host(struct cpu *cpu, uint64_t most, uint64_t patience_ms)
{
    uint32_t bytes;
    int status;

    service_cpu_tell(RUN_GUEST_READ, (uint32_t)patience_ms + 1, most);
    status = receive_all((uint8_t *)&bytes, sizeof bytes);
    if (status)
        return status;
    if (bytes == RUN_STDIN_NOTHING)
        return -EAGAIN;
    if (bytes > most || bytes > SERVICE_BYTES_MAX)
        panic("the host sent %u bytes of stdin where at most %lu were asked for", bytes, most);
    status = receive_all(cpu->buffer, bytes);
    return status ? status : (int64_t)bytes;
}

/* The archive's file as it was packed, whatever the program makes of it: run_read_manifest keeps
 * it.  Without one there is nothing to read. */
static int64_t read_archive(struct cpu *cpu, uint64_t most)
{
    static uint64_t position;
    uint64_t bytes = run.input_bytes - position;

    if (bytes > most)
        bytes = most;
    if (bytes > SERVICE_BYTES_MAX)
        bytes = SERVICE_BYTES_MAX;
    if (bytes)
        memcpy(cpu->buffer, run.input + position, bytes);
    position += bytes;
    return (int64_t)bytes;
}

int64_t service_input_read(struct cpu *cpu, uint64_t most, uint64_t patience_ms)
{
    return transport->host ? read_host(cpu, most, patience_ms) : read_archive(cpu, most);
}

int64_t service_input_ask(uint64_t ns)
{
    if (!transport->host)
        return POLLIN; /* as a file, at its end, too */
    question.answered = false;
    service_cpu_tell(RUN_GUEST_WATCH, ++question.number, ns);
    for (;;) {
        service_cpu_poll();
        if (question.answered)
            return question.events;
        if (run_state.stop_signal)
            return -EINTR;
        if (ns && run.shared && service_network_take()) {
            question.answered = true; /* what the host says later comes by itself */
            return -EAGAIN;
        }
        service_cpu_wait();
    }
}
