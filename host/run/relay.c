/* The poll loop of a run. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/monotonic.h"
#include "host/run/relay.h"
#include "host/run/relay_events.h"

#define NEVER UINT64_MAX
#define DRAW_NS 500000000ull
#define LEAVE_NS 5000000000ull /* from abandoned output until open ports are left, too */

static const enum launch_port output_ports[] = {LAUNCH_STDOUT, LAUNCH_STDERR};

int relay_catch_signals(struct run_failure *failure)
{
    struct sigaction hangup;
    sigset_t set;
    int fd;

    /* SIGINT even if a shell ignores it for background jobs: `kill -INT` ends a recording.  SIGHUP
     * only if nohup does not ignore it. */
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : run_fail(failure, "cannot watch signals: %s", strerror(errno));
}

static int fail_thread(struct relay *r, int result)
{
    return run_fail(r->failure, "cannot start a thread: %s", strerror(-result));
}

static int start(struct relay *r)
{
    int port = r->launch->ports[LAUNCH_SERVE], network = r->launch->ports[LAUNCH_NETWORK];
    int result;

    r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->wake < 0)
        return run_fail(r->failure, "cannot make an event descriptor: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        int to = r->options->again && !r->options->output_each ? RELAY_OUTPUT_NOWHERE : i + 1;

        result = relay_output_start(&r->outputs[i], r->launch->ports[output_ports[i]], to, r->wake,
                                    &r->progress);
        if (result != 0)
            return fail_thread(r, result);
    }
    result = port >= 0 ? serve_start(r->serve, port) : 0;
    if (result == 0 && network >= 0)
        result = network_start(r->network, network);
    if (result != 0)
        return fail_thread(r, result);
    for (int i = 0; i < RELAY_SLOTS; i++)
        r->open[i] = true;
    r->open[RELAY_FILES] = r->launch->ports[LAUNCH_FILES] >= 0;
    return 0;
}

bool relay_lost_output(const struct relay *r)
{
    return !atomic_load(&r->outputs[0].finished) || !atomic_load(&r->outputs[1].finished);
}

/* A thread whose write blocks keeps its descriptors open, because their numbers must not be reused.
 */
static void end_outputs(struct relay *r)
{
    bool lost = relay_lost_output(r);

    for (int i = 0; i < 2; i++) {
        int *port = &r->launch->ports[output_ports[i]];

        if (atomic_load(&r->outputs[i].finished)) {
            relay_output_join(&r->outputs[i]);
        } else {
            shutdown(*port, SHUT_RDWR);
            *port = -1;
        }
    }
    if (!lost)
        close(r->wake);
}

