/* Options of sockets that are no kept numbers: what getsockopt answers for them.
 * Context: thread, with the kernel lock held. */
#pragma once

#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/time.h>

#define SOCKET_OPTION_CONGESTION 16u /* bytes of its name: TCP_CA_NAME_MAX */
#define SOCKET_OPTION_SEGMENT 65483 /* TCP's largest on a loopback */
#define SOCKET_OPTION_NS 1000000000ull /* per second */
#define SOCKET_OPTION_NS_PER_US 1000ull

struct socket;

struct socket_option_answer {
    uint32_t bytes;
    union {
        int32_t number;
        struct timeval time;
        int32_t pair[2];
        uint32_t credentials[3];
        struct tcp_info tcp;
        char text[SOCKET_OPTION_CONGESTION];
    };
};

/* Fills *a, whose `bytes` is that of a number.  Returns 0 or -errno. */
int socket_option_answer(struct socket *s, uint32_t level, uint32_t name,
                         struct socket_option_answer *a);
