/* Serves machines: accepts them, advances the states of their runs, and enforces time limits. */
#include "host/collect/stream_server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/units.h"

#define ACCEPTS_A_TURN 64
#define PAUSE_NS (UNITS_SECOND / 10) /* while the system lacks resources */

volatile sig_atomic_t stream_server_signal;

static uint32_t machines(const struct server *s)
{
    uint32_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        count += client_is_machine(s->clients[i]);
    return count;
}

/* Closes the run, which may be continued later. */
static void leave_run(struct server *s, struct client *c, const char *why)
{
    enum run_welcome_status status = c->connection.status;

    if (c->run == NULL || c->job.running)
        return;
    if (stream_run_suspend(c->run, stream_server_signal) != RUN_WELCOME_OK ||
        status == RUN_WELCOME_DISK)
        stream_report_disk(&s->report, c->run);
    else if (status == RUN_WELCOME_LIMIT)
        stream_report_limit(&s->report, c->run);
    else
        stream_report_broken(&s->report, c->run,
                             c->connection.why != NULL ? c->connection.why : why);
    free(c->run);
    c->run = c->connection.run = NULL;
}

/* Disconnects the machine.  While a job works on its run, the client stays. */
static void hang_up(struct server *s, struct client *c, const char *why)
{
    leave_run(s, c, why);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->connection.state == CONNECTION_FRAMES)
        c->connection.state = CONNECTION_CLOSING;
}

static bool is_gone(const struct client *c)
{
    return c->fd < 0 && !c->job.running;
}

/* In OPENING: refuses before any work is done. */
static void refuse(struct server *s, struct client *c, enum run_welcome_status status,
                   const char *why, uint64_t now_ns)
{
    stream_connection_opened(&c->connection, NULL, status);
    stream_report_refused(&s->report, c->peer, why, now_ns);
}

static int start_job(struct server *s, struct client *c, bool finish)
{
    c->job.finish = finish;
    c->job.wake = s->wake;
    c->job.run = c->run;
    c->job.root = s->options->root;
    c->job.hello = c->connection.hello;
    c->job.limit_bytes = s->options->limit_bytes;
    return stream_job_start(&c->job);
}

/* A machine that lost its connection may return while the old one still looks alive: the new one
 * counts.  Returns false if a job works on the run. */
static bool take_over(struct server *s, const struct client *c)
{
    for (size_t i = 0; i < s->count; i++) {
        struct client *other = s->clients[i];

        if (other == c || !client_is_machine(other) || !stream_client_same_run(c, other))
            continue;
        if (other->job.running)
            return false;
        hang_up(s, other, "the machine has come back by another connection");
    }
    return true;
}

/* Signs of life alone do not keep a place from machines that have something to send.  Of the runs
 * that have sent nothing for as long as a silent one may stay, the one with the longest pause is
 * disconnected.  It may reconnect. */
static bool make_place(struct server *s, uint64_t now_ns)
{
    struct client *oldest = NULL;

    for (size_t i = 0; i < s->count; i++) {
        struct client *c = s->clients[i];

        if (c->fd >= 0 && c->connection.state == CONNECTION_FRAMES && !c->job.running &&
            now_ns - c->fresh_ns >= s->options->idle_ns &&
            (oldest == NULL || c->fresh_ns < oldest->fresh_ns))
            oldest = c;
    }
    if (oldest == NULL)
        return false;
    hang_up(s, oldest, "others wait, and it has sent nothing but signs of life for too long");
    return true;
}

static void begin_open(struct server *s, struct client *c, uint64_t now_ns)
{
    if (s->stopping) {
        refuse(s, c, RUN_WELCOME_BUSY, "the collector is about to end", now_ns);
    } else if (!take_over(s, c)) {
        refuse(s, c, RUN_WELCOME_BUSY, "its run is being worked on", now_ns);
    } else if (machines(s) >= s->options->clients && !make_place(s, now_ns)) {
        refuse(s, c, RUN_WELCOME_BUSY, "too many machines; see --clients", now_ns);
    } else {
        c->run = malloc(sizeof *c->run);
        if (c->run != NULL && start_job(s, c, false) == 0)
            return;
        free(c->run);
        c->run = NULL;
        refuse(s, c, RUN_WELCOME_BUSY, "out of memory or threads", now_ns);
    }
}

