/* The server's thread: takes requests from the port and sends answers. */
#include "host/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/base/transfer.h"

int serve_open_root(struct serve *s, const char *root)
{
    struct serve_file file;
    int error;

    *s = (struct serve)SERVE_CLOSED;
    s->limit_ns = SERVE_LIMIT_NS;
    s->pread = pread;
    if (realpath(root, s->root_path) == NULL)
        return -errno;
    s->hurry = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->root = open(s->root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->root < 0 || s->hurry < 0)
        return -errno;
    error = serve_task_examine_root(s->root, &file);
    return error != 0 ? error : serve_nodes_init(&s->nodes, &file);
}

/* Receives all bytes.  False: the port has ended. */
static bool receive(const struct serve *s, void *to, size_t bytes)
{
    return transfer_read(s->port, to, bytes) == (ssize_t)bytes;
}

static bool send_reply(const struct serve *s, const struct serve_reply *reply)
{
    const uint8_t *at = (const uint8_t *)reply;
    size_t bytes = sizeof reply->answer + reply->answer.bytes;

    while (bytes != 0) {
        ssize_t count = send(s->port, at, bytes, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

/* Receives the name of a RUN_SERVE_LOOKUP.  One that is far too long is none. */
static bool receive_name(struct serve *s, const struct run_serve_request *request,
                         uint8_t name[RUN_SERVE_BYTES_MAX])
{
    if (request->type != RUN_SERVE_LOOKUP)
        return true;
    if (request->bytes > RUN_SERVE_BYTES_MAX) {
        s->bad = "a name is too long";
        return false;
    }
    return receive(s, name, request->bytes);
}

static void *run(void *argument)
{
    struct serve *s = argument;
    struct serve_reply *reply = malloc(sizeof *reply);
    uint8_t *name = malloc(RUN_SERVE_BYTES_MAX);
    struct run_serve_request request;

    while (reply != NULL && name != NULL && receive(s, &request, sizeof request) &&
           receive_name(s, &request, name)) {
        serve_answer(s, &request, name, reply);
        if (!send_reply(s, reply))
            break;
    }
    shutdown(s->port, SHUT_RDWR); /* no request gets an answer from here on */
    free(reply);
    free(name);
    return NULL;
}

int serve_start(struct serve *s, int port)
{
    int error;

    s->port = port;
    if (fcntl(port, F_SETFL, 0) != 0)
        return -errno;
    error = pthread_create(&s->thread, NULL, run, s);
    s->running = error == 0;
    return -error;
}

void serve_hurry(struct serve *s)
{
    const uint64_t one = 1;

    if (s->running && write(s->hurry, &one, sizeof one) < 0)
        return; /* the counter is full: it is readable already */
}

void serve_stop(struct serve *s)
{
    if (!s->running)
        return;
    serve_hurry(s);
    shutdown(s->port, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    s->running = false;
}

/* Threads that were given up still use the root. */
void serve_close(struct serve *s)
{
    serve_stop(s);
    serve_worker_end(s->worker);
    serve_task_free(s->task);
    serve_names_free(s->names);
    serve_open_files_close(&s->open_files);
    serve_nodes_free(&s->nodes);
    if (s->hurry >= 0)
        close(s->hurry);
    if (s->root >= 0 && serve_worker_abandoned() == 0)
        close(s->root);
    s->worker = NULL;
    s->task = NULL;
    s->names = NULL;
    s->hurry = s->root = -1;
}
