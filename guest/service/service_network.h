/* The port of the network outside: whole frames of include/run_network.h.
 *
 * Context: the kernel lock's holder, on any CPU; receiving: the CPU that does service work. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/run_network.h"

struct service_network_frame {
    struct run_network_frame frame;
    uint8_t data[RUN_NETWORK_BYTES_MAX];
};

bool service_network_offered(void);
void service_network_start(void); /* boot: allocates */

/* Returns the frame that service_network_send sends with its data; it is the caller's to fill, from
 * one call to the next, while the kernel lock is held. */
struct service_network_frame *service_network_out(void);

/* Sends it and waits until the host has it.  What a host that has ended does not take is lost. */
void service_network_send(void);

/* Returns what has come, until the next call, or NULL.  Never waits. */
const struct service_network_frame *service_network_receive(void);

/* What guest/socket does; set at boot if the port exists, else NULL. */
struct service_network {
    bool (*take)(void); /* service context, without the kernel lock: takes what has come, and wakes
                           threads; false: nothing has */
    void (*finish)(void); /* the program has ended: sends what it left */
};
extern struct service_network service_network;

/* Takes what has come from the outside; returns false if nothing has.  Context: service, between
 * two instructions of the program or while no thread runs. */
static inline bool service_network_take(void)
{
    return service_network.take != NULL && service_network.take();
}
