/* A QMP client for the few commands that placing a guest needs. */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/launch/launch_qmp.h"

#define LINES_MAX 1000 /* events before an answer */

static int fail(struct run_failure *failure, const char *what)
{
    return run_fail(failure,
                    "QEMU's control socket (QMP), which --pin and --fifo need, cannot be used: %s; "
                    "is --qemu an emulator?",
                    what);
}

/* Waits for more bytes.  Returns 0, LAUNCH_QMP_GONE or -1. */
static int receive(struct launch_qmp *q, struct run_failure *failure)
{
    struct pollfd polled = {.fd = q->fd, .events = POLLIN};

    if (q->used == sizeof q->buffer)
        return fail(failure, "it sent an answer without an end");
    for (;;) {
        uint64_t now_ns = monotonic_ns();
        ssize_t count;

        if (now_ns >= q->deadline_ns)
            return fail(failure, "it sent no answer in time");
        if (poll(&polled, 1, (int)((q->deadline_ns - now_ns + 999999) / 1000000)) <= 0)
            continue;
        count = read(q->fd, q->buffer + q->used, sizeof q->buffer - q->used);
        if (count > 0) {
            q->used += (size_t)count;
            return 0;
        }
        if (count == 0 || (errno != EINTR && errno != EAGAIN))
            return LAUNCH_QMP_GONE;
    }
}

/* Reads the next line as an object, which the caller releases. */
static int next_object(struct launch_qmp *q, json_t **object, struct run_failure *failure)
{
    char *end;
    size_t bytes;

    while ((end = memchr(q->buffer + q->searched, '\n', q->used - q->searched)) == NULL) {
        int result;

        q->searched = q->used;
        result = receive(q, failure);
        if (result != 0)
            return result;
    }
    bytes = (size_t)(end - q->buffer) + 1;
    *object = json_loadb(q->buffer, bytes, 0, NULL);
    q->used -= bytes;
    q->searched = 0;
    memmove(q->buffer, end + 1, q->used);
    if (json_is_object(*object))
        return 0;
    json_decref(*object);
    return fail(failure, "it sent an answer that is not JSON");
}

/* Skips events until an object has the member `name`. */
static int await(struct launch_qmp *q, const char *name, json_t **object,
                 struct run_failure *failure)
{
    for (int i = 0; i < LINES_MAX; i++) {
        int result = next_object(q, object, failure);
        const char *error;

        if (result != 0)
            return result;
        if (json_object_get(*object, name) != NULL)
            return 0;
        error = json_string_value(json_object_get(json_object_get(*object, "error"), "desc"));
        if (json_object_get(*object, "error") != NULL) {
            (void)fail(failure, error != NULL ? error : "it sent an error without a text");
            json_decref(*object);
            return -1;
        }
        json_decref(*object);
    }
    return fail(failure, "it sent many events and no answer");
}

static int execute(struct launch_qmp *q, const char *request, json_t **answer,
                   struct run_failure *failure)
{
    size_t bytes = strlen(request);

    if (send(q->fd, request, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)bytes)
        return LAUNCH_QMP_GONE;
    return await(q, "return", answer, failure);
}

static int execute_plain(struct launch_qmp *q, const char *request, struct run_failure *failure)
{
    json_t *answer;
    int result = execute(q, request, &answer, failure);

    if (result == 0)
        json_decref(answer);
    return result;
}

int launch_qmp_open(struct launch_qmp *q, int fd, unsigned limit_ms, struct run_failure *failure)
{
    json_t *greeting;
    int result;

    q->fd = fd;
    q->deadline_ns = monotonic_ns() + limit_ms * 1000000ull;
    q->used = 0;
    q->searched = 0;
    result = await(q, "QMP", &greeting, failure);
    if (result != 0)
        return result;
    json_decref(greeting);
    return execute_plain(q, "{\"execute\":\"qmp_capabilities\"}\n", failure);
}

/* Takes each CPU exactly once, with a possible thread number. */
static bool take_threads(json_t *cpus, pid_t *threads, int count)
{
    if (!json_is_array(cpus) || json_array_size(cpus) != (size_t)count)
        return false;
    for (int i = 0; i < count; i++)
        threads[i] = 0;
    for (int i = 0; i < count; i++) {
        json_t *cpu = json_array_get(cpus, (size_t)i);
        json_t *index = json_object_get(cpu, "cpu-index");
        json_t *thread = json_object_get(cpu, "thread-id");
        json_int_t number = json_integer_value(index);

        if (!json_is_integer(index) || number < 0 || number >= count || threads[number] != 0 ||
            json_integer_value(thread) <= 0 || json_integer_value(thread) > INT32_MAX)
            return false;
        threads[number] = (pid_t)json_integer_value(thread);
    }
    return true;
}

int launch_qmp_threads(struct launch_qmp *q, pid_t *threads, int count, struct run_failure *failure)
{
    json_t *answer;
    int result = execute(q, "{\"execute\":\"query-cpus-fast\"}\n", &answer, failure);
    bool good;

    if (result != 0)
        return result;
    good = take_threads(json_object_get(answer, "return"), threads, count);
    json_decref(answer);
    return good ? 0 : fail(failure, "it sent an invalid list of CPUs");
}

int launch_qmp_continue(struct launch_qmp *q, struct run_failure *failure)
{
    return execute_plain(q, "{\"execute\":\"cont\"}\n", failure);
}
