/* What sendmsg and recvmsg pass in addition to bytes: open files and credentials (unix(7)).
 *
 * A file in a packet is held.  At most SOCKET_RIGHTS_IN_FLIGHT files are in packets at a time. When
 * there are so many, sockets that are in one another's queues only are freed (socket_collect).
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/socket/socket_queue.h"
#include "guest/thread/thread.h"

#define SOCKET_RIGHTS_IN_FLIGHT LIMITS_FILES

struct socket_control { /* msg_control of a call */
    uint64_t user;
    uint64_t room;
    uint64_t used;
};

/* Reads the control messages of a call that sends by a socket of AF_UNIX: holds the files that they
 * name.  Returns 0 or -errno, and then there is nothing to drop. */
int socket_rights_read(const struct thread *thread, const struct socket_control *control,
                       struct socket_rights *rights);

/* Writes what came to the program, as far as there is room: adds descriptors for the files, and
 * drops those without one.  Returns MSG_CTRUNC or 0. */
uint32_t socket_rights_write(struct thread *thread, struct socket_control *control,
                             struct socket_rights *rights, bool with_pid, bool close_on_exec);

void socket_rights_drop(struct socket_rights *rights); /* may wait */

/* Moves the rights of a packet to a call, or copies them for one that only looks.  Returns 0,
 * -ENOMEM or -ETOOMANYREFS. */
int socket_rights_take(struct socket_rights *to, struct socket_rights *from, bool looks);
