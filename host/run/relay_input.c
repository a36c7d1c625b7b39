/* Frames standard input for the guest. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/run/relay_input.h"
#include "lib/bytes.h"

#define NEVER UINT64_MAX
#define NS_PER_MS 1000000u

void relay_input_init(struct relay_input *input, int from, int port, int control)
{
    input->from = from;
    input->port = port;
    input->control = control;
    input->requested = false;
    input->watched = false;
    input->patience_ns = NEVER;
    input->answer_ns = NEVER;
    input->frame_bytes = 0;
}

/* Returns POLL* of the standard input; if it cannot be read, it is at its end. */
static uint32_t ready(const struct relay_input *input)
{
    struct pollfd p = {.fd = input->from, .events = POLLIN};

    if (poll(&p, 1, 0) < 0)
        return 0;
    if (p.revents & POLLNVAL)
        return POLLHUP;
    return (uint32_t)p.revents & (POLLIN | POLLHUP | POLLERR);
}

static void send_frame(struct relay_input *input, uint32_t length, size_t bytes)
{
    bytes_store32(input->frame, length);
    input->frame_bytes = sizeof(uint32_t) + bytes;
    input->sent_bytes = 0;
    input->requested = false;
    input->patience_ns = NEVER;
    relay_input_write(input);
}

void relay_input_request(struct relay_input *input, const struct run_message *message,
                         uint64_t now_ns)
{
    uint64_t bytes = message->value;

    input->requested = true;
    input->wanted_bytes = bytes > RUN_STDIN_FRAME_MAX ? RUN_STDIN_FRAME_MAX
                          : bytes == 0                ? 1
                                                      : (uint32_t)bytes;
    input->patience_ns = NEVER;
    if (message->flag == 0)
        return;
    input->patience_ns = now_ns + (message->flag - 1) * (uint64_t)NS_PER_MS;
    if (input->frame_bytes == 0 && ready(input))
        relay_input_read(input);
    else
        relay_input_handle_time(input, now_ns);
}

/* An unsent answer is not repeated: a guest that does not read is about to end. */
static void answer(struct relay_input *input, uint32_t events)
{
    const struct run_message message = {
        .type = RUN_HOST_INPUT, .flag = events, .value = input->question};

    input->answer_ns = NEVER;
    if (events)
        input->watched = false;
    (void)!send(input->control, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void relay_input_watch(struct relay_input *input, const struct run_message *message,
                       uint64_t now_ns)
{
    uint32_t events = ready(input);

    input->watched = true;
    input->question = message->flag;
    input->answer_ns = message->value < NEVER - now_ns ? now_ns + message->value : NEVER;
    if (events)
        answer(input, events);
    else
        relay_input_handle_time(input, now_ns);
}

uint64_t relay_input_deadline(const struct relay_input *input)
{
    return input->patience_ns < input->answer_ns ? input->patience_ns : input->answer_ns;
}

void relay_input_handle_time(struct relay_input *input, uint64_t now_ns)
{
    if (now_ns >= input->patience_ns && input->frame_bytes == 0)
        send_frame(input, RUN_STDIN_NOTHING, 0);
    if (now_ns >= input->answer_ns)
        answer(input, 0);
}

int relay_input_read_fd(const struct relay_input *input)
{
    return (input->requested || input->watched) && input->frame_bytes == 0 ? input->from : -1;
}

int relay_input_write_fd(const struct relay_input *input)
{
    return input->frame_bytes != 0 ? input->port : -1;
}

/* An error of the standard input counts as its end. */
void relay_input_read(struct relay_input *input)
{
    uint32_t events = ready(input);
    ssize_t count;

    if (input->watched && events)
        answer(input, events);
    if (!input->requested || !events) /* another process may have read it */
        return;
    count = read(input->from, input->frame + sizeof(uint32_t), input->wanted_bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count < 0)
        count = 0;
    send_frame(input, (uint32_t)count, (size_t)count);
}

void relay_input_write(struct relay_input *input)
{
    ssize_t sent = send(input->port, input->frame + input->sent_bytes,
                        input->frame_bytes - input->sent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (sent >= 0)
        input->sent_bytes += (size_t)sent;
    if (sent < 0 || input->sent_bytes == input->frame_bytes)
        input->frame_bytes = 0; /* done, or the guest is gone */
}