static void begin_finish(struct server *s, struct client *c)
{
    if (start_job(s, c, true) == 0)
        return;
    stream_connection_finished(&c->connection, RUN_WELCOME_BUSY);
    leave_run(s, c, "out of threads");
}

static void opened(struct server *s, struct client *c, uint64_t now_ns)
{
    enum run_welcome_status status = c->job.result;

    if (status == RUN_WELCOME_OK) {
        stream_report_opened(&s->report, c->run, c->peer);
        stream_connection_opened(&c->connection, c->run, status);
        c->heard_ns = c->fresh_ns = now_ns;
        c->fresh_bytes = c->run->bytes;
        if (c->fd < 0 || s->stopping)
            hang_up(s, c, s->stopping ? "the collector was stopped" : "the machine is gone");
        return;
    }
    if (status == RUN_WELCOME_DISK)
        stream_report_disk(&s->report, c->run);
    else if (status != RUN_WELCOME_DONE)
        stream_report_refused(&s->report, c->peer, "another hr collect has its run", now_ns);
    free(c->run);
    c->run = NULL;
    stream_connection_opened(&c->connection, NULL, status);
}

static void finished(struct server *s, struct client *c)
{
    if (c->job.result == RUN_WELCOME_OK)
        stream_report_complete(&s->report, c->run);
    else
        stream_report_disk(&s->report, c->run);
    free(c->run);
    c->run = NULL;
    stream_connection_finished(&c->connection, c->job.result);
}

/* Acts on what the last bytes or the end of a job have changed. */
static void advance(struct server *s, struct client *c, uint64_t now_ns)
{
    if (stream_job_poll(&c->job)) {
        if (c->job.finish)
            finished(s, c);
        else
            opened(s, c, now_ns);
    }
    if (c->job.running)
        return;
    if (c->connection.state == CONNECTION_OPENING)
        begin_open(s, c, now_ns);
    else if (c->connection.state == CONNECTION_FINISHING)
        begin_finish(s, c);
    else if (c->connection.state == CONNECTION_CLOSING)
        leave_run(s, c, NULL);
}

/* 0 and equivalent errors: the other side has closed the connection. */
static const char *loss_text(int error)
{
    return error == 0 || error == EPIPE || error == ECONNRESET ? "the machine closed the connection"
                                                               : strerror(error);
}

static void receive(struct server *s, struct client *c, uint64_t now_ns)
{
    bool stranger = c->connection.state == CONNECTION_HELLO;
    ssize_t count = stream_client_receive(c, s->token, now_ns);

    if (count == -EAGAIN || count == -EINTR)
        return;
    if (count <= 0) {
        hang_up(s, c, loss_text((int)-count));
        return;
    }
    if (client_is_machine(c))
        s->report.received_bytes += (uint64_t)count;
    if (stranger && c->connection.state == CONNECTION_CLOSING)
        stream_report_refused(&s->report, c->peer, c->connection.why, now_ns);
}

static void check_time(struct server *s, struct client *c, uint64_t now_ns)
{
    const char *overdue = stream_client_overdue(c, s->options->idle_ns, now_ns);

    if (overdue == NULL)
        return;
    if (c->connection.state == CONNECTION_HELLO)
        stream_report_refused(&s->report, c->peer, overdue, now_ns);
    hang_up(s, c, overdue);
}

static void serve(struct server *s, struct client *c, short events, uint64_t now_ns)
{
    int error;

    if (c->fd >= 0 && (events & (POLLIN | POLLHUP | POLLERR))) {
        if (stream_client_wants(c) & POLLIN)
            receive(s, c, now_ns);
        else if (events & (POLLHUP | POLLERR))
            hang_up(s, c, NULL);
    }
    advance(s, c, now_ns);
    if (c->fd < 0)
        return;
    error = stream_client_send(c, now_ns);
    advance(s, c, now_ns); /* an acknowledgement may have found a full disk */
    if (error != 0)
        hang_up(s, c, loss_text(-error));
    else
        check_time(s, c, now_ns);
}

