/* hr collect: receives a trace from a socket, a descriptor or standard input. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "host/collect/stream_serve.h"
#include "host/collector/collect.h"

#define UNIX "unix:"
#define TCP "tcp:"

struct collect_options {
    const char *output;
    bool force;
    const char *listen; /* unix:PATH, tcp:..., or NULL */
    int fd; /* to read from, or -1 */
    struct stream_options stream; /* with tcp: */
    const char *tcp_only; /* the first option that only tcp: takes, or NULL */
};

enum { KEY_FORCE = 256, KEY_TOKEN, KEY_LIMIT, KEY_CLIENTS, KEY_RUNS, KEY_IDLE };

static const struct argp_option collect_options[] = {
    {"output", 'o', "FILE", 0,
     "trace to write (default hr.bin); with tcp:, directory of the results (default results)", 0},
    {"listen", 'l', "WHERE", 0,
     "unix:PATH: wait for one connection on this socket; tcp:[ADDRESS:][PORT]: collect the runs of "
     "machines without a hypervisor (default 127.0.0.1:4817)",
     0},
    {"fd", 'f', "N", 0, "read from this open descriptor", 0},
    {0, 0, 0, 0, "With tcp:", 1},
    {"token", KEY_TOKEN, "FILE", 0,
     "machines must know what its first line says (default: HR_TOKEN of the environment)", 0},
    {"limit", KEY_LIMIT, "SIZE", 0, "a run may write so much (default 16G)", 0},
    {"clients", KEY_CLIENTS, "N", 0, "so many machines at a time (default 64)", 0},
    {"runs", KEY_RUNS, "N", 0, "end after N runs; status 0 if all are complete", 0},
    {"idle", KEY_IDLE, "TIME", 0,
     "close the connection of a machine that is silent for so long (default 60s)", 0},
    {"quiet", 'q', 0, 0, "say only what is wrong", 0},
    {0},
};

static volatile sig_atomic_t interrupted;

static void note_signal(int signal_number)
{
    interrupted = signal_number;
}

static const struct option_field tcp_fields[] = {
    {KEY_TOKEN, OPTION_TEXT, .offset = offsetof(struct stream_options, token_file),
     .name = "token"},
    {KEY_LIMIT, OPTION_BYTES, .offset = offsetof(struct stream_options, limit_bytes), "limit",
     "not a size like 500M or 16G", .least = 1},
    {KEY_CLIENTS, OPTION_NUMBER, .offset = offsetof(struct stream_options, clients), "clients",
     "not a number from 1 to 1000", 1, STREAM_CLIENTS_MAX},
    {KEY_RUNS, OPTION_NUMBER, .offset = offsetof(struct stream_options, runs), "runs",
     "not a number from 1 to 4294967295", 1, UINT32_MAX},
    {KEY_IDLE, OPTION_TIME, .offset = offsetof(struct stream_options, idle_ns), "idle",
     "not a time like 60s or 5m", .least = 1},
    {'q', OPTION_FLAG, .offset = offsetof(struct stream_options, quiet), .name = "quiet"},
    {0},
};

/* Notes the first option that only tcp: takes. */
static error_t parse_tcp_option(int key, char *argument, struct argp_state *state)
{
    struct collect_options *o = state->input;
    const struct option_field *field = tcp_fields;

    if (!option_store(tcp_fields, key, argument, &o->stream, state))
        return ARGP_ERR_UNKNOWN;
    while (field->key != key)
        field++;
    o->tcp_only = field->name;
    return 0;
}

