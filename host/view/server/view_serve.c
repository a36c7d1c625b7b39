/* A small server on loopback.  One request at a time is worked on; clients are hostile. */
#include "host/view/server/view_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/monotonic.h"
#include "host/view/model/view_window.h"
#include "host/view/server/view_deadlines.h"
#include "host/view/server/view_http.h"
#include "host/view/server/view_open.h"

#define CONNECTIONS_MAX (VIEW_DEADLINES_MAX / 2) /* of each of two addresses */
#define LOOK_NS 250000000 /* between two looks for connections that are late */
#define KEY_BYTES 16u

static const struct view_http *http;

struct serve {
    struct view_live *live;
    uint16_t port;
    char
        key[2 * KEY_BYTES + 1]; /* part of the address: other users of the machine do not know it */
    pthread_mutex_t lock; /* of what is shown */
    pthread_mutex_t deadlines_lock;
    struct view_deadlines deadlines;
};

static int fd_of(struct MHD_Connection *connection)
{
    return http->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void connection_notified(void *context, struct MHD_Connection *connection, void **,
                                enum MHD_ConnectionNotificationCode code)
{
    struct serve *s = context;

    pthread_mutex_lock(&s->deadlines_lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        view_deadlines_begin(&s->deadlines, fd_of(connection), monotonic_ns() / 1000000);
    else
        view_deadlines_end(&s->deadlines, fd_of(connection));
    pthread_mutex_unlock(&s->deadlines_lock);
}

static void request_completed(void *context, struct MHD_Connection *connection, void **,
                              enum MHD_RequestTerminationCode /* code */)
{
    struct serve *s = context;

    pthread_mutex_lock(&s->deadlines_lock);
    view_deadlines_answered(&s->deadlines, fd_of(connection), monotonic_ns() / 1000000);
    pthread_mutex_unlock(&s->deadlines_lock);
}

/* libmicrohttpd closes what is shut down; until it has told so, the descriptor is the same one. */
static void end_late(struct serve *s)
{
    int fd;

    pthread_mutex_lock(&s->deadlines_lock);
    while ((fd = view_deadlines_late(&s->deadlines, monotonic_ns() / 1000000)) >= 0)
        shutdown(fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->deadlines_lock);
}

static enum MHD_Result answer(struct serve *s, struct MHD_Connection *connection,
                              unsigned int status, const char *type, struct MHD_Response *response,
                              size_t bytes)
{
    enum MHD_Result result = MHD_NO;

    if (response == NULL)
        return MHD_NO;
    pthread_mutex_lock(&s->deadlines_lock);
    view_deadlines_answer(&s->deadlines, fd_of(connection), bytes, monotonic_ns() / 1000000);
    pthread_mutex_unlock(&s->deadlines_lock);
    if (view_http_describe(http, response, type))
        result = http->queue_response(connection, status, response);
    http->destroy_response(response);
    return result;
}

/* Who asks for what is not here does not keep the connection. */
static enum MHD_Result refuse(struct serve *s, struct MHD_Connection *connection,
                              unsigned int status, const char *why)
{
    size_t bytes = strlen(why);
    struct MHD_Response *response =
        http->create_response_from_buffer(bytes, (void *)(uintptr_t)why, MHD_RESPMEM_PERSISTENT);

    if (response != NULL)
        http->add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return answer(s, connection, status, "text/plain; charset=utf-8", response, bytes);
}

/* A page from elsewhere whose name leads here (DNS rebinding) says its own name. */
static bool is_this_host(const struct serve *s, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char wanted[32];

    for (size_t i = 0; host != NULL && i < sizeof names / sizeof names[0]; i++) {
        snprintf(wanted, sizeof wanted, "%s:%u", names[i], s->port);
        if (strcasecmp(host, wanted) == 0)
            return true;
    }
    return false;
}

/* A plain decimal number of the query. */
static bool number_of(struct MHD_Connection *connection, const char *name, uint64_t *number)
{
    const char *text = http->lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    char *end;

    if (text == NULL || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *end == 0 && errno == 0;
}

typedef int (*window_reader)(struct view_model *, const char *, struct view_span_ns, uint8_t **,
                             size_t *);

static void set_working(struct serve *s, bool working)
{
    pthread_mutex_lock(&s->deadlines_lock);
    (working ? view_deadlines_work : view_deadlines_rest)(&s->deadlines, monotonic_ns() / 1000000);
    pthread_mutex_unlock(&s->deadlines_lock);
}

/* Waiting for it is no fault of the client's. */
static void take_shown(struct serve *s)
{
    set_working(s, true);
    pthread_mutex_lock(&s->lock);
}

static void leave_shown(struct serve *s)
{
    pthread_mutex_unlock(&s->lock);
    set_working(s, false);
}

static enum MHD_Result refuse_changed(struct serve *s, struct MHD_Connection *connection)
{
    return refuse(s, connection, MHD_HTTP_GONE, "the trace has changed: start hr view again\n");
}

/* The numbers of functions and threads are those of one version of the page. */
static enum MHD_Result send_window(struct serve *s, struct MHD_Connection *connection,
                                   window_reader reader)
{
    struct view_span_ns span;
    uint64_t version = 0;
    uint8_t *bytes = NULL;
    size_t count = 0;
    bool current, stale = false;
    int error = 0;

    if (!number_of(connection, "from", &span.from) || !number_of(connection, "to", &span.to) ||
        span.from > span.to)
        return refuse(s, connection, MHD_HTTP_BAD_REQUEST, "from and to are times in ns\n");
    take_shown(s);
    current = s->live->error == 0 && view_live_is_current(s->live);
    if (current)
        stale = number_of(connection, "version", &version) && version != s->live->version;
    if (current && !stale)
        error = reader(s->live->model, s->live->reader->path, span, &bytes, &count);
    leave_shown(s);
    if (!current)
        return refuse_changed(s, connection);
    if (stale)
        return refuse(s, connection, MHD_HTTP_CONFLICT,
                      "the trace has grown: read the page again\n");
    if (error != 0)
        return refuse(s, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, trace_file_error(error));
    return answer(s, connection, MHD_HTTP_OK, "application/octet-stream",
                  http->create_response_from_buffer(count, bytes, MHD_RESPMEM_MUST_FREE), count);
}

static enum MHD_Result send_page(struct serve *s, struct MHD_Connection *connection)
{
    struct MHD_Response *response;
    size_t bytes;
    bool there;
    int fd;

    take_shown(s);
    there = s->live->error == 0;
    fd = there ? dup(s->live->page_fd) : -1; /* the response closes it */
    bytes = s->live->page_bytes;
    leave_shown(s);
    if (!there)
        return refuse_changed(s, connection);
    response = fd >= 0 ? http->create_response_from_fd_at_offset64(bytes, fd, 0) : NULL;
    if (response == NULL && fd >= 0)
        close(fd);
    return answer(s, connection, MHD_HTTP_OK, "text/html; charset=utf-8", response, bytes);
}

/* Which version of the page there is now, and whether there will be another one. */
static enum MHD_Result send_version(struct serve *s, struct MHD_Connection *connection)
{
    char text[64];
    bool current;

    take_shown(s);
    current = s->live->error == 0 && view_live_is_current(s->live);
    snprintf(text, sizeof text, "{\"version\":%u,\"growing\":%s}\n", s->live->version,
             s->live->growing ? "true" : "false");
    leave_shown(s);
    if (!current)
        return refuse_changed(s, connection);
    return answer(s, connection, MHD_HTTP_OK, "application/json",
                  http->create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY),
                  strlen(text));
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char * /* version */,
                              const char * /* upload */, size_t *upload_bytes, void **state)
{
    static int seen; /* any address serves as "the header came" */
    struct serve *s = context;
    size_t key = strlen(s->key);

    if (*state == NULL && strcmp(method, "GET") == 0) {
        *state = &seen; /* the answer comes when the request is complete */
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 || *upload_bytes != 0)
        return refuse(s, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    if (!is_this_host(s, http->lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
        return refuse(s, connection, MHD_HTTP_FORBIDDEN, "this server is for this machine\n");
    if (url[0] != '/' || strncmp(url + 1, s->key, key) != 0 || url[1 + key] != '/')
        return refuse(s, connection, MHD_HTTP_NOT_FOUND, "use the address that hr view printed\n");
    url += key + 2;
    if (*url == 0)
        return send_page(s, connection);
    if (strcmp(url, "samples") == 0)
        return send_window(s, connection, view_window_samples);
    if (strcmp(url, "profile") == 0)
        return send_window(s, connection, view_window_profile);
    if (strcmp(url, "version") == 0)
        return send_version(s, connection);
    return refuse(s, connection, MHD_HTTP_NOT_FOUND, "no such thing\n");
}

static struct MHD_Daemon *start(struct serve *s, const struct sockaddr *address, unsigned int flags)
{
    return http->start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | flags, s->port, NULL,
                              NULL, handle, s, MHD_OPTION_SOCK_ADDR, address,
                              MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
                              MHD_OPTION_NOTIFY_CONNECTION, connection_notified, s,
                              MHD_OPTION_NOTIFY_COMPLETED, request_completed, s, MHD_OPTION_END);
}

static struct MHD_Daemon *start_v4(struct serve *s)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(s->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = start(s, (const struct sockaddr *)&address, 0);
    const union MHD_DaemonInfo *info =
        daemon != NULL ? http->get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;

    if (info != NULL)
        s->port = info->port;
    return daemon;
}

static struct MHD_Daemon *start_v6(struct serve *s)
{
    const struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons(s->port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    return start(s, (const struct sockaddr *)&address, MHD_USE_IPv6);
}

static int make_key(struct serve *s)
{
    uint8_t random[KEY_BYTES];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -EIO;
    for (size_t i = 0; i < KEY_BYTES; i++)
        snprintf(s->key + 2 * i, 3, "%02x", random[i]);
    return 0;
}

static const char *why_ended(const struct view_live *live)
{
    const struct trace_scan *scan = &live->model->scan;

    if (live->error == -ESTALE)
        return "another file has taken its place";
    if (live->error == -EINVAL && live->model->exact)
        return trace_info_exact_problem(&scan->info, &scan->selection);
    return trace_file_error(live->error);
}

/* Takes what the trace has now. */
static void follow(struct serve *s, const struct view_serve_wish *wish)
{
    struct view_live *live = s->live;
    int error;

    if (!view_live_is_due(live))
        return;
    pthread_mutex_lock(&s->lock);
    error = view_live_again(live);
    pthread_mutex_unlock(&s->lock);
    if (error != 0)
        error_print("%s: cannot be followed further: %s; start hr view again", live->reader->path,
                    why_ended(live));
    else if (!live->growing) {
        fprintf(stderr, "hr view: %s is no longer written; the page shows all of it\n",
                live->reader->path);
        wish->warn(live->model, wish->context);
    }
}

static void say_served(const struct serve *s, const char *url)
{
    puts(url);
    fflush(stdout);
    fprintf(stderr, "hr view: serving %s to this machine%s; Ctrl-C ends it\n",
            s->live->reader->path, s->live->growing ? " while it is written" : "");
}

static int run(struct serve *s, const struct view_serve_wish *wish)
{
    struct MHD_Daemon *v4, *v6;
    char url[64];
    const struct timespec look = {.tv_nsec = LOOK_NS};
    sigset_t signals;

    http = view_http_load();
    if (http == NULL)
        return HR_EXIT_FAILED;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* in the server's threads, too */
    v4 = start_v4(s);
    if (v4 == NULL)
        return error_exit(HR_EXIT_FAILED,
                          "cannot listen on 127.0.0.1:%u: %s; choose another --port", s->port,
                          errno != 0 ? strerror(errno) : "it is in use");
    v6 = start_v6(s); /* not everywhere */
    snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/", s->port, s->key);
    say_served(s, url);
    if (wish->open)
        view_open_address(url);
    while (sigtimedwait(&signals, NULL, &look) < 0) {
        end_late(s);
        follow(s, wish);
    }
    http->stop_daemon(v4);
    if (v6 != NULL)
        http->stop_daemon(v6);
    return HR_EXIT_OK;
}

int view_serve(struct view_live *live, const struct view_serve_wish *wish, json_t *facts)
{
    struct serve s = {.live = live, .port = wish->port};
    int status = HR_EXIT_FAILED, error;

    if (!live->growing)
        wish->warn(live->model, wish->context);
    pthread_mutex_init(&s.lock, NULL);
    pthread_mutex_init(&s.deadlines_lock, NULL);
    error = make_key(&s);
    if (error == 0)
        error = view_live_page(live, facts);
    else
        json_decref(facts);
    if (error == 0)
        status = run(&s, wish);
    else
        error_print("%s: cannot be served: %s", live->reader->path, strerror(-error));
    pthread_mutex_destroy(&s.deadlines_lock);
    pthread_mutex_destroy(&s.lock);
    return status;
}
