/* Copies a program's output stream, byte for byte. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "host/run/relay_output.h"

#define COPY_BYTES 65536

static void wake(const struct relay_output *output)
{
    const uint64_t one = 1;

    if (write(output->wake, &one, sizeof one) < 0)
        return; /* the counter is full, so the loop is already awake */
}

/* Another process may have made a shared descriptor non-blocking: then wait here. */
static bool wait_until_writable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

static int write_all(const struct relay_output *output, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(output->to, bytes, count);

        if (written < 0) {
            if (errno == EINTR || (errno == EAGAIN && wait_until_writable(output->to)))
                continue;
            return errno;
        }
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

static void deliver(struct relay_output *output, const char *bytes, size_t count)
{
    int error;

    if (atomic_load(&output->error) != 0 || output->to == RELAY_OUTPUT_NOWHERE)
        return;
    if (output->terminal)
        progress_output_begin(output->progress);
    error = write_all(output, bytes, count);
    if (output->terminal)
        progress_output_end(output->progress, bytes, count);
    if (error == 0)
        return;
    atomic_store(&output->error, error);
    wake(output);
}

static void *copy(void *argument)
{
    struct relay_output *output = argument;
    char bytes[COPY_BYTES];

    for (;;) {
        ssize_t count = read(output->from, bytes, sizeof bytes);

        if (count > 0)
            deliver(output, bytes, (size_t)count);
        else if (count == 0 || errno != EINTR)
            break;
    }
    atomic_store(&output->finished, true);
    wake(output);
    return NULL;
}

int relay_output_start(struct relay_output *output, int from, int to, int wake_fd,
                       struct progress *progress)
{
    output->from = from;
    output->to = to;
    output->wake = wake_fd;
    output->terminal = isatty(to);
    output->progress = progress;
    atomic_init(&output->error, 0);
    atomic_init(&output->finished, false);
    if (fcntl(from, F_SETFL, 0) != 0) /* our end of a socket pair: blocking, for the thread */
        return -errno;
    return -pthread_create(&output->thread, NULL, copy, output);
}

void relay_output_join(struct relay_output *output)
{
    pthread_join(output->thread, NULL);
}
