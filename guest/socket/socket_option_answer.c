/* Answers of getsockopt. */
#include "guest/socket/socket_option_answer.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "guest/socket/socket.h"
#include "guest/thread/process.h"

#define LOOPBACK_MTU 65536

static void describe_connection(const struct socket *s, struct socket_option_answer *a)
{
    uint8_t state = s->state == SOCKET_LISTENS      ? TCP_LISTEN
                    : s->state == SOCKET_CONNECTING ? TCP_SYN_SENT
                    : s->state == SOCKET_NEW        ? TCP_CLOSE
                    : s->fin                        ? TCP_CLOSE_WAIT
                                                    : TCP_ESTABLISHED;

    a->bytes = sizeof a->tcp;
    memset(&a->tcp, 0, sizeof a->tcp);
    a->tcp.tcpi_state = state;
    a->tcp.tcpi_rto = 200000;
    a->tcp.tcpi_ato = 40000;
    a->tcp.tcpi_snd_mss = a->tcp.tcpi_rcv_mss = a->tcp.tcpi_advmss = SOCKET_OPTION_SEGMENT;
    a->tcp.tcpi_pmtu = LOOPBACK_MTU;
    a->tcp.tcpi_rtt = 20;
    a->tcp.tcpi_snd_cwnd = 10;
    a->tcp.tcpi_rcv_space = LOOPBACK_MTU;
    a->tcp.tcpi_unacked = s->state == SOCKET_LISTENS ? s->accepted.length : 0;
    a->tcp.tcpi_sacked = s->state == SOCKET_LISTENS ? s->backlog : 0;
}

static int get_credentials(const struct socket *s, struct socket_option_answer *a)
{
    a->bytes = sizeof a->credentials;
    a->credentials[0] = s->peer_pid;
    a->credentials[1] = a->credentials[2] = s->peer_pid ? PROCESS_USER_ID : UINT32_MAX;
    return socket_is_unix(s) ? 0 : -ENOPROTOOPT;
}

static void get_time(const struct socket *s, bool sends, struct socket_option_answer *a)
{
    uint64_t ns = s->options.timeout_ns[sends];

    a->bytes = sizeof a->time;
    a->time.tv_sec = (time_t)(ns / SOCKET_OPTION_NS);
    a->time.tv_usec = (suseconds_t)(ns % SOCKET_OPTION_NS / SOCKET_OPTION_NS_PER_US);
}

static int get_general(struct socket *s, uint32_t name, struct socket_option_answer *a)
{
    switch (name) {
    case SO_TYPE:
        a->number = s->type;
        return 0;
    case SO_DOMAIN:
        a->number = s->domain;
        return 0;
    case SO_PROTOCOL:
        a->number = s->protocol;
        return 0;
    case SO_SNDLOWAT:
        a->number = 1;
        return 0;
    case SO_ERROR:
        a->number = -socket_take_error(s);
        return 0;
    case SO_ACCEPTCONN:
        a->number = s->state == SOCKET_LISTENS;
        return 0;
    case SO_SNDBUF:
        a->number = s->options.send_bytes;
        return 0;
    case SO_RCVBUF:
        a->number = s->options.receive_bytes;
        return 0;
    case SO_LINGER:
        a->bytes = sizeof a->pair;
        a->pair[0] = s->options.lingers;
        a->pair[1] = s->options.linger_seconds;
        return 0;
    case SO_RCVTIMEO:
    case SO_SNDTIMEO:
        get_time(s, name == SO_SNDTIMEO, a);
        return 0;
    case SO_PEERCRED:
        return get_credentials(s, a);
    default:
        return -ENOPROTOOPT;
    }
}

static int get_tcp(const struct socket *s, uint32_t name, struct socket_option_answer *a)
{
    switch (name) {
    case TCP_INFO:
        describe_connection(s, a);
        return 0;
    case TCP_CONGESTION:
        memset(a->text, 0, sizeof a->text);
        memcpy(a->text, "cubic", 5);
        a->bytes = sizeof a->text;
        return 0;
    default:
        return -ENOPROTOOPT;
    }
}

int socket_option_answer(struct socket *s, uint32_t level, uint32_t name,
                         struct socket_option_answer *a)
{
    if (level == SOL_SOCKET)
        return get_general(s, name, a);
    if (socket_is_unix(s))
        return -EOPNOTSUPP;
    if (level == IPPROTO_TCP && s->type == SOCK_STREAM)
        return get_tcp(s, name, a);
    if (level == IPPROTO_IP && name == IP_MTU) {
        a->number = LOOPBACK_MTU;
        return s->state == SOCKET_CONNECTED ? 0 : -ENOTCONN;
    }
    return s->domain == AF_INET && level != IPPROTO_IP ? -EOPNOTSUPP : -ENOPROTOOPT;
}
