/* hr collect: receives a trace from a socket, a descriptor or standard input. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/collect.h"
#include "host/commands.h"
#include "host/error.h"
#include "host/text.h"

#define UNIX "unix:"

struct collect_options {
    const char *output;
    const char *listen; /* unix:PATH, or NULL */
    int fd; /* to read from, or -1 */
};

static const struct argp_option collect_options[] = {
    {"output", 'o', "FILE", 0, "trace to write (default hr.bin)", 0},
    {"listen", 'l', "unix:PATH", 0, "wait for one connection on this socket", 0},
    {"fd", 'f', "N", 0, "read from this open descriptor", 0},
    {0},
};

static volatile sig_atomic_t interrupted;

static void note_signal(int signal_number)
{
    interrupted = signal_number;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct collect_options *o = state->input;
    char *end;

    switch (key) {
    case 'o':
        o->output = argument;
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
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Looks at what was asked for before the output is touched. */
static int check_listen(const char *where, struct run_failure *failure)
{
    if (strncmp(where, UNIX, sizeof UNIX - 1) != 0 || where[sizeof UNIX - 1] == 0)
        return run_fail(failure, RUN_EXIT_FAILED, "--listen %s: write unix:PATH", where);
    if (strlen(where + sizeof UNIX - 1) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return run_fail(failure, RUN_EXIT_FAILED, "--listen %s: the path is too long", where);
    return 0;
}

/* Waits for one connection; the descriptor or -1. */
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
        run_fail(failure, RUN_EXIT_FAILED, "--listen %s: %s", where, strerror(errno));
    } else {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            run_fail(failure, RUN_EXIT_FAILED, "--listen %s: %s", where, strerror(errno));
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
        run_fail(failure, RUN_EXIT_FAILED, "cannot read the stream: %s", strerror((int)-result));
}

static void collect(const struct collect_options *o, struct run_failure *failure)
{
    struct collector c;
    struct stat input;
    enum hr_host_reason reason;
    char samples[TEXT_QUANTITY_BYTES];
    int fd = o->fd;
    int result;

    if (o->listen != NULL && check_listen(o->listen, failure) != 0)
        return;
    if (fd >= 0 && fstat(fd, &input) != 0) {
        run_fail(failure, RUN_EXIT_FAILED, "--fd %d: %s", fd, strerror(errno));
        return;
    }
    if (collect_open(&c, o->output, fd >= 0 ? &input : NULL, failure) != 0)
        return;
    catch_signals();
    if (o->listen != NULL)
        fd = accept_one(o->listen, failure);
    if (fd >= 0)
        receive(&c, fd, failure);
    reason = interrupted != 0 ? HR_HOST_INTERRUPTED : collect_reason(&c);
    result = collect_close(&c, reason, c.bad != NULL ? c.bad : "");
    if (result != 0)
        run_fail(failure, RUN_EXIT_FAILED, "cannot write '%s': %s; it is readable up to there",
                 o->output, strerror(-result));
    else if (reason == HR_HOST_INTERRUPTED)
        failure->exit_status = RUN_EXIT_SIGNAL_BASE + interrupted;
    else if (reason == HR_HOST_BAD_STREAM)
        run_fail(failure, RUN_EXIT_FAILED,
                 "the stream is not a trace: %s; '%s' has what came "
                 "before",
                 c.bad, o->output);
    else if (reason == HR_HOST_GUEST_DIED)
        run_fail(failure, RUN_EXIT_FAILED,
                 "the stream ended before the trace was complete; '%s' has %s samples", o->output,
                 text_count(samples, c.samples));
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
    struct collect_options options = {.output = "hr.bin", .fd = -1};
    struct run_failure failure = {0};

    argp_err_exit_status = RUN_EXIT_FAILED;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.listen == NULL && options.fd < 0)
        options.fd = STDIN_FILENO;
    collect(&options, &failure);
    if (failure.text[0] != 0)
        error_print("%s", failure.text);
    return failure.exit_status;
}
