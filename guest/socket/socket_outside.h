/* Sockets of the outside: clients of published ports, and what --network user lets out.
 *
 * The outside's end of a TCP connection is a socket without a file, the peer of the program's. What
 * is put into its queue leaves as frames as fast as the host gives credit; what the host sends goes
 * into the program's queue, as if the end had sent it.  So streams, polls and shutdowns are those
 * of the loopback.  docs/architecture/outside.md has the rules.
 *
 * Context: thread, with the kernel lock held, except where noted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/socket/socket_address.h"

struct run_network_frame;
struct socket;
struct socket_message;
struct thread;

#define SOCKET_OUTSIDE_DATAGRAMS UINT32_MAX /* as socket.outside: it sent a datagram there */

/* Boot: does nothing without the port. */
void socket_outside_start(void);

/* Returns true for what is sent there: by --network user to addresses that are not the machine's,
 * and to port 53 of the loopback if no socket has it here, since /etc/resolv.conf may name it; from
 * a published port of UDP to its clients. */
bool socket_outside_covers(const struct socket *s, const struct socket_address *to);

/* Returns true for the machine's address there.  socket_outside_own gives it. */
bool socket_outside_is_own(const struct socket_address *a);
void socket_outside_own(struct socket_address *a, bool v4);

/* As socket_stream_connect. */
int64_t socket_outside_connect(struct thread *thread, struct socket *s,
                               const struct socket_address *to, uint64_t deadline);

/* Sends a datagram.  Returns 0 or -errno. */
int socket_outside_send(struct socket *s, const struct socket_address *to,
                        struct socket_message *m);

/* Call when something of a socket with `outside` has changed: sends what can be sent. */
void socket_outside_changed(struct socket *s);

/* Sends a filled frame, off the program's clock. */
void socket_outside_put(void);

/* A datagram has come.  Context: service, with the lock. */
void socket_outside_datagram(const struct run_network_frame *frame, const void *data);

/* What a thread may wait for, for guest/thread/schedule.h, with the command's stdin. */
bool socket_outside_awaited(void);
bool socket_outside_wait(uint64_t ns, uint64_t *passed_ns);
