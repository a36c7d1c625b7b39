/* Handles what arrives during a run: data, messages, signals, ends. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/run/relay_cpu.h"
#include "host/run/relay_ctl.h"
#include "host/run/relay_events.h"
#include "host/trace/trace_info.h"

#define NEVER UINT64_MAX
#define GRACE_NS 5000000000ull /* from a request to end until the emulator is killed */
#define ABANDON_NS 1000000000ull /* from the kill until blocked output is given up */

bool relay_events_tell(struct relay *r, const struct run_message *messages, size_t count)
{
    size_t bytes = count * sizeof *messages;

    return r->open[RELAY_CONTROL] && send(r->launch->ports[LAUNCH_CONTROL], messages, bytes,
                                          MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

void relay_events_stop(struct relay *r, int signal_number, bool timeout, uint64_t now_ns)
{
    struct run_message message = {
        .type = RUN_HOST_STOP,
        .flag = timeout,
        .value = (uint64_t)signal_number,
    };

    if (r->stop_signal != 0)
        return;
    r->stop_signal = signal_number;
    serve_hurry(r->serve);
    if (!r->collector->has_meta) { /* the kernel still boots: there is no program to end */
        relay_events_kill(r, now_ns);
        return;
    }
    if (r->kill_ns == NEVER)
        r->kill_ns = now_ns + GRACE_NS;
    if (r->open[RELAY_CONTROL] && !relay_events_tell(r, &message, 1))
        r->kill_ns = now_ns; /* the guest does not receive messages */
}

void relay_events_kill(struct relay *r, uint64_t now_ns)
{
    r->kill_ns = NEVER;
    if (r->abandon_ns == NEVER)
        r->abandon_ns = now_ns + ABANDON_NS;
    if (!r->open[RELAY_CHILD])
        return;
    r->killed = true;
    launch_kill(r->launch);
}

static void handle_signal(struct relay *r, uint64_t now_ns)
{
    struct signalfd_siginfo info;

    while (read(r->signals, &info, sizeof info) == sizeof info) {
        bool again = r->user_signal != 0;

        r->user_signal = (int)info.ssi_signo;
        if (!again) {
            relay_events_stop(r, r->user_signal, false, now_ns);
            continue;
        }
        relay_events_kill(r, now_ns);
        r->abandoned = true;
    }
}

/* If a reader closed its end, the guest's program gets a broken pipe from now on, as it would
 * without hr. */
static void tell_broken(struct relay *r, int output, uint64_t now_ns)
{
    const struct run_message message = {.type = RUN_HOST_BROKEN, .flag = (uint32_t)output + 1};

    if (r->broken[output])
        return;
    r->broken[output] = true;
    if (!relay_events_tell(r, &message, 1))
        relay_events_stop(r, SIGPIPE, false, now_ns);
}

static void handle_outputs(struct relay *r, uint64_t now_ns)
{
    static const char *const names[] = {"output", "error"};
    uint64_t count;

    if (read(r->wake, &count, sizeof count) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        int error = atomic_load(&r->outputs[i].error);

        if (error == 0 || r->stop_signal != 0)
            continue;
        if (error == EPIPE) {
            tell_broken(r, i, now_ns);
            continue;
        }
        run_fail(r->failure, "cannot write the program's standard %s: %s; the program was stopped",
                 names[i], strerror(error));
        relay_events_stop(r, SIGKILL, false, now_ns);
    }
}

static void check_collector(struct relay *r, uint64_t now_ns)
{
    struct collector *c = r->collector;
    const char *kept = c->has_meta ? "the trace up to there is kept" : "no trace was written";

    if (c->write_error != 0 && r->failure->exit_status == 0) {
        run_fail(r->failure, "cannot write the trace '%s': %s; the program was stopped and %s",
                 r->options->output, strerror(c->write_error), kept);
        relay_events_stop(r, SIGKILL, false, now_ns);
    } else if (c->bad != NULL && r->failure->exit_status == 0) {
        run_fail(r->failure, "the guest sent data that is not a trace (%s); %s", c->bad, kept);
        relay_events_stop(r, SIGKILL, false, now_ns);
    } else if (r->options->require_pmu && c->unmeasured[0] != 0 && r->failure->exit_status == 0) {
        run_fail(r->failure,
                 "--require-pmu: event '%s' has no performance counter here (source: %s); leave "
                 "the option out, or run where there is a PMU",
                 c->unmeasured, trace_info_source(c->unmeasured_source));
        relay_events_stop(r, SIGKILL, false, now_ns);
    }
}

/* Answers once; the answer fits into the socket's buffer, which is empty at that time. */
static void answer_cpu(struct relay *r, const struct run_message *question, uint64_t now_ns)
{
    struct run_message answer[RELAY_CPU_ANSWER_MAX];
    size_t count;

    if (r->encoded)
        return;
    r->encoded = true;
    count = relay_cpu_answer(&r->options->events, question, answer, r->failure);
    if (count == 0 || !relay_events_tell(r, answer, count))
        relay_events_kill(r, now_ns); /* the program has not started */
}

static void handle_message(struct relay *r, const struct run_message *message, uint64_t now_ns)
{
    switch (message->type) {
    case RUN_GUEST_READ:
        relay_input_request(&r->input, message, now_ns);
        break;
    case RUN_GUEST_WATCH:
        relay_input_watch(&r->input, message, now_ns);
        break;
    case RUN_GUEST_CPU:
        answer_cpu(r, message, now_ns);
        break;
    case RUN_GUEST_DONE:
        if (r->done) /* a second message must not delay the end */
            break;
        r->done = true;
        r->timeout_ns = NEVER;
        r->kill_ns = now_ns + GRACE_NS;
        break;
    default: /* from a newer guest, and optional */
        break;
    }
}

static ssize_t receive_control(struct relay *r, uint64_t now_ns)
{
    ssize_t count = read(r->launch->ports[LAUNCH_CONTROL], r->control + r->control_bytes,
                         sizeof r->control - r->control_bytes);
    struct run_message message;

    if (count <= 0)
        return count < 0 ? -errno : 0;
    r->control_bytes += (size_t)count;
    if (r->control_bytes == sizeof r->control) {
        memcpy(&message, r->control, sizeof message);
        handle_message(r, &message, now_ns);
        r->control_bytes = 0;
    }
    return count;
}

/* QEMU stops such a guest but does not exit: without this the run would never end. */
static void check_errors(struct relay *r, uint64_t now_ns)
{
    if (r->killed || strstr(r->errors.text, "KVM internal error") == NULL)
        return;
    run_fail(r->failure,
             "KVM cannot execute the guest on this host (KVM internal error); use --accel tcg");
    relay_events_kill(r, now_ns);
}

static void check_files(struct relay *r, uint64_t now_ns)
{
    const struct keep_files *k = r->files;

    if (r->failure->exit_status != 0 || (k->error == 0 && k->bad == NULL))
        return;
    if (k->error != 0)
        run_fail(r->failure,
                 "cannot write the program's files to '%s': %s; the program was stopped and what "
                 "came before is kept",
                 k->directory != NULL ? k->directory : "memory", strerror(k->error));
    else
        run_fail(
            r->failure,
            "the guest sent invalid data about the program's files (%s); what came before is kept",
            k->bad);
    relay_events_stop(r, SIGKILL, false, now_ns);
}

/* Verifies once, after the guest's first output: the emulator has all its memory by then. */
static void verify_memory(struct relay *r)
{
    struct launch_notes notes = {0};

    if (r->verified)
        return;
    r->verified = true;
    launch_memory_verify("", r->launch->emulator, r->options->memory_bytes, &r->launch->memory,
                         &notes);
    if (notes.count != 0)
        progress_erase(&r->progress);
    launch_notes_print(&notes, r->options->verbose, r->options->quiet, stderr);
}

/* Reads once from a port; an error other than "not now" ends the port, like an end of file. */
static void receive(struct relay *r, enum relay_slot slot, uint64_t now_ns)
{
    ssize_t result;

    switch (slot) {
    case RELAY_TRACE:
        result = collect_receive(r->collector, r->launch->ports[LAUNCH_TRACE]);
        check_collector(r, now_ns);
        break;
    case RELAY_LOG:
        progress_erase(&r->progress);
        result = relay_log_receive(&r->log, r->launch->ports[LAUNCH_LOG]);
        break;
    case RELAY_CONSOLE:
        result = relay_log_receive(&r->console, r->launch->ports[LAUNCH_CONSOLE]);
        relay_boot_hear(&r->boot, r->console.text, now_ns);
        break;
    case RELAY_ERRORS:
        result = relay_log_receive(&r->errors, r->launch->errors);
        check_errors(r, now_ns);
        break;
    case RELAY_FILES:
        result = keep_files_receive(r->files, r->launch->ports[LAUNCH_FILES]);
        check_files(r, now_ns);
        break;
    default:
        result = receive_control(r, now_ns);
        break;
    }
    if (result > 0 && slot != RELAY_ERRORS)
        verify_memory(r);
    if (result == 0 || (result < 0 && result != -EAGAIN && result != -EINTR))
        r->open[slot] = false;
}

void relay_events_handle(struct relay *r, enum relay_slot slot, uint64_t now_ns)
{
    switch (slot) {
    case RELAY_SIGNALS:
        handle_signal(r, now_ns);
        break;
    case RELAY_WAKE:
        handle_outputs(r, now_ns);
        break;
    case RELAY_CHILD:
        r->open[RELAY_CHILD] = false;
        r->timeout_ns = NEVER;
        r->kill_ns = NEVER;
        /* Blocked output must not keep a stopped program alive. */
        if (r->stop_signal != 0 && r->abandon_ns == NEVER)
            r->abandon_ns = now_ns + GRACE_NS;
        break;
    case RELAY_INPUT_READ:
        relay_input_read(&r->input);
        break;
    case RELAY_INPUT_WRITE:
        relay_input_write(&r->input);
        break;
    case RELAY_CTL_LISTENER:
        ctl_server_accept(&r->ctl, relay_ctl_perform, r);
        break;
    case RELAY_CTL_CLIENT:
        ctl_server_serve(&r->ctl, relay_ctl_perform, r);
        break;
    default:
        receive(r, slot, now_ns);
        break;
    }
}
