/* The guest's port: frames of include/run_network.h in both directions, one at a time.
 *
 * Nothing waits here but one frame that is being sent: who has something to say makes the frame
 * when the port is free.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_network.h"

struct network_buffer {
    struct run_network_frame frame;
    uint8_t data[RUN_NETWORK_BYTES_MAX];
};

struct network_port {
    int fd; /* non-blocking socket; -1: it is at its end */
    uint32_t wait; /* the guest's WAIT that has no answer yet; 0: none */
    uint64_t wait_since_ns, wait_until_ns; /* CLOCK_MONOTONIC; until UINT64_MAX: for ever */
    size_t in_bytes; /* of `in` */
    size_t out_bytes, out_sent; /* of `out`; 0: the port is free */
    struct network_buffer in, out;
};

void network_port_init(struct network_port *p, int fd);

static inline bool network_port_free(const struct network_port *p)
{
    return p->fd >= 0 && p->out_bytes == 0;
}

/* Sends p->out.frame, which the caller has filled but for its time, and its data.  The port must be
 * free. */
void network_port_send(struct network_port *p);

/* Continues what is being sent. */
void network_port_flush(struct network_port *p);

/* Receives until a frame is whole.  Returns 1 with p->in filled, 0: nothing more for now, or the
 * port has ended, -1: a frame is too long. */
int network_port_receive(struct network_port *p);

/* Notes the guest's WAIT; answers it when it is time.  network_port_deadline returns when that is;
 * UINT64_MAX: never. */
void network_port_wait(struct network_port *p, const struct run_network_frame *frame);
void network_port_answer(struct network_port *p);
uint64_t network_port_deadline(const struct network_port *p);
