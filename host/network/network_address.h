/* Addresses as frames have them, and as the host's sockets do. */
#pragma once

#include <sys/socket.h>

#include "include/run_network.h"

struct network_address {
    struct sockaddr_storage name;
    socklen_t bytes;
};

/* Returns the host's address for what the guest calls so, and its port; or an errno if nothing can
 * be sent there: 0.0.0.0, groups, broadcast. */
int network_address_to_host(const struct run_network_frame *frame, struct network_address *out);

/* Fills the frame's address in.  The host's loopback becomes RUN_NETWORK_HOST. */
void network_address_to_guest(const struct network_address *a, struct run_network_frame *frame);

/* Says RUN_NETWORK_HOST and a port. */
void network_address_host(uint16_t port, struct run_network_frame *frame);

uint16_t network_address_port(const struct network_address *a);