static bool is_tcp(const struct collect_options *o)
{
    return o->listen != NULL && strncmp(o->listen, TCP, sizeof TCP - 1) == 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct collect_options *o = state->input;
    char *end;

    switch (key) {
    case 'o':
        o->output = argument;
        return 0;
    case KEY_FORCE:
        o->force = true;
        return 0;
    case 'l':
        o->listen = argument;
        return 0;
    case 'f':
        o->fd = (int)strtol(argument, &end, 10);
        if (end == argument || *end != 0 || o->fd < 0)
            argp_error(state, "--fd %s: not a descriptor's number", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (strcmp(argument, "-") != 0)
            return ARGP_ERR_UNKNOWN;
        o->fd = STDIN_FILENO;
        return 0;
    case ARGP_KEY_END:
        if (o->tcp_only != NULL && !is_tcp(o))
            argp_error(state, "--%s works only with --listen tcp:; leave it out", o->tcp_only);
        if (is_tcp(o) && o->fd >= 0)
            argp_error(
                state,
                "--listen tcp: reads from machines, not from a descriptor; leave one of them out");
        if (is_tcp(o) && o->force)
            argp_error(state, "--force is for one trace; with tcp: every run has its directory");
        return 0;
    default:
        return parse_tcp_option(key, argument, state);
    }
}

/* Checks the argument before the output is touched. */
static int check_listen(const char *where, struct run_failure *failure)
{
    if (strncmp(where, UNIX, sizeof UNIX - 1) != 0 || where[sizeof UNIX - 1] == 0)
        return run_fail(failure, "--listen %s: write unix:PATH or tcp:ADDRESS:PORT", where);
    if (strlen(where + sizeof UNIX - 1) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return run_fail(failure, "--listen %s: the path is too long", where);
    return 0;
}

/* Waits for one connection.  Returns the descriptor or -1. */
static int accept_one(const char *where, struct run_failure *failure)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = where + sizeof UNIX - 1;
    int listener;
    int fd = -1;

    memcpy(address.sun_path, path, strlen(path) + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0) {
        run_fail(failure, "--listen %s: %s", where, strerror(errno));
    } else {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            run_fail(failure, "--listen %s: %s", where, strerror(errno));
        (void)unlink(path);
    }
    if (listener >= 0)
        close(listener);
    return fd;
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = note_signal}; /* no SA_RESTART: read() ends */
    struct sigaction hangup;

    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

static void receive(struct collector *c, int fd, struct run_failure *failure)
{
    ssize_t result;

    do
        result = collect_receive(c, fd);
    while (interrupted == 0 && c->bad == NULL && c->write_error == 0 &&
           (result > 0 || result == -EINTR));
    if (result < 0 && result != -EINTR)
        run_fail(failure, "cannot read the stream: %s", strerror((int)-result));
}

static void conclude(const struct collect_options *o, const struct collector *c,
                     enum hr_host_reason reason, int result, struct run_failure *failure)
{
    char samples[TEXT_QUANTITY_BYTES], kept[PATH_MAX + 64];

    snprintf(kept, sizeof kept, "'%s' has %s samples", o->output, text_count(samples, c->samples));
    if (!c->named)
        snprintf(kept, sizeof kept, "nothing was written");
    if (result != 0)
        run_fail(failure, "cannot write '%s': %s; %s", o->output, strerror(-result),
                 c->named ? "it is readable up to there" : kept);
    else if (reason == HR_HOST_INTERRUPTED)
        failure->exit_status = RUN_EXIT_SIGNAL_BASE + interrupted;
    else if (reason == HR_HOST_BAD_STREAM)
        run_fail(failure, "the stream is not a trace: %s; %s", c->bad, kept);
    else if (reason == HR_HOST_GUEST_DIED)
        run_fail(failure, "the stream ended before the trace was complete; %s", kept);
}

static void collect(const struct collect_options *o, struct run_failure *failure)
{
    struct collector c;
    struct stat input;
    enum hr_host_reason reason;
    int fd = o->fd;
    int result;

    if (o->listen != NULL && check_listen(o->listen, failure) != 0)
        return;
    if (fd >= 0 && fstat(fd, &input) != 0) {
        run_fail(failure, "--fd %d: %s", fd, strerror(errno));
        return;
    }
    if (collect_open(&c, o->output, o->force, fd >= 0 ? &input : NULL, failure) != 0)
        return;
    catch_signals();
    if (o->listen != NULL)
        fd = accept_one(o->listen, failure);
    if (fd >= 0)
        receive(&c, fd, failure);
    reason = interrupted != 0 ? HR_HOST_INTERRUPTED : collect_reason(&c);
    result = collect_close(&c, reason, c.bad != NULL ? c.bad : "");
    conclude(o, &c, reason, result, failure);
}

int collect_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = collect_options,
        .parser = parse_option,
        .args_doc = "[-]",
        .doc = "Receives a trace, verifies it and writes it with an index.\v"
               "Without --listen, --fd or -, standard input is read.",
    };
    struct collect_options options = {.fd = -1,
                                      .stream = {.limit_bytes = STREAM_LIMIT_BYTES,
                                                 .idle_ns = STREAM_IDLE_NS,
                                                 .clients = STREAM_CLIENTS}};
    struct run_failure failure = {0};
    bool tcp;

    argp_err_exit_status = RUN_EXIT_FAILED;
    command_line_parse(&argp, argc, argv, 0, &options);
    tcp = is_tcp(&options);
    if (tcp && options.output != NULL && strcmp(options.output, "-") == 0)
        return error_exit(RUN_EXIT_FAILED, "--output -: results need a directory");
    if (options.output == NULL)
        options.output = tcp ? "results" : "hr.bin";
    if (tcp) {
        options.stream.root = options.output;
        options.stream.listen = options.listen + sizeof TCP - 1;
        failure.exit_status = stream_serve(&options.stream, &failure);
    } else {
        if (options.listen == NULL && options.fd < 0)
            options.fd = STDIN_FILENO;
        collect(&options, &failure);
    }
    if (failure.text[0] != 0)
        error_print("%s", failure.text);
    return failure.exit_status;
}
