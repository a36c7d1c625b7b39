/* What guest/socket/socket_outside*.c share.  Context: the kernel lock's holder. */
#ifndef GUEST_SOCKET_SOCKET_OUTSIDE_STATE_H
#define GUEST_SOCKET_SOCKET_OUTSIDE_STATE_H

#include <stdbool.h>
#include <stdint.h>

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

void socket_outside_configure(void); /* boot: reads the manifest */
void socket_outside_ask(uint64_t ns); /* begins a WAIT */

#endif
