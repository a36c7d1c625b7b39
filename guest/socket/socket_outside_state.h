/* What guest/socket/socket_outside*.c share.  Context: the kernel lock's holder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct socket;
struct socket_address;

struct socket_outside_wait { /* the WAIT under way */
    uint32_t number;
    bool over; /* the host says that the time is over */
    uint64_t passed_ns; /* of the host's time, when something came */
};

struct socket_outside_state {
    bool offered; /* there is a port */
    bool user; /* connections may go out */
    bool serving; /* frames are being taken: the program's clock stands still */
    bool leaving; /* the program has ended */
    uint32_t used; /* connections */
    struct socket_outside_wait wait;
};
extern struct socket_outside_state socket_outside;

/* Finds who has a port for what comes from outside, and under which of the machine's addresses. */
struct socket *socket_outside_find(uint32_t protocol, uint16_t port,
                                   const struct socket_address *from, struct socket_address *to);

void socket_outside_configure(void); /* boot: reads the manifest */
void socket_outside_ask(uint64_t ns); /* begins a WAIT */
