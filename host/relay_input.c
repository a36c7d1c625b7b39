/* Frames standard input for the guest. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/relay_input.h"
#include "lib/bytes.h"

void relay_input_init(struct relay_input *input, int from, int port)
{
    input->from = from;
    input->port = port;
    input->requested = false;
    input->frame_bytes = 0;
}

void relay_input_request(struct relay_input *input, uint64_t bytes)
{
    input->requested = true;
    input->wanted_bytes = bytes > RUN_STDIN_FRAME_MAX ? RUN_STDIN_FRAME_MAX
                          : bytes == 0                ? 1
                                                      : (uint32_t)bytes;
}

int relay_input_read_fd(const struct relay_input *input)
{
    return input->requested && input->frame_bytes == 0 ? input->from : -1;
}

int relay_input_write_fd(const struct relay_input *input)
{
    return input->frame_bytes != 0 ? input->port : -1;
}

/* An error of the standard input ends it for the program, as an end of file would. */
void relay_input_read(struct relay_input *input)
{
    ssize_t count = read(input->from, input->frame + sizeof(uint32_t), input->wanted_bytes);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count < 0)
        count = 0;
    bytes_store32(input->frame, (uint32_t)count);
    input->frame_bytes = sizeof(uint32_t) + (size_t)count;
    input->sent_bytes = 0;
    input->requested = false;
    relay_input_write(input);
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
        input->frame_bytes = 0; /* done, or nobody is there any more */
}