static void remove_gone(struct server *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (is_gone(s->clients[i]))
            stream_client_free(s->clients[i]);
        else
            s->clients[kept++] = s->clients[i];
    s->count = kept;
}

/* Makes room for a new connection, at the expense of one without a run. */
static void make_room(struct server *s)
{
    struct client *oldest = NULL;
    size_t strangers = 0;

    for (size_t i = 0; i < s->count; i++)
        if (!client_is_machine(s->clients[i])) {
            if (oldest == NULL)
                oldest = s->clients[i];
            strangers++;
        }
    if (strangers < SERVER_STRANGERS_MAX || oldest == NULL)
        return;
    hang_up(s, oldest, NULL);
    remove_gone(s);
}

static void accept_some(struct server *s, uint64_t now_ns)
{
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        struct sockaddr_storage address = {0};
        socklen_t bytes = sizeof address;
        char peer[LISTEN_TEXT_BYTES];
        struct client *c;
        int fd =
            accept4(s->listener, (struct sockaddr *)&address, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                s->paused_ns = now_ns + PAUSE_NS;
            return;
        }
        make_room(s);
        c = stream_client_new(fd, stream_listen_peer(peer, &address, bytes), now_ns);
        if (c == NULL)
            close(fd);
        else
            s->clients[s->count++] = c;
    }
}

static struct timespec time_left(const struct server *s, uint64_t now_ns, uint64_t deadline)
{
    uint64_t left;

    for (size_t i = 0; i < s->count; i++) {
        uint64_t theirs = stream_client_deadline(s->clients[i], s->options->idle_ns);

        if (s->clients[i]->fd >= 0 && theirs < deadline)
            deadline = theirs;
    }
    left = deadline > now_ns ? deadline - now_ns : 0;
    if (left > 3600 * UNITS_SECOND)
        left = 3600 * UNITS_SECOND;
    return (struct timespec){.tv_sec = (time_t)(left / UNITS_SECOND),
                             .tv_nsec = (long)(left % UNITS_SECOND)};
}

/* Waits, and serves every client once. */
static void turn(struct server *s, const sigset_t *unblocked)
{
    static struct pollfd fds[SERVER_SLOTS + 2];
    uint64_t now_ns = monotonic_ns();
    uint64_t drawn = stream_report_draw(&s->report, machines(s), now_ns);
    bool listens = !s->stopping && now_ns >= s->paused_ns;
    uint64_t begin = listens || s->stopping ? drawn : s->paused_ns;
    struct timespec left = time_left(s, now_ns, begin < drawn ? begin : drawn);
    size_t count = s->count;
    uint64_t news;

    fds[0] = (struct pollfd){.fd = listens ? s->listener : -1, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    for (size_t i = 0; i < count; i++)
        fds[i + 2] =
            (struct pollfd){.fd = s->clients[i]->fd, .events = stream_client_wants(s->clients[i])};
    if (ppoll(fds, count + 2, &left, unblocked) < 0)
        return;
    if ((fds[1].revents & POLLIN) && read(s->wake, &news, sizeof news) < 0)
        return;
    now_ns = monotonic_ns();
    for (size_t i = 0; i < count; i++)
        serve(s, s->clients[i], fds[i + 2].revents, now_ns);
    remove_gone(s);
    if (fds[0].revents & POLLIN)
        accept_some(s, now_ns);
}

/* Closes runs in progress, but lets runs that are being completed finish. */
static void stop(struct server *s)
{
    s->stopping = true;
    for (size_t i = 0; i < s->count; i++)
        if (s->clients[i]->connection.state <= CONNECTION_FRAMES)
            hang_up(s, s->clients[i], "the collector was stopped");
    remove_gone(s);
}

static bool has_ended(const struct server *s)
{
    uint32_t runs = s->report.complete + s->report.failed;

    return stream_server_signal != 0 || (s->options->runs != 0 && runs >= s->options->runs);
}

void stream_server_run(struct server *s, const sigset_t *unblocked)
{
    while (!has_ended(s))
        turn(s, unblocked);
    stop(s);
    while (s->count > 0) /* a second signal ends the process */
        turn(s, unblocked);
    stream_report_end(&s->report);
}