static void fill(struct relay *r, struct pollfd polled[RELAY_SLOTS])
{
    const int fds[RELAY_SLOTS] = {
        [RELAY_SIGNALS] = r->signals,
        [RELAY_WAKE] = r->wake,
        [RELAY_CHILD] = r->launch->pidfd,
        [RELAY_TRACE] = r->launch->ports[LAUNCH_TRACE],
        [RELAY_LOG] = r->launch->ports[LAUNCH_LOG],
        [RELAY_CONSOLE] = r->launch->ports[LAUNCH_CONSOLE],
        [RELAY_ERRORS] = r->launch->errors,
        [RELAY_FILES] = r->launch->ports[LAUNCH_FILES],
        [RELAY_CONTROL] = r->launch->ports[LAUNCH_CONTROL],
        [RELAY_INPUT_READ] = relay_input_read_fd(&r->input),
        [RELAY_INPUT_WRITE] = relay_input_write_fd(&r->input),
        [RELAY_CTL_LISTENER] = r->ctl.listener,
        [RELAY_CTL_CLIENT] = r->ctl.client,
    };

    for (int i = 0; i < RELAY_SLOTS; i++) {
        polled[i].fd = r->open[i] ? fds[i] : -1;
        polled[i].events = i == RELAY_INPUT_WRITE ? POLLOUT : POLLIN;
        polled[i].revents = 0;
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int wait_ms(const struct relay *r, uint64_t now_ns)
{
    uint64_t next =
        earlier(earlier(r->timeout_ns, r->kill_ns), earlier(r->abandon_ns, r->leave_ns));

    next = earlier(next, relay_input_deadline(&r->input));
    next = earlier(next, relay_boot_deadline(&r->boot));
    if (r->open[RELAY_CHILD])
        next = earlier(next, launch_near_deadline(&r->launch->near));
    if (r->progress.enabled)
        next = earlier(next, r->draw_ns);
    if (next == NEVER)
        return -1;
    if (next <= now_ns)
        return 0;
    next = (next - now_ns + 999999) / 1000000;
    return next > 60000 ? 60000 : (int)next;
}

/* Until the trace begins, watches for a start that takes too long. */
static void watch_boot(struct relay *r, uint64_t now_ns)
{
    char line[200];

    if (r->collector->has_meta || !r->open[RELAY_CHILD] || r->killed)
        relay_boot_finish(&r->boot);
    if (relay_boot_is_slow(&r->boot, now_ns, line) && !r->options->quiet) {
        progress_erase(&r->progress);
        error_print("%s", line);
    }
    if (relay_boot_is_stuck(&r->boot, now_ns, r->failure))
        relay_events_kill(r, now_ns);
}

static void handle_time(struct relay *r, uint64_t now_ns)
{
    watch_boot(r, now_ns);
    if (now_ns >= r->timeout_ns) {
        r->timeout_ns = NEVER;
        r->timed_out = r->stop_signal == 0;
        relay_events_stop(r, SIGKILL, true, now_ns);
    }
    if (now_ns >= r->kill_ns)
        relay_events_kill(r, now_ns);
    if (now_ns >= r->abandon_ns) {
        r->abandon_ns = NEVER;
        r->abandoned = true;
        r->leave_ns = now_ns + LEAVE_NS;
    }
    if (now_ns >= r->leave_ns)
        r->left = true;
    relay_input_handle_time(&r->input, now_ns);
    if (r->collector->has_meta)
        launch_near_begin(&r->launch->near, now_ns);
    if (r->open[RELAY_CHILD])
        launch_near_follow(&r->launch->near, now_ns);
    if (now_ns >= r->draw_ns) {
        r->draw_ns = now_ns + DRAW_NS;
        progress_draw(&r->progress, now_ns, r->collector->samples, r->collector->lost,
                      r->collector->offset);
    }
}

static bool is_over(const struct relay *r)
{
    if (r->left)
        return true;
    for (int i = RELAY_CHILD; i <= RELAY_CONTROL; i++)
        if (r->open[i])
            return false;
    return r->abandoned || !relay_lost_output(r);
}

static void loop(struct relay *r)
{
    struct pollfd polled[RELAY_SLOTS];

    while (!is_over(r)) {
        uint64_t now_ns = monotonic_ns();

        fill(r, polled);
        if (poll(polled, RELAY_SLOTS, wait_ms(r, now_ns)) < 0 && errno != EINTR) {
            run_fail(r->failure, "cannot wait for the guest: %s", strerror(errno));
            break;
        }
        now_ns = monotonic_ns();
        for (int i = 0; i < RELAY_SLOTS; i++)
            if (polled[i].revents != 0)
                relay_events_handle(r, (enum relay_slot)i, now_ns);
        handle_time(r, now_ns);
    }
}

int relay_run(struct relay *r, const struct options *o, struct launch *launch,
              struct collector *collector, struct keep_files *files, struct serve *serve,
              struct network *network, int signals, struct run_failure *failure)
{
    uint64_t now_ns = monotonic_ns();
    enum relay_echo rest = o->verbose ? RELAY_ECHO_ALL : RELAY_ECHO_NONE;
    int error;

    *r = (struct relay){
        .options = o,
        .launch = launch,
        .collector = collector,
        .files = files,
        .serve = serve,
        .network = network,
        .failure = failure,
        .signals = signals,
        .timeout_ns = o->timeout_ns != 0 ? now_ns + o->timeout_ns : NEVER,
        .kill_ns = NEVER,
        .abandon_ns = NEVER,
        .leave_ns = NEVER,
        .draw_ns = now_ns + DRAW_NS,
    };
    relay_boot_init(&r->boot, o->memory_bytes, now_ns);
    progress_init(&r->progress, !o->quiet && !o->no_progress, now_ns);
    relay_input_init(&r->input, STDIN_FILENO, launch->ports[LAUNCH_STDIN],
                     launch->ports[LAUNCH_CONTROL]);
    relay_log_init(&r->log, "guest",
                   o->verbose ? RELAY_ECHO_ALL
                   : o->again ? RELAY_ECHO_NONE /* the first run printed these notices */
                              : RELAY_ECHO_NOTICES);
    relay_log_init(&r->console, "console", rest);
    relay_log_init(&r->errors, "qemu", rest);
    if (start(r) != 0)
        return -1;
    error = ctl_server_open(&r->ctl);
    if (error != 0 && o->verbose)
        error_print("'hr ctl' cannot steer this run: %s", strerror(-error));
    loop(r);
    ctl_server_close(&r->ctl);
    progress_erase(&r->progress);
    serve_stop(r->serve);
    network_stop(r->network, r->stop_signal != 0 || r->open[RELAY_CHILD]);
    end_outputs(r);
    return 0;
}
