/* Options of sockets.  Those that change something here are read by their names; the others are
 * only kept.  Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct socket;

#define SOCKET_OPTIONS_KEPT 32u

struct socket_options {
    uint64_t timeout_ns[2]; /* SO_RCVTIMEO, SO_SNDTIMEO; 0: none */
    int32_t send_bytes, receive_bytes; /* SO_SNDBUF, SO_RCVBUF */
    bool sized; /* the program set one of these */
    bool lingers; /* SO_LINGER */
    int32_t linger_seconds;
    int32_t reuse_address, reuse_port, broadcast, low_water, pass_credentials, only_v6;
    int32_t urgent_inline; /* SO_OOBINLINE */
    int32_t short_errors, strict; /* NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK */
    int32_t kept[SOCKET_OPTIONS_KEPT];
};

void socket_option_start(struct socket_options *o, bool large);

/* Returns how many bytes a stream of TCP may hold on its way. */
uint32_t socket_option_stream_bytes(const struct socket_options *from,
                                    const struct socket_options *to);

int64_t socket_option_get(struct socket *s, uint32_t level, uint32_t name, uint64_t user,
                          uint64_t user_bytes);
int64_t socket_option_set(struct socket *s, uint32_t level, uint32_t name, uint64_t user,
                          int32_t bytes);
