/* Assembles frames from the guest's port, and sends frames there. */
#include "host/network/network_port.h"

#include <errno.h>
#include <sys/socket.h>

#include "host/base/monotonic.h"

#define NEVER UINT64_MAX

void network_port_init(struct network_port *p, int fd)
{
    p->fd = fd;
    p->wait = 0;
    p->in_bytes = p->out_bytes = p->out_sent = 0;
}

void network_port_flush(struct network_port *p)
{
    while (p->fd >= 0 && p->out_bytes != 0) {
        ssize_t sent = send(p->fd, (const uint8_t *)&p->out + p->out_sent,
                            p->out_bytes - p->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0)
            p->fd = -1;
        else
            p->out_sent += (size_t)sent;
        if (p->out_sent == p->out_bytes)
            p->out_bytes = p->out_sent = 0;
    }
}

void network_port_send(struct network_port *p)
{
    struct run_network_frame *frame = &p->out.frame;

    frame->wait = p->wait;
    frame->time_ns = p->wait != 0 ? monotonic_ns() - p->wait_since_ns : 0;
    p->wait = 0;
    p->out_bytes = sizeof *frame + frame->bytes;
    p->out_sent = 0;
    network_port_flush(p);
}

int network_port_receive(struct network_port *p)
{
    for (;;) {
        size_t header = sizeof p->in.frame, whole = header;
        ssize_t got;

        if (p->in_bytes >= header) {
            if (p->in.frame.bytes > RUN_NETWORK_BYTES_MAX)
                return -1;
            whole += p->in.frame.bytes;
        }
        if (p->in_bytes == whole) {
            p->in_bytes = 0;
            return 1;
        }
        if (p->fd < 0)
            return 0;
        got = recv(p->fd, (uint8_t *)&p->in + p->in_bytes, whole - p->in_bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got <= 0) {
            p->fd = -1;
            return 0;
        }
        p->in_bytes += (size_t)got;
    }
}

void network_port_wait(struct network_port *p, const struct run_network_frame *frame)
{
    p->wait = frame->wait;
    p->wait_since_ns = monotonic_ns();
    p->wait_until_ns =
        frame->time_ns < NEVER - p->wait_since_ns ? p->wait_since_ns + frame->time_ns : NEVER;
}

uint64_t network_port_deadline(const struct network_port *p)
{
    return p->wait != 0 && network_port_free(p) ? p->wait_until_ns : NEVER;
}

void network_port_answer(struct network_port *p)
{
    if (network_port_deadline(p) > monotonic_ns())
        return;
    p->out.frame = (struct run_network_frame){.type = RUN_NETWORK_WAITED};
    network_port_send(p);
}
