/* Sets up the collector for many machines: port, token, signals, limits. */
#include "host/collect/stream_serve.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/collect/stream_listen.h"
#include "host/collect/stream_server.h"
#include "host/collect/stream_token.h"

#define FILES_OF_A_RUN 8u /* descriptors, including the socket and those of its job */
#define FILES_OTHER 64u

static void note_signal(int signal_number)
{
    stream_server_signal = signal_number;
}

/* Stores the signal mask in which the signals are not blocked, for poll(). */
static void catch_signals(sigset_t *unblocked)
{
    const int which[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigset_t blocked;
    struct sigaction now;

    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        if (which[i] == SIGHUP && sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            continue; /* nohup */
        sigaction(which[i], &action, NULL);
        sigaddset(&blocked, which[i]);
    }
    sigprocmask(SIG_BLOCK, &blocked, unblocked);
    signal(SIGXFSZ, SIG_IGN); /* a limit on files acts as a full disk */
}

static int allow_files(const struct stream_options *o, struct run_failure *failure)
{
    rlim_t wanted = (rlim_t)o->clients * FILES_OF_A_RUN + SERVER_STRANGERS_MAX + FILES_OTHER;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return 0;
    if (limit.rlim_max < wanted)
        return run_fail(failure,
                        "--clients %lu: needs %lu open files, and %lu are allowed; see ulimit -n",
                        o->clients, (unsigned long)wanted, (unsigned long)limit.rlim_max);
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0
               ? 0
               : run_fail(failure, "cannot raise the limit of open files (ulimit -n): %s",
                          strerror(errno));
}

/* Creates it at the start, while the user can see an error. */
static int make_root(const char *root, struct run_failure *failure)
{
    struct stat status;

    if (mkdir(root, 0777) != 0 && errno != EEXIST)
        return run_fail(failure, "cannot make the directory '%s': %s", root, strerror(errno));
    if (stat(root, &status) == 0 && !S_ISDIR(status.st_mode))
        errno = ENOTDIR;
    else if (access(root, W_OK | X_OK) == 0)
        return 0;
    return run_fail(failure, "cannot write to '%s': %s; use --output", root, strerror(errno));
}

static int open_all(struct server *s, struct run_failure *failure)
{
    static const char none[RUN_STREAM_NAME_BYTES];
    char where[LISTEN_TEXT_BYTES];
    struct listen_place place;
    bool beyond;

    if (stream_listen_parse(s->options->listen, &place, failure) != 0 ||
        stream_token_read(s->token, s->options->token_file, failure) != 0 ||
        allow_files(s->options, failure) != 0 || make_root(s->options->root, failure) != 0)
        return -1;
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0)
        return run_fail(failure, "cannot make an event descriptor: %s", strerror(errno));
    s->listener = stream_listen_open(&place, where, &beyond, failure);
    if (s->listener < 0)
        return -1;
    stream_report_init(&s->report, s->options->quiet, monotonic_ns());
    stream_report_listening(&s->report, where, s->options->root, strcmp(place.port, "0") == 0,
                            beyond && memcmp(s->token, none, sizeof none) == 0);
    return 0;
}

int stream_serve(const struct stream_options *options, struct run_failure *failure)
{
    static struct server s;
    sigset_t unblocked;
    int status = 0;

    s = (struct server){.options = options, .listener = -1, .wake = -1};
    if (open_all(&s, failure) == 0) {
        catch_signals(&unblocked);
        stream_server_run(&s, &unblocked);
        if (stream_server_signal != 0)
            status = RUN_EXIT_SIGNAL_BASE + stream_server_signal;
        else if (s.report.failed != 0)
            status = RUN_EXIT_FAILED;
    }
    if (s.listener >= 0)
        close(s.listener);
    if (s.wake >= 0)
        close(s.wake);
    return failure->exit_status != 0 ? failure->exit_status : status;
}
